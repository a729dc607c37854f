#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The objects of a cluster with demand of one's own: what comes out is what the same fleet and queues,
# written by hand, give (data/objects: combined.yaml and by-hand.yaml); what is wrong is named where it stands.
# usage: objects_cli_test.sh PATH-OF-FLEETSIM
root=${FLEETSIM_SOURCE_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$root/tests/cli/tap.sh"
cp -r "$root/tests/load/data/objects" o

# same NAME ARGUMENTS...: both scenarios give the same rows in every table but those that hold their texts
same() {
    what=$1
    shift
    run run o/combined.yaml --record full -o combined.db "$@"
    combined=$status
    run run o/by-hand.yaml --record full -o by-hand.db "$@"
    [ "$combined" = "$status" ] && [ "$status" != 2 ]
    report $? "$what: both run"
    command -v sqlite3 >/dev/null || return 0
    differing=
    rows=0
    for table in $(sqlite3 combined.db .tables); do
        case $table in run | scenario | input) continue ;; esac
        query combined.db "SELECT * FROM \"$table\"" >a.txt
        query by-hand.db "SELECT * FROM \"$table\"" >b.txt
        cmp -s a.txt b.txt || differing="$differing $table"
        rows=$((rows + $(wc -l <a.txt)))
    done
    equal "$what: every row is the same" "$differing" ""
    [ "$rows" -gt 10000 ]
    report $? "$what: there are rows to compare"
    equal "$what: the same demand" "$(query combined.db "SELECT DISTINCT demand_hash FROM run")" \
        "$(query by-hand.db "SELECT DISTINCT demand_hash FROM run")"
}

same "objects and hand"
if command -v sqlite3 >/dev/null; then
    equal "the teams are the namespaces" \
        "$(query combined.db "SELECT DISTINCT team FROM workload WHERE queue <> 'serving' ORDER BY 1" | tr '\n' ' ')" "desk lab research students "
    equal "files of objects are inputs" "$(query combined.db "SELECT count(DISTINCT name) FROM input WHERE name LIKE '%cluster.yaml' OR name LIKE '%nodes.yaml'")" 2
fi
same "a change of what the objects bring" --set queues.serving.cards.h100=4 --set fleet.nodePools.l40s-2.nodes=2
same "a stopped queue" --set queues.risk.stopPolicy=Hold
if command -v sqlite3 >/dev/null; then
    equal "a stopped queue admits nothing" "$(query combined.db "SELECT count(*) FROM workload WHERE queue = 'risk' AND start_s IS NOT NULL")" 0
fi
same "a change of the demand" --set 'demand.training[*].rateScale=1.3' --set demand.training.risk.gangs='[{workers: 2, cardsPerWorker: 8, duration: 1h}]'

run run o/combined.yaml --baseline o/by-hand.yaml -o gate.db
[ "$status" = 0 ] && grep -q 'no decision differs' "$out"
report $? "the gate finds no difference between objects and hand"
sed -e "s|nominalQuota: 8, borrowingLimit: 8|nominalQuota: 8, borrowingLimit: 0|" o/by-hand.yaml >o/other.yaml
run run o/combined.yaml --baseline o/other.yaml -o gate.db
! grep -q 'no decision differs' "$out"
report $? "the gate finds the difference of a limit"

run run o/combined.yaml -o series.db
run explain series.db papers-5 --arbiter cohort
[ "$status" = 0 ] && grep -q 'training job of team lab, queue research' "$out"
report $? "a run is repeated from its stored scenario, objects and all"

run check o/combined.yaml
[ "$status" = 0 ] && grep -q '^combined: valid; 56 cards in 3 node pools, 3 queues, 4 job streams, 1 services, 4 arbiters$' "$out"
report $? "check counts the objects' cards and queues"
said "o/nodes.yaml:102:1: warning: Node 'l40s-broken': left out of the fleet, it is not Ready"
report $? "a node that is not Ready is left out, by name"

