#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Gangs with and without network locality: the shipped scenario shows a difference on Ethernet and hardly
# any on a fast fabric. Bounds are the formulas of workload-models 4.3 at the best and the worst place.
. "$(dirname "$0")/tap.sh"

between() { # TEXT VALUE LOW HIGH
    query check.db "SELECT CASE WHEN '$2' <> '' AND $2 >= $3 AND $2 <= $4 THEN 0 ELSE 1 END" >verdict
    [ "$(cat verdict)" = 0 ]
    report $? "$1 ($2)"
}
speed() { # DATABASE ARBITER POOL
    query "$1" "SELECT mean FROM summary_by WHERE arbiter = '$2' AND scope = '$3' AND metric = 'training.gang_speed'"
}
figure() { # ARBITER METRIC
    query net.db "SELECT mean FROM summary WHERE arbiter = '$1' AND metric = '$2'"
}

run run "$scenarios/gang-locality.yaml" -o net.db
[ "$status" = 0 ] && [ ! -s "$err" ]
report $? "the scenario runs, without a warning"
grep -q 'gang speed, %' "$out" && grep -q 'lost to network, card-h' "$out"
report $? "the difference is printed"
cp net.db check.db

for arbiter in binpack spread local; do
    # 4 cards on one node; 16 cards across racks.
    between "$arbiter: gangs on Ethernet are as fast as the formula lets them" "$(speed net.db $arbiter ethernet)" 0.3620 0.9935
    # 16 cards in a block; 64 cards across blocks.
    between "$arbiter: gangs on the fabric, too" "$(speed net.db $arbiter fabric)" 0.9559 0.9926
    # 512 cards for 7 days, four times.
    equal "$arbiter: the ledger closes" "$(query net.db "SELECT sum(card_s) + sum(rest_mcns) / 1000000000000 FROM ledger JOIN run USING (run)
        WHERE arbiter = '$arbiter'")" "$((512 * 7 * 86400 * 4))"
    equal "$arbiter: what gangs lost is sharing_overhead" "$(query net.db "SELECT abs(l.h - m.h) < 0.001 FROM
        (SELECT sum(card_h) AS h FROM card_hours WHERE arbiter = '$arbiter' AND bucket = 'sharing_overhead') AS l,
        (SELECT sum(value) AS h FROM metric JOIN run USING (run) WHERE arbiter = '$arbiter' AND scope_kind = 'all'
         AND name = 'training.network_loss') AS m")" 1
done
faster() { # ARBITER POOL: how many points local is ahead, as a fraction
    query net.db "SELECT $(speed net.db local "$2") - $(speed net.db "$1" "$2")"
}
for arbiter in binpack spread; do
    between "Ethernet: locality is ahead of $arbiter" "$(faster $arbiter ethernet)" 0.3 0.63
    between "fabric: by little" "$(faster $arbiter fabric)" 0 0.03
    between "and fewer gangs are torn than under $arbiter" \
        "$(query net.db "SELECT $(figure $arbiter training.across_domains) - $(figure local training.across_domains)")" 0.5 1
    between "the work is done with fewer cards than under $arbiter" \
        "$(query net.db "SELECT $(figure $arbiter utilization.allocated) - $(figure local utilization.allocated)")" 0.1 1
    between "no less of it" \
        "$(query net.db "SELECT $(figure local utilization.useful) - $(figure $arbiter utilization.useful)")" 0 1
done

# ---- full bisection: leaving a rack costs nothing, several nodes still do ----
run check "$scenarios/gang-locality.yaml" --set 'fleet.nodePools[*].network.domains[*].oversubscription=1'
[ "$status" = 0 ] && grep -q 'gang-locality.yaml:[0-9]*:[0-9]*: warning: .*no level has an oversubscription above 1' "$err"
report $? "check warns that no domain is worth keeping to"
run run "$scenarios/gang-locality.yaml" --set 'fleet.nodePools[*].network.domains[*].oversubscription=1' -o flat.db
for arbiter in binpack spread local; do
    # 4 cards on one node; 16 cards on several.
    between "$arbiter, full bisection: the worst place is several nodes" "$(speed flat.db $arbiter ethernet)" 0.8198 0.9935
done

# ---- no model: no difference, and no figure ----
run run "$scenarios/gang-locality.yaml" --set 'demand.training[0].communication.model=none' \
    --set 'demand.training[2].communication.model=none' -o none.db
[ "$status" = 0 ] && ! grep -q 'gang speed' "$out"
report $? "without a communication model nothing is said of gang speed"
equal "and nothing is lost" "$(query none.db "SELECT count(*) FROM ledger WHERE bucket = 'sharing_overhead'")" 0
finish
