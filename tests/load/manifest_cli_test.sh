#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Manifests as a person uses them: run, import, conform; exit status, what is said and stored.
# usage: manifest_cli_test.sh PATH-OF-FLEETSIM
root=${FLEETSIM_SOURCE_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$root/tests/cli/tap.sh"
cluster=$root/tests/load/data/manifest/cluster.yaml

run run --manifests "$cluster" -o a.db
refused "workloads without a duration are counted" 2 "1 of 2 workloads have no duration"

run run --manifests "$cluster" --durations 30m -o a.db
[ "$status" = 0 ] && said "not read: Service 1"
report $? "a cluster is replayed, unknown kinds are listed"
if command -v sqlite3 >/dev/null; then
    # 16 of 16 GPUs are held when the urgent job reclaims 4 at 08:10: the big one begins anew when
    # it ends at 08:40, a second later (wake-ups are collected for 1 s), and runs its hour.
    equal "the database holds the workloads" \
        "$(query a.db "SELECT id, start_s, finish_s, evictions FROM workload ORDER BY id")" \
        "research/job-big|0.0|6001.0|1
serving/reclaim|600.0|2400.0|0"
    equal "the eviction names its rule" \
        "$(query a.db "SELECT workload, reason FROM decision WHERE kind = 'evicted'")" "research/job-big|InCohortReclamation"
    # 16 GPUs for 600 s and for 3600 s, none in between
    near "the quota in use is its mean over time" \
        "$(query a.db "SELECT value * horizon_s FROM metric JOIN run USING (run) WHERE scope = 'research' AND scope_kind = 'queue' AND name = 'quota.used'")" \
        67200 0.001
fi
run hash a.db
first=$(cat "$out")
run run --manifests "$cluster" --durations 30m -o b.db
run hash b.db
equal "the same manifest gives the same database" "$(cat "$out")" "$first"
run compare a.db b.db
report "$status" "two such databases can be compared"

printf 'workload,duration_s\nserving/reclaim,60\n' >durations.csv
run run --manifests "$cluster" --durations durations.csv -o c.db
report "$status" "durations come from a file"
printf 'workload,duration_s\nserving/reclaim,soon\n' >bad.csv
run run --manifests "$cluster" --durations bad.csv -o d.db
refused "a bad duration is named with its place" 2 "bad.csv:2:17: duration_s: expected a number of seconds, got 'soon'"
run run --manifests "$cluster" --durations often -o d.db
refused "a law that is none is refused" 2 "--durations: expected a file or a distribution"
run run --manifests missing.yaml -o d.db
refused "a missing file is named" 2 "missing.yaml"
: >empty.yaml
run run --manifests empty.yaml -o d.db
refused "an empty file holds no objects" 2 "empty.yaml: holds no objects"
head -c 700 "$cluster" >cut.yaml
printf '  - {name: c' >>cut.yaml
run run --manifests cut.yaml -o d.db
refused "a truncated file is no YAML" 2 "cut.yaml:"

# Two equal queues under fair sharing with the one strategy that compares shares before: each evicts
# the other's only workload.
{
    cat <<'YAML'
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
fairSharing: {preemptionStrategies: [LessThanInitialShare]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: c}
spec:
  resourceGroups:
  - {coveredResources: [nvidia.com/gpu], flavors: [{name: f, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]}
YAML
    for q in a b; do
        cat <<YAML
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: $q}
spec:
  cohortName: c
  namespaceSelector: {}
  preemption: {reclaimWithinCohort: Any}
  resourceGroups:
  - {coveredResources: [nvidia.com/gpu], flavors: [{name: f, resources: [{name: nvidia.com/gpu, nominalQuota: 0}]}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: $q}
spec: {clusterQueue: $q}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w-$q, creationTimestamp: "2026-01-05T08:00:0$([ $q = a ] && echo 0 || echo 5)Z"}
spec:
  queueName: $q
  podSets: [{template: {spec: {containers: [{resources: {requests: {nvidia.com/gpu: 8}}}]}}}]
YAML
    done
} >quarrel.yaml
run run --manifests quarrel.yaml --durations 1h -o e.db
case $status in
0) [ -s e.db ] && ! said "evict each other" ;;
*) false ;;
esac
report $? "equal shares do not evict each other"

# research holds 10 of the 16 GPUs of its cohort: 6 are left, of which 8 its own quota less 10 in use
sed '/^kind: Workload$/,$d' "$cluster" | sed '$d' >objects.yaml
cat >running.yaml <<'YAML'
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: running, namespace: research, creationTimestamp: "2026-01-05T08:00:00Z"}
spec:
  queueName: main
  priority: 100
  podSets:
  - {name: main, count: 10, template: {spec: {containers: [{resources: {requests: {nvidia.com/gpu: 1}}}]}}}
