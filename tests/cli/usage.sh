#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How the program talks: help, spelling mistakes, exit status, width, colours, formats.
. "$(dirname "$0")/tap.sh"

quick=$scenarios/quick.yaml

run --help
[ "$status" = 0 ] && grep -q 'fleetsim run scenarios/' "$out" && [ ! -s "$err" ]
report $? "fleetsim --help shows an example, status 0"
run --version
[ "$status" = 0 ] && grep -q '^fleetsim [0-9]' "$out" && grep -q '^GSL ' "$out" && grep -q '^SQLite ' "$out"
report $? "fleetsim --version"
run
[ "$status" = 2 ] && [ -s "$err" ] && [ ! -s "$out" ]
report $? "fleetsim alone: help on standard error, status 2"

for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    run "$command" --help
    [ "$status" = 0 ] && grep -q -i 'usage' "$out" && grep -q "^ *fleetsim $command" "$out" && [ ! -s "$err" ]
    report $? "$command --help: usage and a worked example, status 0"
    [ "$(LC_ALL=C.UTF-8 wc -L <"$out")" -le 80 ]
    report $? "$command --help fits 80 columns"
    run "$command" --nonsense
    [ "$status" = 2 ] && [ ! -s "$out" ]
    report $? "$command refuses an unknown option, status 2"
done

run rum
[ "$status" = 2 ] && said "'rum' is not a command; did you mean 'run'?"
report $? "an unknown command, with the nearest one"
run run "$quick" --recrod full
[ "$status" = 2 ] && said "'--recrod'; did you mean '--record'?"
report $? "run: an unknown option, with the nearest one"
run check "$quick" --stritc
[ "$status" = 2 ] && said "did you mean '--strict'?"
report $? "check: an unknown option, with the nearest one"
run import philly x.csv --widnow 1d -o y.csv
[ "$status" = 2 ] && said "did you mean --window?"
report $? "import: an unknown option, with the nearest one"
run import phily x.csv -o y.csv
[ "$status" = 2 ] && said "did you mean philly?"
report $? "import: an unknown kind, with the nearest one"
run run "$quick" --record all
[ "$status" = 2 ] && said "expected summary, series or full, got 'all'"
report $? "run: a value that is not one of those"
run run "$quick" --jobs 0
[ "$status" = 2 ] && said "--jobs: expected a whole number from 1 to 4096, got '0'"
report $? "run: no threads"
run run
[ "$status" = 2 ] && said "expected a scenario file"
report $? "run without a scenario"
run run "$quick" "$quick"
[ "$status" = 2 ] && said "one scenario at a time"
report $? "run with two"
run run "$quick" --by planet
[ "$status" = 2 ] && said "planet"
report $? "run --by something that is not there"
[ ! -e results.db ]
report $? "none of these wrote a database"

# ---- what a run prints ----
run run "$quick" -o a.db
[ "$status" = 0 ] && [ -s a.db ] && [ -s "$out" ]
report $? "run: status 0, a table, a database"
columns=$(LC_ALL=C.UTF-8 wc -L <"$out")
[ "$columns" -le 80 ]
report $? "the table fits 80 columns ($columns)"
! grep -q "$(printf '\033')" "$out" && ! grep -q "$(printf '\033')" "$err"
report $? "no colours and no progress where there is no terminal"
NO_COLOR=1 "$program" run "$quick" -o a.db >plain 2>/dev/null
! grep -q "$(printf '\033')" plain
report $? "no colours with NO_COLOR"
if command -v script >/dev/null 2>&1; then
    NO_COLOR=1 TERM=xterm script -q -e -c "'$program' run '$quick' --no-progress -o a.db" typescript >/dev/null 2>&1
    ! sed '1d;$d' typescript | grep -q "$(printf '\033')\[[0-9;]*m"
    report $? "no colours with NO_COLOR on a terminal"
else
    skip "no colours with NO_COLOR on a terminal" "no program 'script'"
fi
for kind in team service node_pool; do
    run run "$quick" -o a.db --by $kind
    columns=$(LC_ALL=C.UTF-8 wc -L <"$out")
    [ "$status" = 0 ] && [ "$columns" -le 80 ]
    report $? "--by $kind fits 80 columns ($columns)"
done
for word in allocated real useful work; do
    grep -q "^ $word" plain
    report $? "the table shows the utilisation '$word'"
done
run run "$quick" -o a.db --format csv
[ "$status" = 0 ] && [ "$(head -n 1 "$out")" = arbiter,metric,unit,mean,low95,high95,replications,censored ] &&
    [ "$(wc -l <"$out")" = "$(($(query a.db 'SELECT count(*) FROM summary') + 1))" ]
report $? "--format csv: the rows of the view 'summary'"
run run "$quick" -o a.db --format json
[ "$status" = 0 ] && [ "$(sqlite3 :memory: "SELECT json_valid(readfile('$out'))")" = 1 ]
report $? "--format json is JSON"
equal "with the same rows" "$(sqlite3 :memory: \
    "SELECT count(*) FROM json_tree(readfile('$out')) WHERE key = 'metric'")" "$(query a.db 'SELECT count(*) FROM summary')"

# ---- exit status ----
run check "$quick"
[ "$status" = 0 ]
report $? "check of a good scenario: 0"
run check "$quick" --set horizon=0s
[ "$status" = 2 ]
report $? "check of a bad scenario: 2"
run compare a.db nosuch.db
[ "$status" = 2 ] && said nosuch.db
report $? "compare with a file that is not there: 2"
run report nosuch.db
[ "$status" = 2 ] && said nosuch.db && [ ! -e report.html ]
report $? "report of a file that is not there: 2"
run hash "$quick"
[ "$status" = 2 ] && said quick.yaml
report $? "hash of a file that is no database: 2"
run conform kueue nosuch.jsonl.gz
[ "$status" = 2 ]
report $? "conform without its cases: 2"
run compare a.db
[ "$status" = 0 ]
report $? "compare of the arbiters of one database: 0"
run schema
[ "$status" = 0 ] && [ "$(sqlite3 :memory: "SELECT json_valid(readfile('$out'))")" = 1 ]
report $? "schema is JSON"

finish
