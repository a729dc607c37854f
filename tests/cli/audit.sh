#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fleetsim audit: status, formats, and databases that cannot answer. The rows are written by hand.
. "$(dirname "$0")/tap.sh"

run run "$scenarios/quick.yaml" -o quick.db --set replications=1
[ "$status" = 0 ]
report $? "a database to begin with"
run_id=$(query quick.db "SELECT run FROM run WHERE arbiter = 'pools'")

# nobody shares: only whole cards
cp quick.db whole.db
query whole.db "DELETE FROM sharing; DELETE FROM tenant; DELETE FROM incident; DELETE FROM sharing_pool;
    INSERT INTO tenant VALUES ($run_id, 'chat', 'service', 'serving', 'hardware', 'PCI-DSS');
    INSERT INTO sharing_pool VALUES ($run_id, 'h100', 'H100', 'whole', 'exclusive', 32, 20, 10.0, 1.0, 0.0, 0, 0)"
run audit whole.db --strict
[ "$status" = 0 ] && grep -q 'nobody shared a card' "$out" && grep -q 'no findings' "$out"
report $? "nobody shared a card: said so, status 0 with --strict too"
grep -q 'chat requires hardware isolation (PCI-DSS) and shared no card' "$out"
report $? "what a tenant requires and had is said as well"

# chat shares without what it requires
cp whole.db shared.db
query shared.db "INSERT INTO tenant VALUES ($run_id, 'tuning', 'jobs', 'tuning', 'none', NULL);
    INSERT INTO sharing VALUES ($run_id, 'h100', 3, 1, 'mps', 'software', 'chat', 'tuning', 0.0, 7200.0, 5400.0, 2)"
run audit shared.db
[ "$status" = 0 ] && grep -q '1 finding' "$out"
report $? "a finding without --strict: status 0"
run audit shared.db --strict
[ "$status" = 1 ] && tr -s ' \n' ' ' <"$out" | grep -q 'chat requires hardware isolation (PCI-DSS), but shared 1 card of h100 under mps (software) for 1.50 card-hours: with tuning 1.50 h on 1 card. Cards (node/card): 3/1'
report $? "--strict: status 1; tenant, card, mechanism and hours are named"
run audit shared.db --strict --tenant tuning
[ "$status" = 0 ]
report $? "--tenant: the neighbour has no finding"
run audit shared.db --strict --format json
[ "$status" = 1 ] && [ "$(sqlite3 :memory: "SELECT json_extract(readfile('$out'), '\$.findings')")" = 1 ]
report $? "--format json, and its status is the same"
run audit shared.db --format csv
[ "$status" = 0 ] && [ "$(sed -n 2p "$out")" = pools,h100,3,1,mps,software,chat,tuning,0,7200,1.5,2,hardware,none,1 ]
report $? "--format csv: a row per card and pair"

# adapters on one base model share a card that its pool gives out whole
cp whole.db base.db
query base.db "UPDATE sharing_pool SET isolation = 'none', shared_card_s = 60;
    INSERT INTO sharing VALUES ($run_id, 'h100', 0, 0, 'lora-base', 'none', 'a', 'b', 0.0, 60.0, 60.0, 1)"
run audit base.db --arbiter pools
[ "$status" = 0 ] && grep -q 'h100 *H100 *lora-base *none' "$out"
report $? "a pool is named by what shares its cards"

# bad input
run audit shared.db --arbiter chort
[ "$status" = 2 ] && said "no arbiter 'chort'; did you mean 'cohort'?"
report $? "an arbiter that is not there: the nearest, status 2"
run audit shared.db --tenant chta
[ "$status" = 2 ] && said "no tenant 'chta'; did you mean 'chat'?"
report $? "a tenant that is not there: the nearest, status 2"
run audit shared.db shared.db
[ "$status" = 2 ] && said "one database at a time"
report $? "two databases"
run audit
[ "$status" = 2 ] && said "expected a results database"
report $? "none"
cp shared.db old.db
query old.db "DROP TABLE tenant; DROP TABLE sharing_pool"
run audit old.db
[ "$status" = 2 ] && [ ! -s "$out" ] && said "before fleetsim recorded who shares a card"
report $? "a database from before these tables: said so, status 2"
query shared.db "DELETE FROM tenant; DELETE FROM sharing; UPDATE sharing_pool SET shared_card_s = 5400"
run audit shared.db
[ "$status" = 2 ] && said "run the scenario again with --record series"
report $? "a database that names nobody (summary): how to get names, status 2"

finish
