#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Includes may point only the way that docs/architecture.md draws. Prints what points elsewhere.
set -u
found=0

# allow FOLDER PATTERN: files below FOLDER may include our headers matching PATTERN only.
allow() {
    bad=$(grep -rn -E '^#include "(sim|models|scenarios|analysis|studies|cli|bench|tests)/' "$1" \
        --include='*.c' --include='*.h' | grep -v -E "#include \"($2)")
    if [ -n "$bad" ]; then
        echo "$bad"
        found=1
    fi
}

allow sim 'sim/'
allow models/ledger 'sim/|models/ledger/'
allow models/fleet 'sim/|models/ledger/|models/fleet/'
allow models/demand 'sim/|models/fleet/|models/demand/'
allow models/elastic 'sim/|models/demand/|models/elastic/'
allow models/data 'sim/|models/fleet/|models/data/'
allow models/money 'sim/|models/fleet/|models/ledger/|models/money/'
allow models/policies 'sim/|models/policies/'
allow models/world 'sim/|models/'
allow scenarios 'sim/|models/|scenarios/'
allow analysis 'sim/|analysis/'
allow studies 'sim/|models/|scenarios/|analysis/|studies/'

if grep -n '^#include' models/policies/policy.h | grep -v -E '<(stdint|stddef|stdbool)\.h>'; then
    found=1
fi
missing=$(git ls-files '*.c' '*.h' '*.sh' '*meson.build' | while read -r file; do
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' || echo "$file: no SPDX line"
done)
[ -z "$missing" ] || {
    echo "$missing"
    found=1
}
exit $found
