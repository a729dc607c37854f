#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Workloads that evict each other without end: the run is complete and stored, and says so with
# status 4. The second argument is a policy that does it (endless_policy.c).
. "$(dirname "$0")/tap.sh"
cp "$second" endless.so || exit 1

printf 'submit_s,duration_s,cards_per_worker\n0,3600,8\n0,3600,8\n' >jobs.csv
cat >two.yaml <<'Y'
name: two
horizon: 1h
fleet: {nodePools: [{name: a, card: H100-80, nodes: 1, pricePerCard: 1usd/h}]}
queues: [{name: q, cards: {a: 8}}]
demand: {training: [{name: s, queue: q, file: jobs.csv}]}
arbiters: [{preset: cohort}, {preset: cohort, name: endless, policyFile: ./endless.so}]
Y
run run two.yaml
[ "$status" = 4 ] && said "evict each other without end" && grep -q 'real (computing)' "$out"
report $? "status 4, a word about it, and the table all the same"
figure() { # ARBITER NAME
    query results.db "SELECT value FROM metric JOIN run USING (run)
        WHERE arbiter = '$1' AND scope_kind = 'all' AND name = '$2'"
}
# A grace of 30 s each: the first goes at 0, then one more every 30 s.
equal "an eviction every 30 s of the hour" "$(figure endless training.preemptions)" 121.0
equal "and the arbiter beside it has none" "$(figure cohort training.preemptions)" 0.0
equal "the database names the two" "$(query results.db "SELECT DISTINCT detail FROM event_of_note JOIN run USING (run)
    WHERE arbiter = 'endless' AND kind = 'eviction_loop'" | grep -c 'evicts')" 1
equal "the ledger closes even so" "$(query results.db "SELECT sum(card_s) + sum(rest_mcns) / 1000000000000
    FROM ledger JOIN run USING (run) WHERE arbiter = 'endless'")" $((8 * 3600))
run run two.yaml --set 'arbiters=[{preset: cohort}]'
[ "$status" = 0 ]
report $? "without that policy the status is 0"

finish
