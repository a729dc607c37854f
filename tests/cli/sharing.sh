#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# scenarios/sharing-what-if.yaml: relations that follow from the mechanisms (gpu-sharing 0, 3, 4), not
# from our output. Demands: replica d = p = 0.125, duty 0.1; LoRA job d = p = 0.527, duty 0.4.
. "$(dirname "$0")/tap.sh"

run run "$scenarios/sharing-what-if.yaml" --record full --set replications=1 -o w.db
[ "$status" = 0 ]
report $? "the scenario runs"

# yes NAME CONDITION: an SQL condition over w.db
yes() {
    equal "$1" "$(query w.db "
        WITH pool AS (SELECT r.arbiter, p.* FROM sharing_pool p JOIN run r USING (run)),
        p99 AS (SELECT arbiter, value FROM metric JOIN run USING (run)
            WHERE scope_kind = 'all' AND name = 'inference.latency.p99'),
        slowed AS (SELECT arbiter, class, (finish_s - start_s) / work_s AS times FROM workload
            JOIN run USING (run) WHERE evictions = 0 AND finish_s IS NOT NULL AND work_s > 3600
            AND id NOT IN (SELECT workload FROM decision d WHERE d.run = workload.run AND kind = 'started'
                GROUP BY workload HAVING count(*) > 1)), -- those that failed and began again
        died AS (SELECT r.arbiter, i.* FROM incident i JOIN run r USING (run))
        SELECT $2")" 1
}

# ---- cards ----
for arbiter in mig hami time-slicing mps; do
    yes "$arbiter needs fewer cards than whole cards do" "(SELECT cards_peak FROM pool WHERE arbiter = '$arbiter'
        AND node_pool = 'a100') < (SELECT cards_peak FROM pool WHERE arbiter = 'whole' AND node_pool = 'a100')"
done
yes "whole cards: one tenant to a card" "(SELECT count(*) = 0 FROM sharing JOIN run USING (run) WHERE arbiter = 'whole')
    AND (SELECT tenants_mean FROM pool WHERE arbiter = 'whole' AND node_pool = 'a100') BETWEEN 0.999 AND 1.001"

# ---- speed: closed forms of gpu-sharing 4.2 and 4.3; a start and checkpoints take up to 0.15 of an hour more ----
slower() { # ARBITER FUNCTION LOW HIGH NAME
    yes "$5" "(SELECT $2(times) BETWEEN $3 AND $4 FROM slowed WHERE arbiter = '$1' AND class = 'lora')"
}
slower whole min 1 1.15 "LoRA on a whole card takes its time"
slower whole max 1 1.15 "and nobody can slow it"
slower mig min 2.032 2.183 "LoRA on 2g: 0.527 over 28 of 108 SMs, 2.03 times as long"
slower mig max 2.032 2.183 "whoever the neighbours are"
slower time-slicing min 1 1.15 "time-slicing: as fast as alone, for one that has no neighbours"
slower time-slicing max 1.16 1.89 "at most four in each other's way: 0.4 over 0.92 / 4, 1.74 times as long"
slower mps min 2.581 3.2 "MPS: a quarter of the threads, 0.473 + 0.527 / 0.25 = 2.58 times as long at best"
yes "time-slicing has a longer p99 than MIG" "(SELECT value FROM p99 WHERE arbiter = 'time-slicing') >
    1.02 * (SELECT value FROM p99 WHERE arbiter = 'mig')"
yes "a replica on 1g (0.130 of the SMs, 0.125 wanted) has the p99 of a whole card" "(SELECT max(value) / min(value)
    < 1.011 FROM p99 WHERE arbiter IN ('whole', 'mig'))"
yes "three neighbours of 0.1 leave 0.92 - 0.3 of a sliced card, 1.61 times as long; a quarter of the threads is 1.375" "(SELECT value
    FROM p99 WHERE arbiter = 'time-slicing') > (SELECT value FROM p99 WHERE arbiter = 'mps')"
yes "HAMi: 30 percent of the cores for replicas, 20 for jobs: between whole and slicing" "(SELECT value FROM p99
    WHERE arbiter = 'hami') BETWEEN (SELECT value FROM p99 WHERE arbiter = 'whole')
    AND (SELECT value FROM p99 WHERE arbiter = 'time-slicing')"

