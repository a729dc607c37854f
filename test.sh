#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what the tests need, builds with gcc and clang (warnings are errors) and runs everything:
#   gcc    -O3: unit, reference, theory and end-to-end tests
#   clang  -O0: the same tests
#   same   gcc -O3, gcc -O0, clang -O0, 1, 2, 7 threads: the same results to the last bit
#   asan   clang with address and undefined-behaviour sanitizers, and a short fuzz of every parser
#   lint   include arrows, cppcheck, clang-tidy
# Stages can be named: ./test.sh gcc lint. FUZZ_SECONDS (default 5) is the time per fuzz target.
# The last line is "N passed, N failed".
set -u
cd "$(dirname "$0")" || exit 1
. tests/tools/install.sh
. tests/tools/stages.sh

# shellcheck disable=SC2086
install_packages $BUILD_PACKAGES $RUN_PACKAGES $TEST_PACKAGES || exit 1

passed=0
failed=0
for stage in ${*:-gcc clang same asan fuzz lint}; do
    echo "== $stage"
    "stage_$stage"
done
echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
