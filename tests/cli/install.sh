#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What `meson install` puts where; $FLEETSIM_BUILD_ROOT is built already.
. "$(dirname "$0")/tap.sh"

command -v meson >/dev/null || skip_all "needs meson in PATH"
root=$scratch/root
meson install -C "$FLEETSIM_BUILD_ROOT" --no-rebuild --destdir "$root" >"$out" 2>"$err"
status=$?
report $status "meson install --destdir"

# installed NAME PATTERN: exactly one file below the root, in $file.
installed() {
    file=$(find "$root" -path "*/$2")
    [ -f "$file" ]
    report $? "$1"
}

installed "the program" bin/fleetsim
equal "it is the program that was built" "$("$file" --version)" "$("$program" --version)"
installed_program=$file
installed "the catalogue" share/fleetsim/catalogue.csv
cmp -s "$file" "$scenarios/catalogue.csv"
report $? "the catalogue is the one of the source"
installed "completion for bash" share/bash-completion/completions/fleetsim
bash -n "$file" 2>"$err"
report $? "bash reads the completion"
offered() { # WORDS...: what is offered for the last one
    # shellcheck disable=SC2016
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fleetsim; echo "${COMPREPLY[*]}"' - "$completion" "$installed_program" "$@"
}
completion=$file
equal "it offers options that the program has" "$(offered run --manif) $(offered audit --str)" "--manifests --strict"
equal "it offers kinds of import and conform" "$(offered import kueue-w) $(offered conform ham)" "kueue-workloads hami"

installed "a scenario" share/fleetsim/scenarios/quick.yaml
diff -r -x load -x meson.build -x catalogue.csv "$scenarios" "$(dirname "$file")" >"$out" 2>"$err"
report $? "the scenarios and what they read are those of the source"
(cd "$root" && "$installed_program" check "$file") >"$out" 2>"$err"
status=$?
report $status "the installed program reads an installed scenario"

installed "the man page" share/man/man1/fleetsim.1
if command -v man >/dev/null && command -v groff >/dev/null; then
    LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 "$file" >"$out" 2>"$err"
    status=$?
    [ "$status" = 0 ] && [ ! -s "$err" ] && grep -q '^FLEETSIM(1)' "$out"
    report $? "man shows it without a warning"
else
    skip "man shows it without a warning" "no man here"
fi

finish
