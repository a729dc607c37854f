#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The scenarios that are shipped: each is valid, and the small ones show what they say.
. "$(dirname "$0")/tap.sh"

printf 'submit_s,duration_s\n0,60\n' >jobs.csv
printf 't_s,rate_per_s\n0,1\n' >traffic.csv
for file in "$scenarios"/*.yaml; do
    name=$(basename "$file" .yaml)
    # Public traces are not shipped: small files stand in for them.
    set --
    case $name in
    philly) set -- --set 'demand.training[0].file=jobs.csv' ;;
    philly-mixed) set -- --set 'demand.training[0].file=jobs.csv' --set 'demand.lora[0].file=jobs.csv' \
        --set 'demand.services[0].traffic.file=traffic.csv' ;;
    esac
    run check "$file" "$@"
    [ "$status" = 0 ]
    report $? "$name is valid"
done

# ---- fgd-openb-like: the order of the packing rules ----

run run "$scenarios/fgd-openb-like.yaml" --record summary -o fgd.db
[ $status -eq 0 ]
report $? "fgd-openb-like runs"
packed() { query fgd.db "SELECT group_concat(arbiter) FROM (SELECT arbiter FROM metric JOIN run USING (run)
    WHERE name = 'utilization.allocated' AND scope_kind = 'all' GROUP BY arbiter ORDER BY avg(value) $1 LIMIT $2)"; }
equal "fgd-openb-like: fgd leaves the fewest cards unused" "$(packed DESC 1)" fgd
equal "fgd-openb-like: random leaves the most, clustering the most of the others" "$(packed ASC 2)" random,gpu-clustering

# ---- fgd-openb: unlike nodes, the paper's 130 % ----

run run "$scenarios/fgd-openb.yaml" -o unlike.db
[ $status -eq 0 ]
report $? "fgd-openb runs"
in_use() { query unlike.db "SELECT group_concat(arbiter) FROM (SELECT arbiter FROM series JOIN run USING (run)
    WHERE name = 'training.cards' AND t_s = 3600 ORDER BY value $1 LIMIT 2)"; }
equal "fgd-openb: fgd has the most cards in use, best-fit follows, as in the paper" "$(in_use DESC)" fgd,best-fit
equal "fgd-openb: random has the fewest" "$(in_use ASC | cut -d, -f1)" random

# ---- gang-pods: counted by hand ----
# A start takes 20 s, a wake of waiting pods comes 1 s after the end that caused it. The gang of 96
# holds 64 cards from 600 to 10821, when the first job's 32 come free, and ends at 14441. Then filler
# 1 and half of filler 2 start at 14442, the other half at 16263 with half of filler 3, whose other
# half starts at 18084: 32 cards wait for 1821 s twice.
run run "$scenarios/gang-pods.yaml" -o gang.db
[ "$status" = 0 ]
report $? "gang-pods runs"
held() { # ARBITER BUCKET: card-seconds
    query gang.db "SELECT total(card_s) FROM ledger JOIN run USING (run) WHERE arbiter = '$1' AND bucket = '$2'"
}
equal "gang-pods, pods: 64 half-allocated, waiting for the other 32" "$(held pods gang_wait)" \
    "$((64 * (10821 - 600) + 2 * 32 * 1821)).0"
equal "gang-pods, quota: nothing is held by a gang that waits" "$(held quota gang_wait)" 0.0
for arbiter in pods quota; do
    equal "gang-pods, $arbiter: the work is the same" "$(held $arbiter training_useful)" \
        "$((32 * 10800 + 96 * 3600 + 3 * 64 * 1800)).0"
done
equal "gang-pods, quota: the fillers do not wait" "$(query gang.db "SELECT value FROM metric JOIN run USING (run)
    WHERE arbiter = 'quota' AND scope_kind = 'all' AND name = 'training.waited'")" 1.0

# ---- quick: within a second ----
begun=$(date +%s)
run run "$scenarios/quick.yaml"
[ "$status" = 0 ] && [ $(($(date +%s) - begun)) -le 20 ]
report $? "quick is quick, and writes results.db"
[ -s results.db ]
report $? "results.db is the default output"

finish