status:
  admission: {clusterQueue: research, podSetAssignments: [{name: main, count: 10, flavors: {nvidia.com/gpu: h100}, resourceUsage: {nvidia.com/gpu: 10}}]}
  conditions:
  - {type: QuotaReserved, status: "True", lastTransitionTime: "2026-01-05T08:00:00Z"}
YAML
cat >job.yaml <<'YAML'
apiVersion: batch/v1
kind: Job
metadata: {name: mine, namespace: research, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  parallelism: 8
  template: {spec: {containers: [{resources: {requests: {nvidia.com/gpu: 1}}}]}}
YAML
run explain --job job.yaml --manifests objects.yaml --manifests running.yaml
[ "$status" = 1 ] && grep -q -F 'asks 8, available 6 of 8: nominal 8 − used 10 + borrowable 8' "$out"
report $? "a job that does not fit now is told the numbers"
grep -q -F "largest size that starts now: 6 of 8 pods of 'main'" "$out"
report $? "and how large it may be"
grep -q -F 'nominalQuota of nvidia.com/gpu on h100: 8 -> 10 (+2)' "$out" &&
    grep -q -F 'priority: 0 -> 101 (+101); evicts research/running (InClusterQueue)' "$out"
report $? "and the smallest changes that let it start"
sed 's/parallelism: 8/parallelism: 6/' job.yaml >smaller.yaml
run explain --job smaller.yaml --manifests objects.yaml --manifests running.yaml
[ "$status" = 0 ] && grep -q '^now: starts: nvidia.com/gpu on h100$' "$out"
report $? "six pods start at once"
sed 's/parallelism: 8/parallelism: 7/; s/namespace: research/namespace: serving/' job.yaml >other.yaml
run explain --job other.yaml --manifests objects.yaml --manifests running.yaml
[ "$status" = 1 ] && grep -q -F 'evicts research/running (InCohortReclamation)' "$out"
report $? "the owner of lent quota gets it back by preemption"

if command -v sqlite3 >/dev/null; then
    # The big one began in the same second; the urgent one had no quota yet when the dump was made.
    equal "a run of a dump keeps how its own past was met" \
        "$(query a.db "SELECT scope, name, value FROM metric WHERE scope_kind = 'past' AND name IN ('past.compared', 'past.one_sided', 'past.within_1s') AND scope IN ('', 'research') ORDER BY scope, name")" \
        "|past.compared|1.0
|past.one_sided|1.0
|past.within_1s|0.5
research|past.compared|1.0
research|past.one_sided|0.0
research|past.within_1s|1.0"
fi
run report a.db -o a.html
grep -q 'of 2 workloads that got quota, in the record or in the replay, 50.0&nbsp;% got it within the same second' a.html
report $? "and the report says it on top"

# Two queues share 16 H100: research holds 2 + 8 + 5 of them, 1 is left. prod asks for 7 of its own 8:
# the newest candidate (5) is not enough, the next one (8) is, and then the first need not go.
{
    for f in h100 a100; do
        printf 'apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: %s}\n---\n' $f
    done
    for q in research prod; do
        more=
        [ $q = research ] && more=', {name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}'
        cat <<YAML
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: $q}
spec:
  cohortName: all
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}
  resourceGroups:
  - {coveredResources: [nvidia.com/gpu], flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}$more]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: $q}
spec: {clusterQueue: $q}
---
YAML
    done
    while read -r space name created gpus; do
        cat <<YAML
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: $name, namespace: $space, creationTimestamp: "2026-01-05T08:0${created}Z"}
spec:
  queueName: lq
  podSets: [{template: {spec: {containers: [{resources: {requests: {nvidia.com/gpu: $gpus}}}]}}}]
---
YAML
    done <<LIST
research small 0:01 2
research mid 0:02 8
research low 0:03 5
prod big 1:00 7
research huge 2:00 40
research more 2:00 4
LIST
} >why.yaml
run run --manifests why.yaml --durations 1h -o why.db
run explain why.db prod/big
tr -s ' \n' '  ' <"$out" >flat
grep -q -F 'evicts research/mid (queue lq, priority 0); fill-back spared low h100 nvidia.com/gpu: Reclaim, asks 7, available 1 of 8: nominal 8 − used 0 − lent 7' flat
report $? "explain: who goes, who was spared by fill-back, and the numbers of the flavor"
run explain why.db research/huge
tr -s ' \n' '  ' <"$out" >flat
grep -q -F 'h100 nvidia.com/gpu: NoFit, asks 40, available 2 of 8: nominal 8 − used 7 + borrowable 1; never more than 16' flat &&
    grep -q -F 'a100 nvidia.com/gpu: NoFit, asks 40, available 4 of 4: nominal 4 − used 0 + borrowable 0; never more than 4' flat
