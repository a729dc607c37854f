#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# clang-tidy with .clang-tidy over the program's own code; $1 = a build directory configured with clang.
# One file a run: its va_list checker carries state from one file over to the next. TIDY_NODES is how many
# states of a function the analyzer looks at; its own default, 225000, takes four times as long.
set -u
git ls-files 'sim/*.c' 'models/*.c' 'scenarios/*.c' 'analysis/*.c' 'studies/*.c' 'cli/*.c' 'bench/*.c' |
    xargs -P 2 -n 1 clang-tidy -p "$1" --quiet --extra-arg=-Xclang --extra-arg=-analyzer-config \
        --extra-arg=-Xclang --extra-arg="max-nodes=${TIDY_NODES:-50000}" >"$1/tidy.log" 2>"$1/tidy.err"
status=$?
grep -a -E '(warning|error):' "$1/tidy.log" | sort -u | head -n 40
# Without a finding to show, what it said itself (no compile command, a crash).
[ "$status" -eq 0 ] || grep -a -q -E '(warning|error):' "$1/tidy.log" || tail -n 5 "$1/tidy.err"
exit $status
