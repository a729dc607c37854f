#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# clang-tidy with .clang-tidy over the program's own code; $1 = a build directory made by clang.
set -u
git ls-files 'sim/*.c' 'models/*.c' 'scenarios/*.c' 'analysis/*.c' 'studies/*.c' 'cli/*.c' 'bench/*.c' |
    xargs -P 2 -n 8 clang-tidy -p "$1" --quiet 2>/dev/null >"$1/tidy.log"
status=$?
grep -E '(warning|error):' "$1/tidy.log" | sort -u | head -n 40
exit $status
