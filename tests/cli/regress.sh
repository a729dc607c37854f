#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The gate and its answers, end to end: a change that must fail it, one that must not, and what it
# says about either.
. "$(dirname "$0")/tap.sh"

quick=$scenarios/quick.yaml

json() { # FILE SQL-EXPRESSION: over the JSON document doc
    sqlite3 -batch -noheader :memory: "WITH d AS (SELECT readfile('$1') AS doc) SELECT $2 FROM d"
}

sed 's/cards: {h100: 16, l40s: 0}/cards: {h100: 8, l40s: 0}/' "$quick" >half.yaml
sed 's/^description: .*/description: The same fleet in other words./' "$quick" >words.yaml
! cmp -s "$quick" half.yaml && ! cmp -s "$quick" words.yaml
report $? "the two changes are changes"

"$program" run "$quick" --record full -o before.db >/dev/null
"$program" run half.yaml --record full -o half.db >/dev/null
"$program" run words.yaml --record full -o words.db >/dev/null

# ---- a change that must not fail ----
run regress before.db words.db
[ "$status" = 0 ] && grep -q '^nothing worse: 0 of' "$out" && grep -q 'no decision differs' "$out" && [ ! -s "$err" ]
report $? "another description: nothing worse, no decision differs, status 0"

# A queue that nobody uses yet, in front of the others: the demand is the same.
sed "s/^queues:/&\n  - name: new-team\n    cards: {h100: 0}/" "$quick" >queue.yaml
"$program" run queue.yaml --record full -o queue.db >/dev/null
run regress before.db queue.db
[ "$status" = 0 ] && grep -q "^nothing worse: 0 of" "$out"
report $? "one queue more, without quota or jobs: the same demand, nothing worse"

# ---- a change that must fail ----
run regress before.db half.db --junit gate.xml --markdown gate.md
[ "$status" = 1 ]
report $? "half the quota of the busiest queue: status 1"
columns=$(LC_ALL=C.UTF-8 wc -L <"$out")
[ "$columns" -le 80 ]
report $? "the table fits 80 columns ($columns)"
grep -q '✗ wait, 95th percentile *team research' "$out"
report $? "it says that the queue's team waits longer"
grep -q '^the first decision that differs' "$out" && grep -q 'before *admitted Fit: 16 cards of h100; the queue then uses 16 of' "$out"
report $? "it shows the first decision that differs, before"
grep -q 'after *waiting' "$out" && grep -q 'nominal 8 − used' "$out"
report $? "and after, with the arithmetic of the smaller quota"
equal "JUnit fails as often as there are failures" "$(grep -c '<failure ' gate.xml)" \
    "$(sed -n 's/.*fleetsim regress.*failures="\([0-9]*\)".*/\1/p' gate.xml)"
if command -v xmllint >/dev/null 2>&1; then
    xmllint --noout gate.xml
    report $? "JUnit is XML"
else
    skip "JUnit is XML" "no program 'xmllint'"
fi
grep -q '^## fleetsim: worse' gate.md && grep -q '^### The first decision that differs' gate.md
report $? "Markdown has verdict and first decision"
run regress before.db half.db --format json
cp "$out" gate.json
equal "JSON is valid, with the status" "$(json gate.json "json_valid(doc) || ' ' || json_extract(doc, '\$.status')")" "1 1"

# ---- by hand: the jobs that wait longer, counted in SQL ----
equal "jobs that wait longer, counted by SQL" "$(json gate.json "json_extract(doc, '\$.wait_longer.total')")" \
    "$(sqlite3 -batch -noheader before.db "ATTACH 'half.db' AS h;
       SELECT count(*) FROM run r JOIN h.run q USING (arbiter, replication) JOIN workload a ON a.run = r.run
       JOIN h.workload b ON b.run = q.run AND b.id = a.id
       WHERE coalesce(b.start_s, 86400) - b.submit_s > coalesce(a.start_s, 86400) - a.submit_s + 1")"
equal "jobs newly evicted, counted by SQL" "$(json gate.json "json_extract(doc, '\$.newly_evicted.total')")" \
    "$(sqlite3 -batch -noheader before.db "ATTACH 'half.db' AS h;
       SELECT count(*) FROM run r JOIN h.run q USING (arbiter, replication) JOIN workload a ON a.run = r.run
       JOIN h.workload b ON b.run = q.run AND b.id = a.id WHERE a.evictions = 0 AND b.evictions > 0")"
equal "jobs have the same names under every arbiter" "$(query before.db \
    "SELECT count(DISTINCT names) FROM (SELECT group_concat(id) AS names FROM
     (SELECT run, id FROM workload ORDER BY run, id) JOIN run USING (run) WHERE replication = 0 GROUP BY run)")" 1

# ---- tolerances ----
echo '* * ignore' >all.txt
run regress before.db half.db --tolerance all.txt
[ "$status" = 0 ]
report $? "with everything tolerated: status 0"
printf '%s\n' '* * ignore' 'training.wait.p95 team:research 10s' >one.txt
run regress before.db half.db --tolerance one.txt
[ "$status" = 1 ] && [ "$(grep -c '✗' "$out")" -ge 1 ] && ! grep '✗' "$out" | grep -v -q 'team research'
report $? "with one team watched, that team fails"
printf '%s\n' '# gate' 'idle.quota  taem:x  5%' >bad.txt
run regress before.db half.db --tolerance bad.txt
refused "a mistake in the tolerance file: line and column" 2 "bad.txt:2:13: scope: expected team"
run regress before.db half.db --tolerance none.txt
refused "a tolerance file that is not there" 2 "none.txt"

