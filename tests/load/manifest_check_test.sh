#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check --manifests: what a cluster's objects say, and what in them can never be admitted.
# usage: manifest_check_test.sh PATH-OF-FLEETSIM
root=${FLEETSIM_SOURCE_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$root/tests/cli/tap.sh"
cp "$root/tests/load/data/manifest/check.yaml" "$root/tests/load/data/manifest/cluster.yaml" .

prints() { # LINE: standard output holds it
    grep -q -x -F -- "$1" "$out"
}

run check --manifests check.yaml
[ "$status" = 0 ] && prints '1 file of manifests: valid' &&
    prints '  objects: ResourceFlavor 3, Cohort 2, ClusterQueue 3, LocalQueue 3, Workload 7' &&
    prints '  not read: Service 1' && prints '  Kueue: version not known, profile HEAD' &&
    prints '  no Configuration among the objects: its defaults' &&
    prints '  workloads: 7; 0 finished, 0 hold quota, 6 wait, 1 that no queue takes'
report $? "what was read"
prints 'inactive queues: 1' &&
    prints "  broken: Can't admit new workloads: references missing ResourceFlavor(s): gone. 1 workload waits there" &&
    said "check.yaml:55:1: warning: ClusterQueue 'broken': inactive: "
report $? "inactive queues with their reason"
prints "  default/lost: LocalQueue nowhere doesn't exist"
report $? "workloads that no queue takes"

# H100: team has 2 and strict 8; lender lends 5 of its 20, so that 15 of 30 are in the cohort for others.
# team may have 10 + borrowingLimit 4, hence strict at most 14. It asks 2 x 8. A100 is tainted.
prints 'can never be admitted: 4' &&
    prints "  default/gpus in queue 'strict' (StrictFIFO): first in its queue, blocks the 3 behind it" &&
    prints '      h100 nvidia.com/gpu: asks 16, at most 14: nominal 8 + borrowable 6; 2 too many' &&
    prints '        cohort all 15 (of 30; lendingLimit keeps the rest) > cohort team 14 (borrowingLimit 4) > strict 14' &&
    prints '      a100 nvidia.com/gpu: asks 16; the flavor is not for it (labels, taints or topology)'
report $? "a StrictFIFO head that never fits, with the arithmetic up the tree"
[ "$(grep '^  default/' "$out" | sed -n '2p' | cut -d ' ' -f 3)" = default/gpus ] # after default/lost
report $? "comes first"
# cpu: strict's 10 and 1 that lender lends; pods: 5, nobody lends any.
prints '      any cpu: asks 11.5, at most 11: nominal 10 + borrowable 1; 0.5 too many' &&
    prints '      any memory: asks 1Gi, at most 64Gi: nominal 64Gi + borrowable 0' &&
    prints '      any pods: asks 6, at most 5: nominal 5 + borrowable 0; 1 too many'
report $? "all resources count: cpu, memory, pods"
# lender never lends 15 of its 20, and gets all 15 in the cohort.
prints "  default/late in queue 'lender' (BestEffortFIFO): waits for ever" &&
    prints '      h100 nvidia.com/gpu: asks 31, at most 30: nominal 20 + borrowable 10; 1 too many'
report $? "in a BestEffortFIFO queue it waits for ever"
! grep -q default/fine "$out" && ! grep -q default/stuck "$out"
report $? "one that fits is not named, nor one of an inactive queue"
said "check.yaml:85:1: warning: workload default/gpus can never be admitted to queue 'strict': it asks 16 nvidia.com/gpu, the queue may get 14 of flavor 'h100'; StrictFIFO then blocks all workloads behind it"
report $? "warnings say where it stands"

run check --manifests check.yaml --strict
[ "$status" = 1 ]
report $? "--strict: warnings are status 1"
run check --manifests cluster.yaml check.yaml
[ "$status" = 2 ] && said "check.yaml:3:1: ResourceFlavor 'h100': already exists"
report $? "more files may follow; errors are status 2"
run check --manifests cluster.yaml
[ "$status" = 0 ] && prints '  gates: PartialAdmission=true; others as the profile has them' && ! grep -q 'can never' "$out"
report $? "gates are told"
run check --manifests missing.yaml
refused "a missing file is named" 2 "missing.yaml"
run check --manifests cluster.yaml --set horizon=1d
[ "$status" = 2 ]
report $? "--set is for scenarios"
printf 'name: replayed\nmanifests: [check.yaml]\ndurations: 1h\n' >scenario.yaml
run check scenario.yaml --strict
[ "$status" = 1 ] && prints 'replayed: valid; workloads of 1 file of manifests' && prints 'can never be admitted: 4'
report $? "check looks into the manifests of a scenario"

finish