# ---- a Topology is the network of the pools ----
rack() { # NODES RACK
    printf 's/zone: a, kubernetes.io.hostname: h100-[%s]/net.io\\/block: b1, net.io\\/rack: %s, &/\n' "$1" "$2"
}
topology() { # LEVELS
    sed 's/nodeLabels: {node.kubernetes.io.instance-type: p5.48xlarge}/&\n  topologyName: net/' "$root/tests/load/data/objects/cluster.yaml"
    printf -- '---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: net}\nspec: {levels: [%s]}\n' "$1"
}
cp o/cluster.yaml cluster.kept
cp o/nodes.yaml nodes.kept
{ rack 12 r1 && rack 34 r2; } >racks.sed
sed -f racks.sed nodes.kept >o/nodes.yaml
topology '{nodeLabel: net.io/block}, {nodeLabel: net.io/rack}, {nodeLabel: kubernetes.io/hostname}' >o/cluster.yaml
run check o/combined.yaml
[ "$status" = 0 ] && said "o/cluster.yaml:8:17: warning: ResourceFlavor 'h100': no arbiter has networkLocality"
report $? "a topology that no arbiter looks at is named"
cp o/by-hand.yaml by-hand.kept
sed 's/nodes: 4, cardsPerNode: 8,/& network: {domains: [{name: rack, nodes: 2}, {name: block, nodes: 4}]},/' by-hand.kept >o/by-hand.yaml
cmp -s o/by-hand.yaml by-hand.kept && echo "# nothing was changed"
same "a topology" --set 'arbiters[*].networkLocality=true'
cp by-hand.kept o/by-hand.yaml
{ rack 1 r1 && rack 2 r2 && rack 34 r3; } >racks.sed
sed -f racks.sed nodes.kept >o/nodes.yaml
run check o/combined.yaml --set 'arbiters[*].networkLocality=true'
[ "$status" = 0 ] && said "its Topology is left out for node pool 'h100'; domains of net.io/rack have 1 to 2 of its nodes"
report $? "domains of unequal size are named"
rack 123 r1 >racks.sed
sed -f racks.sed nodes.kept >o/nodes.yaml
run check o/combined.yaml
[ "$status" = 0 ] && said "not all of its nodes have the label net.io/block"
report $? "a node outside of the topology is named"
mv cluster.kept o/cluster.yaml
mv nodes.kept o/nodes.yaml

# ---- the scenario written out ----
run check o/combined.yaml --set queues.risk.cards.h100=12 --print
[ "$status" = 0 ] && cp "$out" o/printed.yaml && grep -q '^  - *$' o/printed.yaml && ! grep -q manifests o/printed.yaml
report $? "check --print writes the objects out"
cp o/by-hand.yaml by-hand.kept
mv o/printed.yaml o/by-hand.yaml
same "printed" --set queues.risk.cards.h100=12
mv by-hand.kept o/by-hand.yaml
run check o/combined.yaml --set queues.risk.cards.h100=soon --print
[ "$status" = 2 ] && [ ! -s "$out" ]
report $? "nothing is printed of a scenario that is not valid"
odd='"a\x01\t\x7f\x85\L\P\ufeff: {b} \\ \" \n # é"'
run check o/combined.yaml --set "description=$odd" --print
cp "$out" o/odd.yaml && run check o/odd.yaml --print && cmp -s "$out" o/odd.yaml && grep -q 'a.x01.t.x7f.x85.L.P.ufeff: {b}' o/odd.yaml
report $? "control characters and line breaks of a text are printed as escapes, and read again"

# ---- the cluster's release, gates and strategies ----
cat >o/kueue.yaml <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: kueue-controller-manager, namespace: kueue-system}
spec: {template: {spec: {containers: [{image: registry.k8s.io/kueue/kueue:v0.18.2, args: [--feature-gates=PrioritySortingWithinCohort=false]}]}}}
YAML
cp o/combined.yaml combined.kept
cp o/cluster.yaml cluster.kept
sed 's/manifests: \[/&kueue.yaml, /' combined.kept >o/combined.yaml
sed 's/^fairSharing: {}/fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare]}/' cluster.kept >o/cluster.yaml
cp o/by-hand.yaml by-hand.kept
k='kueue: {version: v0.18, featureGates: {PrioritySortingWithinCohort: false}, preemptionStrategies: [LessThanOrEqualToFinalShare]}'
sed "s/{preset: cohort, /&$k, /" by-hand.kept >o/by-hand.yaml
same "the cluster's Kueue"
if command -v sqlite3 >/dev/null; then
    query combined.db "SELECT * FROM decision" >a.txt
    run run by-hand.kept --record full -o newest.db
    query newest.db "SELECT * FROM decision" >b.txt
    ! cmp -s a.txt b.txt
    report $? "and it decides otherwise than the newest with both strategies"
fi
mv combined.kept o/combined.yaml
mv cluster.kept o/cluster.yaml
mv by-hand.kept o/by-hand.yaml

