#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Output that cannot be written, and runs that are interrupted: status 3 (2 when the target is
# none), nothing half-written, and what was there before stays as it was, to the last byte.
. "$(dirname "$0")/tap.sh"

quick=$scenarios/quick.yaml

run run "$quick" -o results.db --replications 1
cp results.db before.db

# untouched NAME: the database of before is there, byte for byte
untouched() {
    cmp -s results.db before.db
    report $? "$1"
}

run run "$quick" -o missing/results.db
refused "a folder that does not exist" 3 "missing/results.db"
mkdir folder
run run "$quick" -o folder
refused "a folder as output" 2 "folder"
echo "my notes" >notes.txt
run run "$quick" -o notes.txt
refused "a file that is no results database is not overwritten" 2 "notes.txt"
equal "and keeps its content" "$(cat notes.txt)" "my notes"
run run "$quick" -o /dev/full
refused "a device as output" 2 "/dev/full"

mkdir locked
cp before.db locked/results.db
chmod a-w locked
if [ "$(id -u)" != 0 ]; then
    run run "$quick" -o locked/results.db
    refused "a folder without write permission" 3 "locked/results.db"
elif mount -t tmpfs -o size=1M,ro tmpfs locked 2>/dev/null; then
    run run "$quick" -o locked/results.db
    refused "a read-only file system" 3 "locked/results.db"
    umount locked
else
    skip "output that may not be written" "as root, and mounting is not allowed"
fi
chmod u+w locked

# ---- disk full in mid-write ----
# Much to write: series of a month; far more than 1 MiB.
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=1M tmpfs small 2>/dev/null; then
    # shellcheck disable=SC2064
    trap "cd /; umount '$scratch/box/small'; rm -rf '$scratch'" EXIT
    echo 1 >small/other
    (cd small && "$program" run "$quick" --set horizon=28d -o results.db >"$out" 2>"$err")
    status=$?
    [ "$status" = 3 ] && said "results.db" && said "disk is full" && [ "$(ls -A small)" = other ]
    report $? "a full disk: status 3, and no temporary file stays"
    (cd small && "$program" run "$quick" --replications 1 --record summary -o results.db >"$out" 2>"$err")
    if cp small/results.db small.db; then
        (cd small && "$program" run "$quick" --set horizon=28d -o results.db >"$out" 2>"$err")
        status=$?
        [ "$status" = 3 ] && cmp -s small.db small/results.db && [ "$(ls -A small | tr '\n' ' ')" = "other results.db " ]
        report $? "a full disk leaves the earlier database as it was"
    fi
fi
(
    ulimit -f 200 # blocks of 512 or 1024 bytes
    trap '' XFSZ
    run run "$quick" --set horizon=28d -o results.db
    exit "$status"
)
status=$?
files_before='' files_after=''
refused "a file that may not grow: status 3" 3 "results.db"
untouched "and the earlier database is as it was"
[ -z "$(ls -A | grep -v -x -e results.db -e before.db -e folder -e locked -e notes.txt -e small -e small.db)" ]
report $? "and no temporary file stays"
"$program" run "$quick" --replications 1 -o results.db >/dev/full 2>"$err"
status=$?
[ "$status" = 3 ] && said "cannot write the output"
report $? "a table that cannot be printed: status 3"
for command in "check $quick" "check --print $quick" "hash results.db" "audit results.db" "--version" "--help"; do
    # shellcheck disable=SC2086
    "$program" $command >/dev/full 2>"$err"
    [ $? = 3 ] && said "cannot write the output"
    report $? "$command: what cannot be printed is status 3"
done
cp results.db before.db

# ---- interrupted ----
# Many long runs, so that some are over and some are not when the signal comes.
interrupt() { # SIGNAL; once more, later, where no run was over when it came
    for pause in 2 6 20; do
        "$program" run "$quick" --set horizon=20d --replications 600 -j 2 -o results.db >"$out" 2>"$err" &
        pid=$!
        sleep $pause
        kill -"$1" $pid
        wait $pid
        status=$?
        [ ! -s results.partial.db ] || break
    done
}
rm -f ./*.partial.db
interrupt INT
[ "$status" = 130 ] && said "interrupted"
report $? "SIGINT: status 130, and a word about it"
untouched "the earlier database is as it was"
[ -s results.partial.db ] && said "results.partial.db"
report $? "finished runs are kept as results.partial.db, and the message names it"
runs=$(query results.partial.db 'SELECT count(*) FROM run')
[ "$runs" -ge 1 ] && [ "$runs" -lt 2400 ]
report $? "some of the 2400 runs are in it"
equal "each with all its figures" "$(query results.partial.db \
    "SELECT count(*) FROM run WHERE run NOT IN (SELECT run FROM metric WHERE name = 'utilization.real')
                                AND preset <> 'managed'")" 0
equal "the kept database is sound" "$(query results.partial.db 'PRAGMA integrity_check')" ok
equal "and is read like any other" "$(query results.partial.db \
    "SELECT count(*) > 0 FROM summary WHERE metric = 'demand.offered'")" 1
equal "no temporary file stays" "$(ls -A | grep -c -e tmp -e journal -e '\.[0-9][0-9]*$')" 0
rm -f results.partial.db
interrupt TERM
[ -s results.partial.db ]
report $? "SIGTERM keeps the finished runs too"
untouched "and the earlier database"

finish
