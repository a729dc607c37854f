#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The openb default list as a packing input (no times: arrivals 1 s apart, nobody leaves), on equal nodes
# that are 1.3 times too few. Counts and cards wanted are those of the published list (gpu-sharing 5.1).
# Nodes are of one kind and without cpu, so the published percentages are not to be had here: they are in
# openb_fgd.sh. The ends of the order hold.
. "$(dirname "$0")/../cli/tap.sh"

list=$shared/traces/alibaba-openb/openb_pod_list_default.csv.gz
[ -r "$list" ] || skip_all "no public traces at $shared/traces (set FLEETSIM_SHARED)"

gzip -dc "$list" | cut -d, -f1-6 >pods.csv
run import openb pods.csv -o jobs.csv
[ "$status" = 0 ]
report $? "import openb"
account() { # LABEL
    sed -n "s/^$1  *//p" "$out"
}
equal "7,064 pods with cards" "$(account 'rows used')" 7,064
equal "6,086.8 cards wanted" "$(account 'cards requested')" 6,086.800

cat >openb.yaml <<'END'
name: openb-packing
horizon: 1d
fleet: {nodePools: [{name: gpu, card: A100-80, nodes: 585, cardsPerNode: 8, pricePerCard: 2usd/h}]}
queues: [{name: all, cards: {gpu: 100000}}]
demand: {training: [{name: pods, queue: all, file: jobs.csv, checkpoint: {interval: 0s}, restart: 0s}]}
arbiters:
  - {preset: cohort, name: random, placement: random, preemption: false}
  - {preset: cohort, name: dot-product, placement: dot-product, preemption: false}
  - {preset: cohort, name: clustering, placement: gpu-clustering, preemption: false}
  - {preset: cohort, name: packing, placement: gpu-packing, preemption: false}
  - {preset: cohort, name: best-fit, placement: best-fit, preemption: false}
  - {preset: cohort, name: fgd, placement: fgd, preemption: false}
END
run run openb.yaml -o openb.db
[ "$status" = 0 ]
report $? "the list runs under six rules"
first() { # ASC|DESC
    query openb.db "SELECT arbiter FROM series JOIN run USING (run) WHERE name LIKE 'cards.idle%' AND t_s = 82800
        GROUP BY arbiter ORDER BY sum(value) $1 LIMIT 1"
}
equal "fgd leaves the fewest cards unused" "$(first ASC)" fgd
equal "random leaves the most" "$(first DESC)" random