# b holds all 8 cards that are there to borrow, a asks 6. Its share would be 6/8: less than that of b before (8/8),
# more than that of b afterwards (0).
{
    echo 'fleet: {nodePools: [{name: h100, instance: p5.48xlarge, nodes: 1}]}'
    echo 'cohorts: [{name: c, cards: {h100: 8}}]'
    for q in a b; do echo "- {name: $q, cohortName: c, cards: {h100: 0}, preemption: {reclaimWithinCohort: Any}}"; done | sed '1iqueues:'
    printf 'demand: {training: [{name: a, queue: a, file: a.csv}, {name: b, queue: b, file: b.csv}]}\nhorizon: 2h\n'
    echo 'arbiters: [{preset: cohort, fairSharing: true, kueue: {preemptionStrategies: [LessThanOrEqualToFinalShare]}}]'
} >o/two.yaml
printf 'submit_s,duration_s,workers,cards_per_worker\n60,600,1,6\n' >o/a.csv
printf 'submit_s,duration_s,workers,cards_per_worker\n0,3000,1,8\n' >o/b.csv
run run o/two.yaml -o two.db --record full
evicted='SELECT queue, evictions FROM workload ORDER BY queue'
command -v sqlite3 >/dev/null && equal "by final shares nobody is evicted" "$(query two.db "$evicted" | tr '\n' ' ')" "a|0 b|0 "
run run o/two.yaml -o two.db --record full --set 'arbiters[0].kueue.preemptionStrategies=[LessThanInitialShare]'
command -v sqlite3 >/dev/null && equal "by initial shares the borrower of all is" "$(query two.db "$evicted" | tr '\n' ' ')" "a|0 b|1 "

# ---- local queues in a jobs file ----
printf 'submit_s,duration_s,workers,cards_per_worker,queue\n0,600,1,4,lab/jobs\n60,600,1,4,risk\n120,600,1,2,students/jobs\n' >o/jobs.csv
{
    sed -e '/^demand:/,/^arbiters:/d' -e '/^  - {*preset/d' -e 's/^horizon: 2d/horizon: 1h/' o/combined.yaml
    echo 'demand: {training: [{name: j, queue: research, file: jobs.csv, queueColumn: queue}]}'
} >o/jobs.yaml
run run o/jobs.yaml --record full -o jobs.db
report "$status" "a column may name local queues"
if command -v sqlite3 >/dev/null; then
    equal "and they give queue and team" "$(query jobs.db "SELECT DISTINCT queue, team, start_s FROM workload ORDER BY 3")" \
        "research|lab|0.0
risk|desk|60.0
research|students|120.0"
fi

# As import kueue-workloads writes them: the local queue beside its namespace. A ClusterQueue of that name does not come first.
sed 's/metadata: {name: risk}/metadata: {name: jobs}/' o/cluster.yaml | sed 's/clusterQueue: risk/clusterQueue: jobs/' >o/named.yaml
printf 'submit_s,duration_s,workers,cards_per_worker,team,queue\n0,600,1,4,lab,jobs\n60,600,1,4,desk,jobs\n120,600,1,2,students,jobs\n180,600,1,2,,jobs\n' >o/jobs.csv
sed 's/cluster.yaml/named.yaml/' o/jobs.yaml >o/named-jobs.yaml
run run o/named-jobs.yaml --record full -o jobs.db
report "$status" "a column may name local queues beside their namespaces"
if command -v sqlite3 >/dev/null; then
    equal "and they are found by both" "$(query jobs.db "SELECT DISTINCT queue, team, start_s FROM workload ORDER BY 3")" \
        "research|lab|0.0
jobs|desk|60.0
research|students|120.0
jobs|desk|180.0"
fi

# ---- what is wrong is named where it stands ----
bad() { # NAME TEXT ARGUMENTS...
    name=$1
    text=$2
    shift 2
    run check o/combined.yaml "$@"
    refused "$name" 2 "$text"
}
bad "a local queue that no manifest has" "demand.training[0].queue=lab/job: the manifests have no LocalQueue 'lab/job'; did you mean 'lab/jobs'?" \
    --set demand.training[0].queue=lab/job
bad "a queue that no manifest has" "no queue is named 'resarch'; did you mean 'research'?" --set demand.training[2].queue=resarch
bad "a pool name of two pools" "nodeTypes[0].pool: 'x' would name two node pools; Node 'l40s-1' and Node 'l40s-2' are not alike" \
    --set 'nodeTypes=[{labels: {gpu: l40s}, pool: x, pricePerCard: 1usd/h}]'
bad "labels that no node has" "nodeTypes[0]: no node carries these labels" --set 'nodeTypes=[{labels: {gpu: l40}, pricePerCard: 1usd/h}]'
bad "a type of card that is not there" "nodeTypes[0].card: unknown card type 'L40'; did you mean 'L4'?" --set 'nodeTypes=[{card: L40}]'
bad "nodes without a price" "o/nodes.yaml:22:1: fleet.nodePools[1]: the price of the nodes of pool 'l40s' is missing" --set 'nodeTypes=[]'
sed '/^demand:/,/^arbiters:/{/^arbiters:/!d}' o/combined.yaml >o/replay.yaml
run check o/replay.yaml
refused "arbiters beside manifests without demand" 2 "'arbiters' beside manifests needs demand"
for key in queues fleet cohorts; do
    { cat o/combined.yaml && echo "$key: []"; } >o/twice.yaml
    run check o/twice.yaml
    refused "$key beside manifests" 2 "o/twice.yaml:$(grep -n "^$key" o/twice.yaml | cut -d: -f1):1: '$key' beside manifests comes from the manifests; change it with set"