report $? "explain: every flavor that was tried, with its grade"
run explain why.db research/huge --format json
grep -q -F '{"flavor": "h100", "resource": "nvidia.com/gpu", "grade": "NoFit", "asks": 40, "available": 2, "nominal": 8, "used": 7, "borrowable": 1,' "$out"
report $? "and as JSON"
# Second 0 is the first creation, at 8:00:01. At 70 s research holds small (2) and low (5), prod big (7): 14 of 16, nobody borrows; mid (8) was evicted for big at 59 s.
run explain why.db --queue research --at 70
for line in '  place: all > research' \
    '    h100 nvidia.com/gpu                  16       14        0        0        2' \
    '      h100 nvidia.com/gpu                 8        7        0        0        1' \
    '    1  research/mid, priority 0, asks 8, since 00:00:59' \
    '  admitted: 2; the largest:' '       research/low: 5 nvidia.com/gpu on h100, since 00:00:02'; do
    grep -q -x -F -- "$line" "$out" || break
    line=
done
[ "$status" = 0 ] && [ -z "$line" ]
report $? "explain --queue --at: place, quota, who waits, who is admitted${line:+, not: $line}"
# At 30 s research holds 15 of its 8: 7 are borrowed, all from prod.
run explain why.db --at 30
grep -q -x -F '      h100 nvidia.com/gpu                 8       15        7        0        0' "$out" &&
    grep -q -x -F '      h100 nvidia.com/gpu                 8        0        0        7        1' "$out"
report $? "explain --at: what one queue borrows the other lends"
run explain why.db --queue prod --format json
grep -q -F '"spared": ["low"]' "$out" && grep -q -F '"kind": "preempts", "reason": "InCohortReclamation",' "$out" &&
    grep -q -F '"evicts": "research/mid"' "$out"
report $? "explain: who goes under which rule and whom fill-back spared, as JSON"
# A run that kept no decisions is repeated from its files and settings.
cp why.yaml again.yaml
printf 'workload,duration_s\nresearch/mid,1800\n' >mid.csv
run run --manifests again.yaml --durations 1h --record summary -o less.db
run explain less.db --queue research --at 70
cp "$out" repeated.txt
[ "$status" = 0 ] && said "repeating the run from its scenario" && ! said "differ"
report $? "explain repeats a replay that kept no decisions"
run explain why.db --queue research --at 70
cmp -s "$out" repeated.txt
report $? "with the same words as one that kept them"
printf 'name: again\nmanifests: [again.yaml]\ndurations: exponential,mean=30m\nhorizon: 50m\nseed: 7\n' >again-scenario.yaml
"$program" run again-scenario.yaml -o full.db >/dev/null 2>&1
"$program" run again-scenario.yaml --record summary -o less.db >/dev/null 2>&1
"$program" explain full.db --at 40m >full.txt 2>/dev/null
run explain less.db --at 40m
[ "$status" = 0 ] && grep -q research "$out" && cmp -s "$out" full.txt
report $? "its horizon, seed and law of durations are those of the run"
run run --manifests again.yaml --durations mid.csv --record summary -o less.db
refused "a file of durations that leaves some out" 2 "5 of 6 workloads have no duration"
printf 'workload,duration_s\nsmall,3600\nmid,3600\nlow,3600\nbig,3600\nhuge,3600\nmore,3600\n' >all.csv
run run --manifests again.yaml --durations all.csv --record summary -o less.db
run explain less.db --queue research --at 70
[ "$status" = 0 ] && cmp -s "$out" repeated.txt
report $? "and so is a file of durations"
echo 'other,1' >>all.csv
run explain less.db research/mid
refused "a file of durations that has changed is named" 2 "its input 'all.csv' has changed"
run run --manifests again.yaml --durations 1h --record summary -o less.db
echo '# one more line' >>again.yaml
run explain less.db research/mid
refused "so is a manifest that has changed" 2 "its input 'again.yaml' has changed"
rm again.yaml
run explain less.db research/mid
refused "or that is gone" 2 "its input 'again.yaml' cannot be read"
mkfifo again.yaml
run explain less.db research/mid
refused "or that is a pipe now" 2 "its input 'again.yaml' is no plain file any more"
rm again.yaml
"$program" run --manifests - --durations 1h --record summary -o less.db <why.yaml >/dev/null 2>&1
run explain less.db research/mid
refused "standard input cannot be read again" 2 "its input '-' was no plain file"
# Under fair sharing, 20 GPUs lendable: the share of a queue is what it has above its own quota, in thousandths.
{
    printf 'apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare]}\n---\n'
    cat why.yaml
} >fair.yaml
run run --manifests fair.yaml --durations 1h -o fair.db
run explain fair.db prod/big
tr -s ' \n' '  ' <"$out" >flat
grep -q -F 'share of prod 0 before, 0 after, of research 350 before, 0 after' flat
report $? "explain: shares under fair sharing before and after"
run explain fair.db prod/big --format json
grep -q -F '"shares": [{"queue": "prod", "before": 0, "after": 0}, {"queue": "research", "before": 350, "after": 0}]' "$out"
report $? "and as JSON"

