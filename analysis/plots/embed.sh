#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Turns plot templates into a C file: one array of lines each. Usage: embed.sh FILE.gp...
set -eu
echo '/* generated from analysis/plots by embed.sh */'
echo '#include <stddef.h>'
echo '#include "analysis/plots/plots.h"'
for file in "$@"; do
    name=$(basename "$file" .gp)
    echo "static const char *const ${name}_lines[] = {"
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/    "/' -e 's/$/\\n",/' "$file"
    echo '    NULL};'
done
echo 'const struct plot_template plot_templates[] = {'
for file in "$@"; do
    name=$(basename "$file" .gp)
    echo "    {\"$name\", ${name}_lines},"
done
echo '    {NULL, NULL}};'
