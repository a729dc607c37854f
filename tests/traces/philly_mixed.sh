#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Philly, ServeGen's m-large and GenAI's LoRA requests on fleets of 500, 700 and 1,250 cards under
# all arbiters. Whatever an arbiter does, nothing of the demand may get lost or appear twice.
. "$(dirname "$0")/../cli/tap.sh"

traces=$shared/traces
[ -r "$traces/servegen/m-large_client_rates.csv.gz" ] ||
    skip_all "no public traces at $shared/traces (set FLEETSIM_SHARED)"

run import philly "$traces/philly/philly.csv.gz" -o philly.csv
[ "$status" = 0 ] || report 1 "import philly"
run import servegen "$traces/servegen/m-large_client_rates.csv.gz" "$traces/servegen/m-large_client_lengths.csv.gz" \
    -o traffic.csv
[ "$status" = 0 ] || report 1 "import servegen"
# Philly is nearly empty in its first weeks: the other two begin on day 40.
awk -F, -v OFS=, '/^[0-9]/ { $1 += 40 * 86400 } { print }' traffic.csv >m-large.csv
# Requests and tokens of the trace: rates x 600 s.
requests=$(awk -F, '/^[0-9]/ { n += $3 * $2 } END { printf "%.3f", n }' traffic.csv)
tokens=$(awk -F, '/^[0-9]/ { n += $3 * $2 * ($4 + $5) } END { printf "%.3f", n }' traffic.csv)
near "the trace holds what its account says: 236,892,826 requests" "$requests" 236892826 1
run import genai-lora "$traces/alibaba-genai/lora_request_trace_to_20241203.csv.gz" -o lora.csv
[ "$status" = 0 ] || report 1 "import genai-lora"
awk -F, -v OFS=, '/^[0-9]/ { $1 += 40 * 86400 } { print }' lora.csv >lora-jobs.csv
lora_h=$(awk -F, '/^[0-9]/ { s += $2 * $3 * $4 } END { printf "%.6f", s / 3600 }' lora.csv)

# conserved DATABASE LABEL
conserved() {
    for arbiter in pools cohort hyperpod managed; do
        value() { # NAME
            query "$1" "SELECT printf('%.9f', value) FROM metric JOIN run USING (run)
                WHERE arbiter = '$arbiter' AND scope_kind = 'all' AND name = '$2'"
        }
        bucket() { # DATABASE BUCKET
            query "$1" "SELECT printf('%.9f', total(card_s + rest_mcns / 1e12) / 3600) FROM ledger JOIN run USING (run)
                WHERE arbiter = '$arbiter' AND bucket = '$2'"
        }
        near "$2, $arbiter: work done once and work not yet reached are Philly's 978,078.47 GPU hours" \
            "$(awk "BEGIN { printf \"%.6f\", $(bucket "$1" training_useful) + $(value "$1" training.unfinished) }")" \
            978078.4729 0.005
        near "$2, $arbiter: the same for LoRA requests" \
            "$(awk "BEGIN { printf \"%.6f\", $(bucket "$1" lora_useful) + $(value "$1" lora.unfinished) }")" "$lora_h" 0.001
        equal "$2, $arbiter: all jobs were submitted" "$(value "$1" training.submitted)" 82247.000000000
        near "$2, $arbiter: requests served, rejected, timed out and queued are those of the trace" \
            "$(query "$1" "SELECT total(value) FROM metric JOIN run USING (run) WHERE arbiter = '$arbiter'
                AND scope_kind = 'all' AND name IN ('inference.served', 'inference.rejected', 'inference.timed_out',
                'inference.queued')")" "$requests" 1
        near "$2, $arbiter: tokens served, lost and queued are those of the trace" \
            "$(query "$1" "SELECT printf('%.3f', total(value)) FROM metric JOIN run USING (run) WHERE arbiter = '$arbiter'
                AND scope_kind = 'all' AND name IN ('inference.tokens', 'inference.tokens_lost', 'inference.tokens_queued')")" \
            "$tokens" 1000
        [ "$arbiter" = managed ] || {
            near "$2, $arbiter: what evictions cost was computed again, or is still to be" \
                "$(awk "BEGIN { r = $(value "$1" training.rework); l = $(value "$1" training.lost); print (r <= l + 1e-6) }")" 1 0
            equal "$2, $arbiter: the ledger holds the fleet's card time" "$(query "$1" "SELECT sum(card_s)
                + sum(rest_mcns) / 1000000000000 FROM ledger JOIN run USING (run) WHERE arbiter = '$arbiter'")" \
                $((cards * 110 * 86400))
        }
    done
}

# fleet CARDS NODES-OF-EIGHT CARDS-OF-THE-LAST-NODE QUOTA-OF-PHILLY
fleet() {
    cards=$1
    run run "$scenarios/philly-mixed.yaml" --record summary -o "$1.db" \
        --set 'demand.training[0].file=philly.csv' --set 'demand.lora[0].file=lora-jobs.csv' \
        --set 'demand.services[0].traffic.file=m-large.csv' --set "fleet.nodePools.eight.nodes=$2" \
        --set "fleet.nodePools.rest.cardsPerNode=$3" --set "queues.philly.cards.h100=$4"
    [ "$status" = 0 ]
    report $? "$1 cards: runs"
    conserved "$1.db" "$1 cards"
}

fleet 500 62 4 300
preemptions=$(query 500.db "SELECT value FROM metric JOIN run USING (run)
    WHERE arbiter = 'cohort' AND scope_kind = 'all' AND name = 'training.preemptions'")
awk "BEGIN { exit !($preemptions > 1000) }"
report $? "500 cards, cohort: the traffic takes its cards back again and again"
fleet 700 87 4 500
fleet 1250 156 2 1050

finish
