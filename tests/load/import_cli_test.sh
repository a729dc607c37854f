#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fleetsim import as a person calls it: exit status, what is said, what is left behind.
# usage: import_cli_test.sh PATH-OF-FLEETSIM   (samples under $FLEETSIM_SOURCE_ROOT/scenarios/samples)
fleetsim=$1
samples=${FLEETSIM_SOURCE_ROOT:-.}/scenarios/samples
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n=0

# expect NAME STATUS PATTERN COMMAND...: the status, and the pattern in stdout or stderr
expect() {
    name=$1 status=$2 pattern=$3
    shift 3
    n=$((n + 1))
    "$@" >"$work/said" 2>&1
    got=$?
    if [ "$got" = "$status" ] && grep -q -e "$pattern" "$work/said"; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        echo "# status $got, expected $status; expected '$pattern' in:"
        sed 's/^/#   /' "$work/said"
    fi
}

out=$work/out.csv
expect "help has an example" 0 'example:' "$fleetsim" import --help
expect "the list names the kinds" 0 '^genai-lora ' "$fleetsim" import --list
expect "a philly sample" 0 '^rows used  *60$' "$fleetsim" import philly "$samples/philly-like.csv" -o "$out"
expect "the output names its source" 0 'philly-like.csv' grep '^# source' "$out"
expect "an azure sample" 0 '^requests  *80$' "$fleetsim" import azure-llm "$samples/azure-like.csv" -o "$out"
expect "two servegen samples" 0 '3 clients, token lengths known for 2' \
    "$fleetsim" import servegen "$samples/servegen-like_client_rates.csv" \
    "$samples/servegen-like_client_lengths.csv" -o "$out"
expect "a genai sample" 0 'never_started  *1 (line 19)' \
    "$fleetsim" import genai-lora "$samples/genai-like.csv" -o "$out"
expect "an openb sample" 0 'zero_gpus  *4 ' "$fleetsim" import openb "$samples/openb-like.csv" -o "$out"
expect "a csv with a map" 0 '^card hours  *56.21$' \
    "$fleetsim" import csv "$samples/cluster-export.csv" --map 'submit=Submitted At' -o "$out"
expect "auto finds the kind" 0 'looks like: openb' \
    "$fleetsim" import auto "$samples/openb-like.csv" -o "$out"
expect "the rows on standard output" 0 '^submit_s,duration_s' \
    "$fleetsim" import philly "$samples/philly-like.csv" -o -

gzip -c "$samples/philly-like.csv" >"$work/p.gz"
expect "gzip by its first bytes" 0 '^rows used  *60$' "$fleetsim" import philly "$work/p.gz" -o "$out"
expect "standard input" 0 '^rows used  *60$' \
    sh -c "cat '$work/p.gz' | '$fleetsim' import philly - -o '$out'"
cp "$out" "$work/kept"
head -c 600 "$work/p.gz" >"$work/cut.gz"
expect "gzip cut short" 2 'truncated: the gzip data ends' "$fleetsim" import philly "$work/cut.gz" -o "$out"
expect "an older output stays" 0 same sh -c "cmp '$work/kept' '$out' && echo same"

expect "no kind" 2 'expected KIND' "$fleetsim" import
expect "an unknown kind" 2 'did you mean philly' "$fleetsim" import phily x -o "$out"
expect "an unknown option" 2 'did you mean --window' "$fleetsim" import philly x --widnow 7d -o "$out"
expect "no output" 2 'expected -o OUT' "$fleetsim" import philly "$samples/philly-like.csv"
expect "a missing file" 2 'No such file' "$fleetsim" import philly "$work/none.csv" -o "$out"
expect "a directory" 2 'is a directory' "$fleetsim" import philly "$work" -o "$out"
: >"$work/empty.csv"
expect "an empty file" 2 'empty file' "$fleetsim" import philly "$work/empty.csv" -o "$out"
head -c 3000 "$fleetsim" >"$work/binary"
expect "a binary file" 2 'a NUL byte: this is a binary file' "$fleetsim" import philly "$work/binary" -o "$out"
truncate -s 1G "$work/sparse"
expect "a sparse gibibyte" 2 'line longer than' "$fleetsim" import philly "$work/sparse" -o "$out"
printf 'submit,duration,gpus\n0,1,1\n1,nan,1\n' >"$work/bad.csv"
expect "a bad row" 2 "bad.csv:3:3: duration: expected a duration or an end, got 'nan'" \
    "$fleetsim" import csv "$work/bad.csv" -o "$out"
expect "a bad row tolerated" 0 'no_duration  *1 (line 3)' \
    "$fleetsim" import csv "$work/bad.csv" --skip-bad 1 -o "$out"
expect "an output that cannot be created" 3 'cannot create' \
    "$fleetsim" import csv "$samples/philly-like.csv" -o "$work/none/out.csv"
if [ -w /dev/full ]; then
    expect "a full disk" 3 'No space left' "$fleetsim" import philly "$samples/philly-like.csv" -o /dev/full
fi
n=$((n + 1))
if ls "$work" | grep -q partial; then
    echo "not ok $n - nothing half-written is left"
else
    echo "ok $n - nothing half-written is left"
fi
echo "1..$n"
