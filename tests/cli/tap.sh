# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# Sourced by the end-to-end tests: TAP, an empty directory to work in, and what they often ask.
# The script's first argument is the program.
set -u
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
second=${2:+$(cd "$(dirname "$2")" && pwd)/$(basename "$2")} # another file that it was given
source_root=${FLEETSIM_SOURCE_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
shared=${FLEETSIM_SHARED:-$source_root/../shared}
scenarios=$source_root/scenarios
# `small` for a build that is several times slower (sanitizers); the full size runs in the others.
test_size=${FLEETSIM_TEST_SIZE:-full}
scratch=$(mktemp -d)
clean_up() {
    cd /
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
mkdir "$scratch/box"
cd "$scratch/box" || exit 1
out=$scratch/out     # standard output of the last run
err=$scratch/err     # standard error
status=              # exit status
tests=0
failures=0

# report STATUS NAME: one TAP line; when it is not ok, also what the program said.
report() {
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
        return 0
    fi
    failures=$((failures + 1))
    echo "not ok $tests - $2"
    echo "# exit status $status"
    for shown in "$err" "$out"; do
        [ ! -s "$shown" ] || head -n 12 "$shown" | cut -c1-300 | sed "s|^|# $(basename "$shown"): |"
    done
}

skip() { # NAME REASON
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $2"
}

skip_all() { # REASON
    echo "1..0 # SKIP $1"
    exit 0
}

finish() {
    echo "1..$tests"
    [ "$failures" -eq 0 ]
    exit
}

run() { # ARGUMENTS...
    files_before=$(ls -A)
    "$program" "$@" >"$out" 2>"$err"
    status=$?
    files_after=$(ls -A)
}

said() { # TEXT: standard error contains it
    grep -q -F -e "$1" "$err"
}

query() { # DATABASE SQL
    sqlite3 -batch -noheader "$1" "$2"
}

# equal NAME GOT WANTED
equal() {
    [ "$2" = "$3" ]
    equal_status=$?
    [ "$equal_status" -eq 0 ] || echo "# got '$2', expected '$3'"
    report "$equal_status" "$1"
}

# near NAME GOT WANTED TOLERANCE: numbers; the tolerance is absolute
near() {
    awk -v g="$2" -v w="$3" -v t="$4" 'BEGIN { exit !(g != "" && g - w <= t && w - g <= t) }'
    near_status=$?
    [ "$near_status" -eq 0 ] || echo "# got '$2', expected '$3' within $4"
    report "$near_status" "$1"
}

# refused NAME STATUS TEXT: the last run ended with this status, said this on standard error and
# nothing on standard output, and left no file that was not there before.
refused() {
    [ "$status" = "$2" ] && said "$3" && [ ! -s "$out" ] && [ "$files_after" = "$files_before" ]
    report $? "$1"
}

# cpu_seconds: sets $cpu to the whole seconds of processor time that this (sub)shell's programs took.
# Not for use in $(...), which is a subshell of its own.
cpu_seconds() {
    times >"$scratch/times"
    cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); s += t[1] * 60 + t[2] }; printf "%d", s }' "$scratch/times")
}

# memory_limit KB: from here on, where the program can start at all so (not under a sanitizer, whose
# shadow memory is larger).
memory_limit() {
    # The inner shell is told of a crash, not this one.
    if sh -c "ulimit -v $1 && exec \"$program\" --version" >/dev/null 2>&1; then
        ulimit -v "$1"
    else
        echo "# no limit of memory here: the program does not start with it (a sanitizer)"
    fi
}