# ---- what fails together ----
for arbiter in whole mig; do
    yes "$arbiter: a fault takes nobody else down" "(SELECT count(*) = 0 FROM died WHERE arbiter = '$arbiter' AND
        culprit <> victim)"
done
for arbiter in hami time-slicing mps; do
    yes "$arbiter: a fault takes the neighbours down" "(SELECT count(*) > 0 FROM died WHERE arbiter = '$arbiter' AND
        cause = 'fault' AND culprit <> victim)"
done
yes "nobody is the victim of a tenant with whom they did not share that card" "(SELECT count(*) = 0 FROM died i WHERE
    culprit <> victim AND NOT EXISTS (SELECT 1 FROM sharing s WHERE s.run = i.run AND s.node_pool = i.node_pool
    AND s.node = i.node AND s.card = i.card AND min(culprit, victim) = s.tenant AND max(culprit, victim) = s.other))"

# ---- isolation ----
for arbiter in whole mig; do
    run audit w.db --strict --arbiter $arbiter
    [ "$status" = 0 ]
    report $? "audit: $arbiter gives everybody the isolation they require"
done
for arbiter in hami mps; do
    run audit w.db --strict --arbiter $arbiter
    [ "$status" = 1 ] && grep -q '  2 findings' "$out"
    report $? "audit: $arbiter is software; two tenants require hardware"
done
run audit w.db --strict --arbiter time-slicing
[ "$status" = 1 ] && grep -q '  3 findings' "$out"
report $? "audit: time-slicing is nothing; one tenant more requires software"

# ---- the mistake: slicing for the whole cluster ----
yes "a gang of 8 on whole cards takes its time" "(SELECT max(times) < 1.15 FROM slowed WHERE arbiter = 'time-slicing'
    AND class = 'training')"
yes "sliced everywhere, 8 GPUs are no longer 8 cards: two gangs on the same cards take turns" \
    "(SELECT max(times) > 1.3 FROM slowed WHERE arbiter = 'slicing-everywhere' AND class = 'training')"

# ---- the mistake: more slots than memory. Four jobs of 18 GB and 10 % more fit 80 GB, five of 10 % less do not ----
yes "four slots: memory never runs out" "(SELECT count(*) = 0 FROM died WHERE arbiter = 'time-slicing' AND
    cause = 'card-full')"
yes "eight slots: tenants start on cards that are full, and die of it alone" "(SELECT count(*) > 0 AND
    sum(culprit <> victim) = 0 FROM died WHERE arbiter = 'time-slicing-8' AND cause = 'card-full')"
yes "and replicas that cannot start are missed" "(SELECT value FROM p99 WHERE arbiter = 'time-slicing-8') >
    2 * (SELECT value FROM p99 WHERE arbiter = 'time-slicing')"

# ---- the rule: each mechanism for what it is good at ----
equal "by-purpose: 15 replicas, 7 instances of 1g to a card: 3 cards" "$(query w.db "SELECT cards_peak FROM sharing_pool
    JOIN run USING (run) WHERE arbiter = 'by-purpose' AND node_pool = 'a100-serving'")" 3
yes "it needs fewer cards than any that gives everybody their isolation" "(SELECT sum(cards_peak) FROM pool
    WHERE arbiter = 'by-purpose') < (SELECT min(n) FROM (SELECT sum(cards_peak) AS n FROM pool
    WHERE arbiter IN ('whole', 'mig') GROUP BY arbiter))"
yes "replicas on 1g have the p99 of whole cards, whatever LoRA does" "(SELECT max(value) / min(value) < 1.011 FROM p99
    WHERE arbiter IN ('whole', 'by-purpose'))"
run audit w.db --strict --arbiter by-purpose
[ "$status" = 0 ]
report $? "audit: everybody has the isolation they require"
run report w.db -o w.html
if command -v gnuplot >/dev/null 2>&1; then
    [ "$status" = 0 ] && grep -q 'The same demand takes' w.html && grep -q 'A rule to begin with' w.html
    report $? "the report begins with cards and isolation, and tells the rule"
else
    skip "the report begins with cards and isolation, and tells the rule" "gnuplot is not installed"
fi

finish
