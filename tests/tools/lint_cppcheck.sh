#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# cppcheck over the program's own code (tests and generated files aside).
exec cppcheck --enable=warning,portability,performance --std=c17 --quiet --error-exitcode=1 -j 2 \
    --library=tests/tools/cppcheck.cfg --suppress=missingIncludeSystem --inline-suppr -I. -D__GNUC__ -DFLEETSIM_VERSION='""' \
    sim models scenarios/load analysis studies cli bench
