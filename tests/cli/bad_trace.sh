#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs files that are none, and rows that cannot be, for `run` and for `import`: message with file,
# line, column, what was expected and what was found; status 2; nothing written.
. "$(dirname "$0")/tap.sh"

cat >jobs.yaml <<'Y'
name: jobs
horizon: 1d
fleet: {nodePools: [{name: a, card: H100-80, nodes: 2, pricePerCard: 1usd/h}]}
queues: [{name: q, cards: {a: 16}}]
demand: {training: [{name: s, queue: q, file: jobs.csv}]}
arbiters: [{preset: pools}, {preset: cohort}]
Y

# rows_refused NAME TEXT ROW...: a jobs file of these lines, replayed and imported.
rows_refused() {
    name=$1
    text=$2
    shift 2
    printf '%s\n' "$@" >jobs.csv
    run run jobs.yaml
    refused "run: $name" 2 "$text"
}

run run jobs.yaml
refused "run: a jobs file that does not exist, with the place that names it" 2 \
    "jobs.yaml:5:47: demand.training[0].file: cannot open 'jobs.csv': No such file or directory"
run import csv jobs.csv -o made.csv
refused "import: a file that does not exist" 2 "cannot open 'jobs.csv': No such file or directory"

mkdir jobs.csv
run run jobs.yaml
refused "run: a directory instead of a jobs file" 2 "'jobs.csv' is a directory; expected a file"
run import csv jobs.csv -o made.csv
refused "import: a directory instead of a trace" 2 "'jobs.csv' is a directory, expected a file"
rmdir jobs.csv

: >jobs.csv
run run jobs.yaml
refused "run: an empty jobs file" 2 "jobs.csv: empty file, expected a header line"
run import csv jobs.csv -o made.csv
refused "import: an empty trace" 2 "jobs.csv: empty file, expected a csv trace"

printf '\177ELF\002\001\001\000\000\000binary\000' >jobs.csv
run run jobs.yaml
refused "run: a binary file" 2 "jobs.csv:1:"
run import philly jobs.csv -o made.csv
refused "import: a binary file" 2 "jobs.csv:1:"

rows_refused "a negative time" "jobs.csv:2:1: submit_s: expected a number of seconds from 0" submit_s,duration_s -1,5
rows_refused "a time that is not a number" "jobs.csv:3:1: submit_s: expected a number of seconds from 0 to 100 years, at most 9 decimals, got 'nan'" \
    submit_s,duration_s 1,5 nan,5
rows_refused "an infinite duration" "jobs.csv:2:3: duration_s: expected a number of seconds above 0, up to 100 years, at most 9 decimals, got 'inf'" \
    submit_s,duration_s 1,inf
rows_refused "a negative duration" "jobs.csv:2:3: duration_s:" submit_s,duration_s 1,-5
rows_refused "a field too few" "jobs.csv:3:" submit_s,duration_s,workers 1,5,1 2,5
rows_refused "rows out of order" "jobs.csv:3:1: submit_s: expected at least 7, the row before" submit_s,duration_s 7,5 6,5
rows_refused "an unknown column, with the nearest one" "did you mean" submit_s,duration_s,priorty 1,5,3
rows_refused "more cards per worker than any node has, before anything ran" \
    "jobs.csv: a job asks for 9 cards per worker; the largest node it may use has 8" \
    submit_s,duration_s,cards_per_worker 1,5,8 86000,5,9

printf 'submit,end,gpus\n1970-01-01 00:01:00,1970-01-01 00:00:30,1\n' >trace.csv
run import csv trace.csv -o made.csv
refused "import: a job that ends before it starts" 2 \
    "trace.csv:2:21: end: expected a time not before submit, got '1970-01-01 00:00:30'"

printf 'submit_s,duration_s\n1,5\n2,6\n' >good.csv
run run jobs.yaml --set "demand.training[0].file=good.csv" -o good.db
[ "$status" = 0 ]
report $? "run: the good rows alone are accepted"
{ printf '\357\273\277'; sed 's/$/\r/' good.csv; } >jobs.csv
run run jobs.yaml -o windows.db
[ "$status" = 0 ] && [ "$(query windows.db 'SELECT demand_hash FROM run')" = "$(query good.db 'SELECT demand_hash FROM run')" ]
report $? "run: a byte order mark and CRLF change nothing"
rm -f ./*.db

# ---- compressed ----
for i in 1 2 3 4 5 6 7 8 9; do for k in 0 1 2 3 4 5 6 7 8 9; do echo "$i$k,$((i * k * 977 + 1))"; done; done >rows
{ echo submit_s,duration_s; cat rows; } | gzip -c >whole.gz
size=$(wc -c <whole.gz)
head -c $((size - 40)) whole.gz >jobs.csv
run run jobs.yaml
refused "run: a truncated gzip file" 2 "jobs.csv: truncated: the gzip data ends before its end mark"
run import csv jobs.csv -o made.csv
refused "import: a truncated gzip file" 2 "jobs.csv: truncated: the gzip data ends before its end mark"

# ---- 1 GiB without a line end ----
rm jobs.csv
truncate -s 1G jobs.csv
(
    memory_limit 300000
    run run jobs.yaml
    refused "run: 1 GiB in one line, within 300 MB of memory" 2 "jobs.csv:1"
    run import csv jobs.csv -o made.csv
    refused "import: 1 GiB in one line, within 300 MB of memory" 2 "jobs.csv:1"
    cpu_seconds
    [ "$cpu" -le 20 ]
    report $? "both without reading all of it first"
    [ "$failures" -eq 0 ]
) || failures=$((failures + 1))
tests=$((tests + 3))
rm jobs.csv

# ---- 10 million rows, one of them bad ----
if [ "$test_size" = small ]; then
    rows=1000000 bad=765432 column=6
else
    rows=10000000 bad=7654321 column=7
fi
awk -v bad=$bad -v rows=$rows 'BEGIN {
    print "submit_s,duration_s,cards_per_worker"
    for (i = 2; i <= rows + 1; i++)
        print int(i / 500) (i == bad ? ",12x,1" : ",60,1")
}' >jobs.csv
run run jobs.yaml
refused "run: the bad row of $rows" 2 \
    "jobs.csv:$bad:$column: duration_s: expected a number of seconds above 0, up to 100 years, at most 9 decimals, got '12x'"
run import csv jobs.csv -o made.csv
refused "import: the bad row of $rows" 2 "jobs.csv:$bad:$column"
said "12x" && said "expected"
report $? "import: its value, and what was expected"
run import csv jobs.csv -o made.csv --skip-bad 1
[ "$status" = 0 ] && grep -q 'rows dropped  *1$' "$out" && [ "$(grep -c '^[0-9]' made.csv)" = $((rows - 1)) ]
report $? "import --skip-bad 1 leaves out that row"
rm made.csv
run run jobs.yaml --skip-bad 1 --set horizon=10h --set "arbiters=[{preset: pools}]" --record summary
[ "$status" = 0 ] && [ "$(query results.db "SELECT DISTINCT value FROM metric WHERE name = 'training.submitted'")" = $((rows - 1)).0 ]
report $? "run --skip-bad 1 replays the rest"
rm -f results.db
{ cat jobs.csv; echo "20001,oops,1"; } >more.csv
run import csv more.csv -o made.csv --skip-bad 1
refused "import --skip-bad 1 refuses a second bad row" 2 "oops"

finish