# ---- bad input ----
"$program" run "$quick" --seed 2 -o seed.db >/dev/null
run regress before.db seed.db
refused "other demand" 2 "different demand"
run regress before.db nosuch.db
refused "a database that is not there" 2 "nosuch.db"
run regress before.db "$quick"
refused "a file that is no database" 2 "quick.yaml"
run regress before.db half.db --arbiter cohrot
refused "an arbiter that is not there" 2 "no arbiter 'cohrot'"
run regress before.db half.db --junit missing/gate.xml
refused "a report that cannot be written" 3 "missing/gate.xml"
"$program" run "$quick" -o series.db >/dev/null
run regress before.db series.db
[ "$status" = 0 ] && grep -q "'run --record full'" "$out"
report $? "a database without jobs: it says what to record"

# ---- one command ----
run run half.yaml --baseline "$quick" -o new.db
[ "$status" = 1 ] && [ -s new.db ] && [ -s new.baseline.db ] && grep -q '^worse:' "$out"
report $? "run --baseline: both databases and the gate, status 1"
equal "the same jobs as with two runs" "$(query new.db 'SELECT count(*), sum(start_s) FROM workload')" \
    "$(query half.db 'SELECT count(*), sum(start_s) FROM workload')"
run run words.yaml --baseline "$quick" -o new.db
[ "$status" = 0 ]
report $? "run --baseline with another description: status 0"
run run half.yaml --junit x.xml
refused "run --junit without a baseline" 2 "need --baseline"

# ---- explain ----
job=$(query half.db "SELECT id FROM workload JOIN run USING (run) WHERE arbiter = 'cohort' AND replication = 0
    AND queue = 'research' AND start_s - submit_s > 600 AND wait_reason IS NOT NULL ORDER BY submit_s LIMIT 1")
run explain half.db "$job" --arbiter cohort
[ "$status" = 0 ] && grep -q 'wakes when: ' "$out" && grep -q 'nominal 8 − used' "$out" && grep -q 'rank [0-9]* of' "$out"
report $? "explain $job: rank, arithmetic, and what would wake it"
columns=$(LC_ALL=C.UTF-8 wc -L <"$out")
[ "$columns" -le 80 ]
report $? "explain fits 80 columns ($columns)"
cp "$out" recorded.txt
"$program" run half.yaml -o less.db >/dev/null
run explain less.db "$job" --arbiter cohort
[ "$status" = 0 ] && said "repeating the run from its scenario" && ! said "differ" && cmp -s "$out" recorded.txt
report $? "where nothing was recorded the run is repeated, with the same words"
run explain half.db "$job" --format json
[ "$status" = 0 ] && [ "$(json "$out" 'json_valid(doc) || json_array_length(doc)')" = 13 ]
report $? "explain --format json: a list of the three arbiters that have a fleet"
run explain half.db --queue research --arbiter cohort
[ "$status" = 0 ] && grep -q 'submitted' "$out"
report $? "explain --queue"
run explain half.db --queue research --at 14h --arbiter cohort --format json
cp "$out" full.json
run explain less.db --queue research --at 14h --arbiter cohort --format json
cmp -s "$out" full.json && grep -q '"tree": \["all", "research"\]' full.json
report $? "explain --queue --at is the same of a run that is repeated"
run explain half.db --queue research --at 14h
# What workloads held over the whole run is what the teams used of their quota in the mean.
equal "what was held adds up to the quota used" "$(query half.db "SELECT count(*), max(abs(m.value * r.horizon_s - h.held)) < 0.001
    FROM metric m JOIN run r USING (run) JOIN (SELECT run, queue, sum(amount * (coalesce(to_ns / 1e9, horizon_s) - from_ns / 1e9))
    AS held FROM holding JOIN run USING (run) GROUP BY run, queue) h ON h.run = m.run AND h.queue = m.scope
    WHERE m.scope_kind = 'team' AND m.name = 'quota.used'")" "12|1"
columns=$(LC_ALL=C.UTF-8 wc -L <"$out")
[ "$status" = 0 ] && [ "$columns" -le 80 ]
report $? "explain --queue fits 80 columns ($columns)"
run explain half.db "$job" --at 14h
refused "explain --at beside a workload" 2 "--at: a workload is explained from its beginning to its end"
run explain half.db --at 13:55 --arbiter cohort
[ "$status" = 0 ] && grep -q 'at 13:55:00 under cohort' "$out"
report $? "explain --at"
run explain half.db reserch-3 --arbiter cohort
refused "explain names the nearest workload" 2 "did you mean 'research-3'?"
run explain half.db --at noon
refused "explain --at with a bad time" 2 "got 'noon'"

# An input that changed since the run is named.
cp "$scenarios/gang-pods.yaml" "$scenarios/gang-pods-jobs.csv" .
"$program" run gang-pods.yaml -o gang.db >/dev/null
run explain gang.db jobs-1 --arbiter quota
[ "$status" = 0 ] && grep -q 'admitted' "$out"
report $? "explain repeats a run with a jobs file"
echo '28000,60,1,8' >>gang-pods-jobs.csv
run explain gang.db jobs-1 --arbiter quota
refused "explain refuses when the jobs file has changed" 2 "'gang-pods-jobs.csv' has changed"

finish
