#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The FGD experiment through `fleetsim run`: public openb lists as scenarios of one seed each, six rules as six
# arbiters. Allocated percent when one cluster of demand has arrived (second 3600) and at the end, beside the
# published runs of that seed (gpu-sharing 5.7): 0.25 points; random, whose draws are its own, within the least
# and most of ten published runs, and as much.
. "$(dirname "$0")/../cli/tap.sh"

lists=$shared/traces/alibaba-openb
[ -r "$lists/openb_pod_list_default.csv.gz" ] || skip_all "no public traces at $shared/traces (set FLEETSIM_SHARED)"

mkdir lists scenarios
cp "$lists/openb_node_list_gpu_node.csv.gz" "$lists/openb_pod_list_default.csv.gz" lists
run_bench() {
    "$second" "$@" >"$out" 2>"$err"
    status=$?
}
run_bench fgd lists --write scenarios --count 2
[ "$status" = 0 ]
report $? "the experiment is written as scenarios"

# allocated SEED RULE T_S LEAST MOST: cards held at that second, of 6,212, in percent
allocated() {
    equal "seed $1, $2: allocated at second $3 is between $4 and $5 %" \
        "$(query "$1.db" "SELECT 100 * value / 6212 BETWEEN $4 AND $5 FROM series JOIN run USING (run)
            WHERE name = 'training.cards' AND arbiter = '$2' AND t_s = $3")" 1
}
# published SEED RULE AT_100 AT_130: hundredths of a percent
published() {
    allocated "$1" "$2" 3600 "$(hundredths $(($3 - 25)))" "$(hundredths $(($3 + 25)))"
    allocated "$1" "$2" 5340 "$(hundredths $(($4 - 25)))" "$(hundredths $(($4 + 25)))"
}
hundredths() {
    printf '%d.%02d\n' $(($1 / 100)) $(($1 % 100))
}

for seed in 42 43; do
    run run "scenarios/default-$seed.yaml" -o "$seed.db"
    [ "$status" = 0 ]
    report $? "seed $seed runs under six rules"
    allocated $seed random 3600 85.87 86.79
    allocated $seed random 5340 87.07 88.03
done
published 42 dot-product 9034 9054
published 42 gpu-clustering 9133 9153
published 42 gpu-packing 9137 9157
published 42 best-fit 9294 9313
published 42 fgd 9514 9529
published 43 dot-product 9056 9084
published 43 gpu-clustering 9169 9197
published 43 gpu-packing 9178 9206
published 43 best-fit 9297 9325
published 43 fgd 9506 9532
finish
