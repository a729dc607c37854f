#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Same scenario and seed, same content, whatever the number of threads; every arbiter meets the
# same demand; --record says how much is kept.
. "$(dirname "$0")/tap.sh"

quick=$scenarios/quick.yaml

content() { # DATABASE
    "$program" hash "$1"
}

run run "$quick" --record full --jobs 1 -o one.db --replications 3
one=$(content one.db | cut -d' ' -f1)
[ "$status" = 0 ] && [ -n "$one" ]
report $? "a run with one thread"
for jobs in 2 7; do
    run run "$quick" --record full --jobs $jobs -o more.db --replications 3
    equal "--jobs $jobs writes the same content" "$(content more.db | cut -d' ' -f1)" "$one"
done
run run "$quick" --record full --jobs 2 -o again.db --replications 3
equal "a second run writes the same content" "$(content again.db | cut -d' ' -f1)" "$one"
run run "$quick" --record full --jobs 2 -o other.db --replications 3 --seed 2
[ "$(content other.db | cut -d' ' -f1)" != "$one" ]
report $? "another seed writes another content"
sqlite3 one.db .dump | grep -v -e '^INSERT INTO run ' >one.sql
sqlite3 more.db .dump | grep -v -e '^INSERT INTO run ' >more.sql
cmp -s one.sql more.sql
report $? "the dumps are the same, but for the wall times"
query one.db "SELECT sql FROM sqlite_master WHERE name = 'scenario'" >/dev/null
query one.db "SELECT text FROM scenario" >kept.yaml
run run kept.yaml --record full -o kept.db
equal "the scenario that the results keep gives them again" \
    "$(query kept.db 'SELECT run, scope_kind, scope, name, value FROM metric ORDER BY 1, 2, 3, 4' | cksum)" \
    "$(query one.db 'SELECT run, scope_kind, scope, name, value FROM metric ORDER BY 1, 2, 3, 4' | cksum)"

# ---- common random numbers ----
equal "every arbiter meets the same demand in a replication" \
    "$(query one.db 'SELECT max(n) FROM (SELECT count(DISTINCT demand_hash) AS n FROM run GROUP BY replication)')" 1
equal "another replication meets another one" "$(query one.db 'SELECT count(DISTINCT demand_hash) FROM run')" 3
for name in training.submitted inference.arrived demand.offered; do
    equal "$name is the same under every arbiter" "$(query one.db \
        "SELECT max(n) FROM (SELECT max(value) - min(value) < 1e-12 * max(value) AS n FROM metric JOIN run USING (run)
         WHERE name = '$name' AND scope_kind = 'all' GROUP BY replication)")" 1
done
run run "$quick" -o fewer.db --set 'arbiters=[{preset: cohort}]'
equal "an arbiter's figures do not depend on the others" \
    "$(query fewer.db "SELECT scope_kind, scope, name, value FROM metric JOIN run USING (run) WHERE replication < 2
        ORDER BY replication, 1, 2, 3" | cksum)" \
    "$(query one.db "SELECT scope_kind, scope, name, value FROM metric JOIN run USING (run) WHERE replication < 2
        AND arbiter = 'cohort' ORDER BY replication, 1, 2, 3" | cksum)"

# ---- what holds in every run ----
# A replica of a share holds a whole card where cards are not sliced: then real <= allocated all the more.
equal "allocated >= real >= useful, under every arbiter" "$(query one.db \
    "SELECT count(*) FROM (SELECT run, max(value) FILTER (WHERE name = 'utilization.allocated') AS a,
        max(value) FILTER (WHERE name = 'utilization.real') AS r, max(value) FILTER (WHERE name = 'utilization.useful') AS u
        FROM metric WHERE scope_kind IN ('all', 'node_pool') GROUP BY run, scope) WHERE a < r OR r < u")" 0
