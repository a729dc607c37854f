#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The example of a policy outside of the tree (docs/examples/fifo_policy), built as a shared object
# from policy.h alone: it admits exactly as the preset `pools` does. Second argument: the object.
. "$(dirname "$0")/tap.sh"
cp "$second" fifo.so || exit 1

quick=$scenarios/quick.yaml
pair="arbiters=[{preset: pools}, {preset: pools, name: mine, policyFile: ./fifo.so}]"

# differences DATABASE SELECT-OF-ONE-RUN: rows of either arbiter that the other does not have
differences() {
    query "$1" "WITH a AS ($(echo "$2" | sed 's/ARBITER/pools/')), b AS ($(echo "$2" | sed 's/ARBITER/mine/'))
        SELECT count(*) FROM (SELECT * FROM (SELECT * FROM a EXCEPT SELECT * FROM b)
                              UNION ALL SELECT * FROM (SELECT * FROM b EXCEPT SELECT * FROM a))"
}
jobs="SELECT replication, id, start_s, finish_s, done_s FROM workload JOIN run USING (run) WHERE arbiter = 'ARBITER'"
# Why others wait is the policy's to say: idle_* may be split differently.
ledger="SELECT replication, node_pool, team, bucket, sum(card_s), sum(rest_mcns) FROM ledger JOIN run USING (run)
    WHERE arbiter = 'ARBITER' AND bucket NOT LIKE 'idle%' GROUP BY 1, 2, 3, 4"
waits="SELECT replication, name, lo, hi, mass FROM histogram JOIN run USING (run) WHERE arbiter = 'ARBITER'"

for gang in pods quota; do
    run run "$quick" --record full --set horizon=3d --set "$pair" --set "arbiters[*].gang=$gang" -o "$gang.db"
    [ "$status" = 0 ]
    report $? "gang: $gang: runs with the shared object"
    [ "$(query "$gang.db" 'SELECT count(*) FROM workload WHERE start_s > submit_s')" -gt 100 ]
    report $? "gang: $gang: more than a hundred jobs waited"
    equal "gang: $gang: every job starts and ends at the same instant" "$(differences "$gang.db" "$jobs")" 0
    equal "gang: $gang: all cards do the same" "$(differences "$gang.db" "$ledger")" 0
    equal "gang: $gang: waits and latencies are the same" "$(differences "$gang.db" "$waits")" 0
done

run run "$quick" --policy fifo.so -o all.db
[ "$status" = 0 ] && [ "$(query all.db "SELECT max(value) FROM metric JOIN run USING (run)
    WHERE arbiter = 'cohort' AND name = 'training.preemptions'")" = 0.0 ]
report $? "--policy puts it under every arbiter: cohort evicts nobody"
run run "$quick" --policy nosuch.so -o none.db
refused "a policy that does not exist" 2 "nosuch.so"
run run "$quick" --policy "$scenarios/quick.yaml" -o none.db
refused "a policy that is no shared object" 2 "quick.yaml"
equal "the example includes nothing of ours but policy.h" \
    "$(grep '^#include "' "$source_root/docs/examples/fifo_policy/fifo.c")" '#include "models/policies/policy.h"'

finish
