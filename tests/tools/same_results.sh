#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# same_results.sh PROGRAM PROGRAM...: all programs, with 1, 2 and 7 threads, write the same content of
# three scenarios, with every decision recorded.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for scenario in quick gang-pods lora-on-one-base; do
    first=
    for program in "$@"; do
        for jobs in 1 2 7; do
            "$program" run "scenarios/$scenario.yaml" --record full --jobs "$jobs" -o "$dir/r.db" >/dev/null
            hash=$("$program" hash "$dir/r.db")
            echo "   $scenario, $program --jobs $jobs: $hash"
            [ -n "$first" ] || first=$hash
            [ "$hash" = "$first" ] || exit 1
        done
    done
done