equal "work done is at most what computed" "$(query one.db \
    "SELECT count(*) FROM (SELECT run, max(value) FILTER (WHERE name = 'utilization.work') AS w,
        max(value) FILTER (WHERE name = 'utilization.real') AS r FROM metric WHERE scope_kind = 'all' GROUP BY run)
     WHERE w > r")" 0
equal "the ledger closes: 64 cards x 24 h in every run of the fleet, to the last unit" "$(query one.db \
    "SELECT DISTINCT (sum(card_s) + sum(rest_mcns) / 1000000000000) || ' ' || (sum(rest_mcns) % 1000000000000)
     FROM ledger JOIN run USING (run) WHERE preset <> 'managed' GROUP BY run")" "$((64 * 86400)) 0"
equal "arrived = served + rejected + timed out + queued" "$(query one.db \
    "SELECT count(*) FROM (SELECT max(value) FILTER (WHERE name = 'inference.arrived')
        - sum(value) FILTER (WHERE name IN ('inference.served', 'inference.rejected', 'inference.timed_out', 'inference.queued')) AS d,
        max(value) FILTER (WHERE name = 'inference.arrived') AS n
        FROM metric WHERE scope_kind IN ('all', 'service') GROUP BY run, scope_kind, scope) WHERE abs(d) > 1e-9 * n")" 0
equal "submitted >= started >= finished" "$(query one.db \
    "SELECT count(*) FROM (SELECT max(value) FILTER (WHERE name = 'training.submitted') AS s,
        max(value) FILTER (WHERE name = 'training.started') AS b, max(value) FILTER (WHERE name = 'training.finished') AS f
        FROM metric WHERE scope_kind = 'all' GROUP BY run) WHERE s < b OR b < f")" 0

# ---- how much is kept ----
rows() { # DATABASE TABLE
    query "$1" "SELECT count(*) > 0 FROM $2"
}
run run "$quick" -o summary.db --record summary
run run "$quick" -o series.db
for table in metric ledger cost histogram assumption; do
    equal "--record summary keeps table $table" "$(rows summary.db $table)" 1
done
equal "--record summary keeps no series" "$(rows summary.db series)" 0
equal "--record series, the default, keeps series" "$(rows series.db series)" 1
equal "of replication 0 alone" "$(query series.db 'SELECT group_concat(DISTINCT replication) FROM series JOIN run USING (run)')" 0
equal "with at most 1,000 steps each" "$(query series.db \
    'SELECT max(n) <= 1000 FROM (SELECT count(*) AS n FROM series GROUP BY run, name, scope)')" 1
for table in workload service_interval decision; do
    equal "--record series keeps no rows of table $table" "$(rows series.db $table)" 0
    equal "--record full keeps table $table" "$(rows one.db $table)" 1
done
equal "every job is in it, with its end or without" "$(query one.db \
    "SELECT count(*) FROM (SELECT run, count(*) AS n FROM workload WHERE class = 'training' GROUP BY run) AS w
     JOIN metric AS m ON m.run = w.run AND m.scope_kind = 'all' AND m.name = 'training.submitted' AND m.value <> w.n")" 0
equal "the levels agree about the figures" \
    "$(query summary.db 'SELECT run, scope_kind, scope, name, value FROM metric ORDER BY 1, 2, 3, 4' | cksum)" \
    "$(query series.db 'SELECT run, scope_kind, scope, name, value FROM metric ORDER BY 1, 2, 3, 4' | cksum)"
equal "full agrees too: nothing is decided or split otherwise because it is written down" \
    "$(query one.db "SELECT run, scope_kind, scope, name, value FROM metric JOIN run USING (run) WHERE replication = 0
        ORDER BY arbiter, 2, 3, 4" | cut -d"|" -f2- | cksum)" \
    "$(query summary.db "SELECT run, scope_kind, scope, name, value FROM metric JOIN run USING (run) WHERE replication = 0
        ORDER BY arbiter, 2, 3, 4" | cut -d"|" -f2- | cksum)"

finish
