#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The Philly trace alone, first come first served on one pool, placement ignored. The expected figures
# come from an independent count of the trace. 1,243 cards
# are the peak of the demand.
. "$(dirname "$0")/../cli/tap.sh"

trace=$shared/traces/philly/philly.csv.gz
[ -r "$trace" ] || skip_all "no public traces at $shared/traces (set FLEETSIM_SHARED)"

run import philly "$trace" -o jobs.csv
[ "$status" = 0 ]
report $? "import philly"
equal "82,247 jobs" "$(grep -c '^[0-9]' jobs.csv)" 82247
account() { # LABEL
    sed -n "s/^$1  *//p" "$out"
}
equal "978,078.47 GPU hours" "$(account 'card hours')" 978,078.47
equal "the demand peaks at 1,243 GPUs when nothing waits" "$(account 'peak demand' | cut -d' ' -f1)" 1,243

# fifo CARDS
fifo() {
    run run "$scenarios/philly.yaml" --set 'demand.training[0].file=jobs.csv' --record summary -o "$1.db" \
        --set "fleet.nodePools[0].cardsPerNode=$1" --set "queues[0].cards.all=$1"
}
figure() { # CARDS NAME
    query "$1.db" "SELECT printf('%.6f', value) FROM metric WHERE scope_kind = 'all' AND name = '$2'"
}

fifo 1243
equal "1,243 cards: nobody waits" "$(figure 1243 training.waited)" 0.000000
fifo 1242
equal "1,242 cards: one job waits" "$(figure 1242 training.waited)" 1.000000
equal "for 2 s" "$(figure 1242 training.wait.max)" 2.000000
fifo 1000
near "1,000 cards: mean wait 18.268 s" "$(figure 1000 training.wait.mean)" 18.268 0.0005
fifo 700
near "700 cards: mean wait 5,607.255 s" "$(figure 700 training.wait.mean)" 5607.255 0.0005

for cards in 1243 1242 1000 700; do
    equal "$cards cards: every job ended" "$(figure $cards training.finished)" 82247.000000
    near "$cards cards: 978,078.47 card-hours were computed, none twice" "$(query $cards.db \
        "SELECT sum(card_s) / 3600.0 FROM ledger WHERE bucket = 'training_useful'")" 978078.47 0.005
    equal "$cards cards: and nothing else was booked" "$(query $cards.db \
        "SELECT count(*) FROM ledger WHERE bucket NOT LIKE 'idle%' AND bucket <> 'training_useful' AND card_s <> 0")" 0
done

finish
