# SPDX-License-Identifier: GPL-3.0-or-later
# The stages of test.sh. Each adds to $passed and $failed and says what failed.

FUZZ_SECONDS=${FUZZ_SECONDS:-5}

count() { # count PASSED FAILED
    passed=$((passed + $1))
    failed=$((failed + $2))
    echo "   $1 passed, $2 failed"
}

# build DIR COMPILER MESON_OPTIONS...: configures once, builds ($only, where set; else all); on failure
# shows the end of the log.
only=
build() {
    dir=$1
    compiler=$2
    shift 2
    if [ ! -f "$dir/build.ninja" ]; then
        CC=$compiler meson setup "$dir" --werror "$@" >"$dir.log" 2>&1 || {
            tail -n 30 "$dir.log"
            rm -rf "$dir"
            return 1
        }
        rm -f "$dir.log"
    fi
    # shellcheck disable=SC2086
    ninja -C "$dir" $only >"$dir/build.log" 2>&1 || {
        grep -E -A4 'error|warning|FAILED' "$dir/build.log" | head -n 60
        return 1
    }
}

# Counts the subtests of all test programs; a program that failed without naming one counts as one.
run_meson_tests() {
    dir=$1
    shift
    meson test -C "$dir" --no-rebuild --print-errorlogs "$@" >"$dir/test.out" 2>&1
    status=$?
    log=$dir/meson-logs/testlog.txt
    good=$(grep -c -E '^ok ' "$log")
    bad=$(grep -c -E '^not ok ' "$log")
    if [ "$status" -ne 0 ]; then
        grep -E '(FAIL|ERROR|TIMEOUT|not ok)' "$dir/test.out" | head -n 40
        [ "$bad" -gt 0 ] || bad=1
    fi
    grep -E '^ok .*# SKIP' "$log" | sed 's/^/   /' | sort | uniq -c | sort -rn | head -n 20
    count "$good" "$bad"
}

stage_gcc() {
    build build-gcc gcc --buildtype=release -Db_ndebug=false || {
        count 0 1
        return
    }
    run_meson_tests build-gcc
}

stage_clang() {
    build build-clang clang --buildtype=debug || {
        count 0 1
        return
    }
    run_meson_tests build-clang --timeout-multiplier 4
}

# Neither the compiler nor its optimisation may show; gcc -O0 tells which of them did.
stage_same() {
    only=fleetsim
    if build build-gcc-O0 gcc --buildtype=debug &&
        tests/tools/same_results.sh build-gcc/fleetsim build-clang/fleetsim build-gcc-O0/fleetsim; then
        count 1 0
    else
        count 0 1
    fi
    only=
}

stage_asan() {
    build build-asan clang --buildtype=debugoptimized -Db_sanitize=address,undefined \
        -Db_lundef=false -Dfuzz=true -Dc_args=-fsanitize=fuzzer-no-link || {
        count 0 1
        return
    }
    FLEETSIM_TEST_SIZE=small ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        run_meson_tests build-asan --timeout-multiplier 6
}

stage_fuzz() {
    good=0
    bad=0
    for target in build-asan/tests/fuzz/*_fuzz; do
        [ -x "$target" ] || continue
        name=$(basename "$target")
        corpus=tests/fuzz/corpus/${name%_fuzz}
        mkdir -p "build-asan/corpus/$name"
        seeds=
        [ -d "$corpus" ] && seeds=$corpus
        # shellcheck disable=SC2086
        if "$target" -max_total_time="$FUZZ_SECONDS" -rss_limit_mb=2048 -timeout=10 -verbosity=0 \
            -artifact_prefix=build-asan/ "build-asan/corpus/$name" $seeds >"build-asan/$name.log" 2>&1; then
            good=$((good + 1))
        else
            echo "   $name:"
            tail -n 15 "build-asan/$name.log"
            bad=$((bad + 1))
        fi
    done
    count "$good" "$bad"
}

stage_lint() {
    good=0
    bad=0
    for check in arrows headers cppcheck tidy; do
        if "tests/tools/lint_$check.sh" build-clang; then
            good=$((good + 1))
        else
            echo "   $check found something"
            bad=$((bad + 1))
        fi
    done
    count "$good" "$bad"
}