# The same as a dump: small, mid and low run, big is the job. The A100 that research has are too few for
# 8 pods of one GPU; those of prod are not asked: it has none.
{
    sed '/^kind: Workload$/,$d' why.yaml | sed '$d'
    while read -r name created gpus; do
        cat <<YAML
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: $name, namespace: research, creationTimestamp: "2026-01-05T08:00:0${created}Z"}
spec:
  queueName: lq
  podSets: [{name: main, template: {spec: {containers: [{resources: {requests: {nvidia.com/gpu: $gpus}}}]}}}]
status:
  admission: {clusterQueue: research, podSetAssignments: [{name: main, count: 1, flavors: {nvidia.com/gpu: h100}, resourceUsage: {nvidia.com/gpu: $gpus}}]}
  conditions:
  - {type: QuotaReserved, status: "True", lastTransitionTime: "2026-01-05T08:00:0${created}Z"}
---
YAML
    done <<LIST
small 1 2
mid 2 8
low 3 5
LIST
} >dump.yaml
cat >big.yaml <<'YAML'
apiVersion: batch/v1
kind: Job
metadata: {name: big, namespace: prod, labels: {kueue.x-k8s.io/queue-name: lq}}
spec: {parallelism: 7, template: {spec: {containers: [{resources: {requests: {nvidia.com/gpu: 1}}}]}}}
YAML
run explain --job big.yaml --manifests dump.yaml
[ "$status" = 1 ] && grep -q -x -F '  h100 nvidia.com/gpu: Reclaim, asks 7, available 1 of 8: nominal 8 − used 0 − lent 7' "$out" &&
    grep -q -x -F '  fill-back spared research/low' "$out" && grep -q -x -F '  evicts research/mid (InCohortReclamation)' "$out"
report $? "explain --job: the flavor, whom fill-back spared, and who goes"
sed 's/namespace: prod/namespace: research/; s/parallelism: 7/parallelism: 8/' big.yaml >mine.yaml
run explain --job mine.yaml --manifests dump.yaml
[ "$status" = 1 ] &&
    grep -q -x -F '  h100 nvidia.com/gpu: NoCandidates, asks 8, available 1 of 8: nominal 8 − used 15 + borrowable 8; borrows at level 1' "$out" &&
    grep -q -x -F '  a100 nvidia.com/gpu: NoFit, asks 8, available 4 of 4: nominal 4 − used 0 + borrowable 0; never more than 4' "$out"
report $? "explain --job: every flavor that was tried"
sed 's/parallelism: 8/parallelism: 1/' mine.yaml >one.yaml
run explain --job one.yaml --manifests dump.yaml
[ "$status" = 0 ] && grep -q -x -F '  not tried (labels or taints, or the search had ended): a100' "$out"
report $? "and which were not"
{
    printf 'apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare]}\n---\n'
    cat dump.yaml
} >fairdump.yaml
run explain --job big.yaml --manifests fairdump.yaml
grep -q -x -F '  share of prod 0 before, 0 after, of research 350 before, 0 after' "$out"
report $? "and the shares before and after"
run explain --job big.yaml --manifests fairdump.yaml --format json
tr -d ' \t\n' <"$out" >flat
grep -q -F '"flavors":[{"flavor":"h100","resource":"nvidia.com/gpu","grade":"Reclaim","asks":7,"available":1,' flat &&
    grep -q -F '"spared":[{"namespace":"research","name":"low"}]' flat &&
    grep -q -F '{"clusterQueue":"research","before":350,"after":0}' flat
report $? "as JSON"

