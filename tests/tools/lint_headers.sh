#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every header compiles by itself.
set -u
found=0
for header in $(git ls-files 'sim/*.h' 'models/*.h' 'scenarios/*.h' 'analysis/*.h' 'studies/*.h' 'cli/*.h'); do
    printf '#include "%s"\n' "$header" |
        gcc -std=c17 -D_POSIX_C_SOURCE=200809L -I. -Wall -Wextra -Werror -fsyntax-only -x c - ||
        found=1
done
exit $found