done

# edit SED-SCRIPT NAME TEXT: cluster.yaml changed
edit() {
    sed -e "$1" "$root/tests/load/data/objects/cluster.yaml" >o/cluster.yaml
    cmp -s o/cluster.yaml "$root/tests/load/data/objects/cluster.yaml" && echo "# the edit changes nothing"
    run check o/combined.yaml
    [ "$status" = "$2" ] && said "$4"
    report $? "$3"
}
edit 's/nodeLabels: {gpu: l40s}/nodeLabels: {gpu: l40}/' 2 "a flavor without nodes" \
    "o/cluster.yaml:9:1: fleet.flavors[1]: flavor 'l40s' selects no node pool"
edit 's/nvidia.com\/gpu/example.com\/fpga/' 2 "no quota of cards" "o/combined.yaml:3:12: no ClusterQueue has quota of a resource such as nvidia.com/gpu"
edit 's/nvidia.com\/gpu/amd.com\/gpu/' 2 "cards that no node has" "the manifests have no node with cards (amd.com/gpu)"
edit 's/namespaceSelector: {}/namespaceSelector: {matchLabels: {team: a}}/' 0 "a selector that keeps the namespace out" \
    "warning: the namespaceSelector of ClusterQueue 'research' does not match the namespace of LocalQueue 'lab/jobs'"
edit 's/metadata: {name: jobs, namespace: lab}/&\nstatus: {}/; s/^spec: {clusterQueue: research}/spec: {clusterQueue: research, stopPolicy: Hold}/' 0 "a stopped local queue" \
    "warning: LocalQueue 'lab/jobs' is stopped (stopPolicy)"
edit 's/queueingStrategy: StrictFIFO/&\n  stopPolicy: HoldAndDrain/' 0 "a stopped cluster queue is carried" "Can't admit new workloads: is stopped"
edit 's/queueingStrategy: StrictFIFO/&\n  admissionChecks: [prov]/' 0 "a missing admission check" \
    "o/cluster.yaml:61:1: warning: ClusterQueue 'risk': inactive: Can't admit new workloads: references missing AdmissionCheck(s): prov"
edit 's/queueingStrategy: StrictFIFO/&\n  admissionChecks: [prov]/; $a ---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: prov}\nspec: {controllerName: x}\nstatus: {conditions: [{type: Active, status: "True"}]}' \
    0 "an admission check" "o/cluster.yaml:68:20: warning: ClusterQueue 'risk': its admission checks are left out"
edit 's/fairSharing: {}/&\nwaitForPodsReady: {timeout: 5m}/' 0 "a field of the Configuration" \
    "warning: Configuration waitForPodsReady is left out: in the scenario workloads whose pods are not ready in time are not evicted"
edit 's/parentName: org/parentName: science/' 2 "cohorts in a circle" "cohort 'science' is its own ancestor"
edit 's/fairSharing: {}/fairSharing: {}\n---\nkind: [/' 2 "a broken file" "o/cluster.yaml:"
{
    cat "$root/tests/load/data/objects/cluster.yaml"
    printf -- '---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: w, namespace: lab, creationTimestamp: "2026-01-05T08:00:00Z"}\n'
    printf 'spec: {queueName: jobs, podSets: [{count: 1, template: {spec: {containers: [{resources: {requests: {nvidia.com/gpu: 8}}}]}}}]}\n'
} >o/cluster.yaml
run check o/combined.yaml
[ "$status" = 0 ] && said 'o/combined.yaml:3:12: note: workloads of the manifests are left out, 1 in all'
report $? "workloads of the dump are counted"
cp "$root/tests/load/data/objects/cluster.yaml" o/cluster.yaml

sed -e 's/gpu.product: NVIDIA-L40S/gpu.product: NVIDIA-X9/' "$root/tests/load/data/objects/nodes.yaml" >o/nodes.yaml
run check o/combined.yaml
refused "a card that nobody knows" 2 "o/nodes.yaml:22:1: Node 'l40s-1': its card type is not known, label nvidia.com/gpu.product: NVIDIA-X9; the scenario needs nodeTypes"
run check o/combined.yaml --set nodeTypes[0].card=L40S
report "$status" "nodeTypes tells it"
finish
