#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Scenario files that are none, and scenarios that cannot be: message with its place, status 2,
# nothing written. Warnings and errors of single fields: tests/load.
. "$(dirname "$0")/tap.sh"

quick=$scenarios/quick.yaml

run run nosuch.yaml
refused "a scenario that does not exist" 2 "nosuch.yaml: cannot open: No such file or directory"

mkdir folder
run run folder
refused "a directory instead of a scenario" 2 "folder: is a directory; expected a scenario file"

: >empty.yaml
run run empty.yaml
refused "an empty scenario" 2 "empty.yaml: is empty; expected a scenario"

printf 'name: x\000\001\002\377horizon' >binary.yaml
run run binary.yaml
refused "a binary file instead of a scenario" 2 "binary.yaml: is a binary file"

printf 'name: caf\351\nhorizon: 1d\n' >latin1.yaml
run run latin1.yaml
refused "a scenario that is not UTF-8 names the place" 2 "latin1.yaml:1:"

truncate -s 1G line.yaml
(
    memory_limit 300000
    run run line.yaml
    refused "a scenario of 1 GiB in one line is refused within 300 MB of memory" 2 "line.yaml: is larger than 8 MiB"
    exit "$failures"
) || failures=1
tests=$((tests + 1))
rm line.yaml

run run "$quick" -o plain.db --replications 1
{ printf '\357\273\277'; cat "$quick"; } >bom.yaml
run run bom.yaml -o bom.db --replications 1
[ "$status" = 0 ] && [ "$(query bom.db 'SELECT count(*) FROM metric')" = "$(query plain.db 'SELECT count(*) FROM metric')" ]
report $? "a UTF-8 byte order mark changes nothing"
sed 's/$/\r/' "$quick" >crlf.yaml
run run crlf.yaml -o crlf.db --replications 1
[ "$status" = 0 ] &&
    [ "$(query crlf.db 'SELECT sum(value) FROM metric')" = "$(query plain.db 'SELECT sum(value) FROM metric')" ]
report $? "lines that end with CRLF change nothing"
rm -f ./*.db

# set_refused NAME ASSIGNMENT TEXT
set_refused() {
    run run "$quick" --set "$2"
    refused "$1" 2 "$3"
}

set_refused "horizon 0" horizon=0s "expected a duration of 1s to 3650d, got '0s'"
set_refused "a negative horizon" horizon=-1d "got '-1d'"
set_refused "a fleet without nodes" 'fleet.nodePools[0].nodes=0' "expected a whole number of 1 to 1000000, got '0'"
set_refused "a fleet without node pools" 'fleet.nodePools=[]' "the fleet has no nodes; expected at least one node pool"
set_refused "a duration that is no number" 'demand.training[0].restart=nan' "got 'nan'"
set_refused "a number that is not one" 'demand.training[0].arrivals.cv=.nan' "expected a number of 0 to 30, got '.nan'"
set_refused "an unknown card type, with the nearest one" 'fleet.nodePools[1].card=L40X' \
    "unknown card type 'L40X'; did you mean 'L40S'?"
set_refused "more cards per worker than any node has" 'demand.training[0].gangs[1].cardsPerWorker=9' \
    "asks for 9 cards per worker; the largest node it may use has 8"
set_refused "more cards per replica than any node has" 'demand.services[0].cardsPerReplica=16' \
    "the largest node it may use has 8"
set_refused "an unknown field, with the nearest one" 'demand.training[0].restrat=5s' "restart"
set_refused "no arbiter" 'arbiters=[]' "arbiters: expected at least one"

cat >three.yaml <<'Y'
name: three
horizon: 5
fleet:
  nodePools:
    - {name: a, card: H100-8O, nodes: 2}
queues:
  - {name: q, cards: {a: 16}}
demand:
  training:
    - {name: s, queue: Q, duration: 1h, arrivals: {base: 1/h}}
arbiters:
  - preset: pools
Y
run run three.yaml
refused "all mistakes are told at once" 2 "three.yaml:2:10:"
said "three.yaml:5:23: " && said "did you mean 'A100-80'?" && said "three.yaml:10:24: "
report $? "each with file, line and column"
grep -A2 '^three.yaml:5:23' "$err" | sed -n 3p | grep -q -x ' *^'
report $? "and a caret under the place"

# A jobs file is looked into: of its five jobs one asks for 12 x 8 cards, and 12 x 8 cores.
cp "$scenarios/gang-pods-jobs.csv" .
sed 's/cards: {h100: 96}/cards: {h100: 90}/' "$scenarios/gang-pods.yaml" >few.yaml
run check few.yaml
[ "$status" = 0 ] && said "warning: arbiter 'pods': 1 of 5 jobs of 'jobs' can never start; one asks 96 cards, queue 'research' may get 90 of one flavor"
report $? "a job of a jobs file that can never start is named"
sed "s/cards: {h100: 96}/resourceGroups: [{coveredResources: [cards, cpu], flavors: [{name: h100, resources: [{name: cards, nominalQuota: 96}, {name: cpu, nominalQuota: 70}]}]}]/
    s/      restart: 0s/&\\
      resources: {cpu: 8}/" "$scenarios/gang-pods.yaml" >cores.yaml
run check cores.yaml --strict
[ "$status" = 1 ] && said "warning: arbiter 'quota': 1 of 5 jobs of 'jobs' can never start; one asks 96 cpu, queue 'research' may get 70 of one flavor"
report $? "for want of another resource as well"
run check "$scenarios/gang-pods.yaml"
[ "$status" = 0 ] && ! said "can never start"
report $? "and none is where all fit"

finish
