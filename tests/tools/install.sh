# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by quickstart.sh and test.sh. install_packages NAME... installs what is missing of these
# Debian packages: says what it will do, is silent and needs no network when nothing is missing.

package_missing() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" != installed ]
}

install_packages() {
    missing=
    for package in "$@"; do
        if package_missing "$package"; then
            missing="$missing $package"
        fi
    done
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif command -v sudo >/dev/null 2>&1; then
        as_root=sudo
    else
        echo "$0: these Debian packages are missing and neither root nor sudo is at hand:$missing" >&2
        return 1
    fi
    echo "Installing from Debian:$missing"
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get update -qq >/dev/null || return 1
    # shellcheck disable=SC2086
    $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null || {
        echo "$0: apt-get could not install:$missing" >&2
        return 1
    }
}

BUILD_PACKAGES="gcc libc6-dev meson ninja-build pkg-config libgsl-dev libcjson-dev libyaml-dev
    libsqlite3-dev zlib1g-dev libzstd-dev librandom123-dev"
RUN_PACKAGES="gnuplot-nox fonts-dejavu-core"
TEST_PACKAGES="clang clang-tidy cppcheck libclang-rt-14-dev libcmocka-dev sqlite3 zstd gzip git
    libxml2-utils procps"
