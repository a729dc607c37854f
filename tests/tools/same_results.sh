#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# same_results.sh PROGRAM PROGRAM...: all programs, with 1, 2 and 7 threads, write the same content.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
first=
for program in "$@"; do
    for jobs in 1 2 7; do
        "$program" run scenarios/quick.yaml --jobs "$jobs" -o "$dir/r.db" >/dev/null
        hash=$("$program" hash "$dir/r.db")
        echo "   $program --jobs $jobs: $hash"
        [ -n "$first" ] || first=$hash
        [ "$hash" = "$first" ] || exit 1
    done
done