# A queue without a selector takes nobody; checks are a delay, and that is said.
cat >checks.yaml <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta1
    kind: Configuration
    fairSharing: {enable: true}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: AdmissionCheck
metadata: {name: prov}
spec: {controllerName: kueue.x-k8s.io/provisioning-request}
status: {conditions: [{type: Active, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z"}]}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: f}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: nil}
spec:
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: chk}
spec:
  namespaceSelector: {matchLabels: {team: a}}
  admissionChecks: [prov]
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]
---
apiVersion: v1
kind: Namespace
metadata: {name: a, labels: {team: a}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: nil, namespace: a}
spec: {clusterQueue: nil}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: chk, namespace: a}
spec: {clusterQueue: chk}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: one, namespace: a, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {queueName: nil, podSets: [{template: {spec: {containers: [{resources: {requests: {cpu: 1}}}]}}}]}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: two, namespace: a, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {queueName: chk, podSets: [{template: {spec: {containers: [{resources: {requests: {cpu: 1}}}]}}}]}
YAML
run run --manifests checks.yaml --durations 1h -o checks.db
said "ClusterQueue 'chk': spec.admissionChecksStrategy: its checks are a delay of 0 s" &&
    said "ClusterQueue 'nil': spec.namespaceSelector: is not set: no namespace matches"
report $? "admission checks and a missing namespaceSelector are warned about"
if command -v sqlite3 >/dev/null; then
    equal "a nil namespaceSelector matches nothing, labels of the Namespace match the other" \
        "$(query checks.db "SELECT workload, kind, reason FROM decision WHERE kind IN ('waiting', 'admitted') ORDER BY workload")" \
        "a/one|waiting|NamespaceMismatch
a/two|admitted|Fit"
    equal "fairSharing of a ConfigMap is in force" "$(query checks.db "SELECT value FROM param WHERE key = 'kueue.fairSharing'")" true
fi

run import kueue-workloads "$cluster" -o jobs.csv
[ "$status" = 0 ] && grep -q '^0,3600,2,8,,research,main,job-big,0,completed,Workload$' jobs.csv
report $? "a finished workload becomes a job"

run conform workloads "$cluster"
[ "$status" = 1 ] && grep -q '^research  *1  *100.0%' "$out"
report $? "a dump's own past is held against its replay"

for recording in "$root"/tests/policies/data/*.jsonl.gz; do
    gzip -dc "$recording" | head -c 3000 >cut.jsonl
    run conform kueue cut.jsonl
    refused "a truncated recording is refused" 2 "cut.jsonl:1"
    head -c 600 "$recording" >cut.jsonl.gz
    run conform kueue cut.jsonl.gz
    refused "a recording whose compressed file is cut is refused" 2 "cut.jsonl.gz"
    break
done
# ---- the same as a scenario ----
mkdir replay
cp "$cluster" replay/objects.yaml
printf 'name: replayed\nmanifests: [objects.yaml]\ndurations: 1h\n' >replay/scenario.yaml
run run replay/scenario.yaml -o replay.db
[ "$status" = 0 ]
report $? "a scenario of manifests runs"
run run --manifests "$cluster" --durations 1h -o direct.db
if command -v sqlite3 >/dev/null; then
    equal "its figures are those of --manifests" \
        "$(query replay.db "SELECT scope_kind, scope, name, value FROM metric ORDER BY 1, 2, 3")" \
        "$(query direct.db "SELECT scope_kind, scope, name, value FROM metric ORDER BY 1, 2, 3")"
    equal "its name is that of the results" "$(query replay.db 'SELECT name FROM scenario')" replayed
fi
run check replay/scenario.yaml --set horizon=2h
[ "$status" = 0 ] && grep -q '^replayed: valid; workloads of 1 file of manifests$' "$out"
report $? "check knows such a scenario, and --set changes it"
run run replay/scenario.yaml --set horizon=1s -o short.db
[ "$status" = 0 ] && ! cmp -s replay.db short.db
report $? "a horizon ends the replay"
printf 'manifests: [objects.yaml, gone.yaml]\nqueues: []\n' >replay/bad.yaml
run run replay/bad.yaml -o bad.db
refused "quota beside manifests: line and column" 2 "replay/bad.yaml:2:1: 'queues' beside manifests"
printf 'manifests: [objects.yaml, gone.yaml]\n' >replay/bad.yaml
run run replay/bad.yaml -o bad.db
refused "a file of manifests that is not there: line and column" 2 "replay/bad.yaml:1:27: manifests: 'replay/gone.yaml' is not there"
finish
