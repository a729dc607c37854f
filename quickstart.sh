#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds into build/, runs the central scenario and makes the report.
# Run it again at any time: nothing is installed or built twice.
set -eu
cd "$(dirname "$0")"
. tests/tools/install.sh

# shellcheck disable=SC2086
install_packages $BUILD_PACKAGES $RUN_PACKAGES

if [ ! -f build/build.ninja ]; then
    echo "Configuring build/ (optimised)"
    meson setup build --buildtype=release -Dtests=disabled >build.log 2>&1 || {
        cat build.log >&2
        exit 1
    }
    rm -f build.log
fi
echo "Building"
ninja -C build >build/build.log 2>&1 || {
    tail -n 40 build/build.log >&2
    exit 1
}

scenario=${1:-scenarios/bank-10k.yaml}
echo "Running $scenario: the same demand under every arbiter"
echo
build/fleetsim run "$scenario" -o results.db
build/fleetsim report results.db -o report.html >/dev/null
echo
echo "Figures: $PWD/results.db   (sqlite3 results.db 'SELECT * FROM summary')"
echo "Picture: $PWD/report.html"
