#!/usr/bin/env bash
# Installs the .debs into a new Debian, runs the main job and the module of MPI there, builds a program
# with find_package, removes all, and looks for what is left.
#
#   clean_root.sh BUILD_FOLDER
#
# Needs root, debootstrap, mounts of its own, and the package sources of this machine; else 77.
set -uo pipefail
build=$1
skip() { echo "skipped: $*" >&2; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }

if [ "${2:-}" != in_own_mounts ]; then
    [ "$(id -u)" -eq 0 ] || skip "not root"
    command -v debootstrap >/dev/null || skip "debootstrap is not installed"
    unshare --mount --pid --fork true 2>/dev/null || skip "no mounts of its own"
    exec unshare --mount --pid --fork "$0" "$build" in_own_mounts
fi

folder=$(mktemp -d)
trap 'umount -l "$folder/root/proc" 2>/dev/null; rm -rf --one-file-system "$folder"' EXIT
root=$folder/root
cmake --build "$build" --target packages >"$folder/made" 2>&1 || { cat "$folder/made"; fail "making packages"; }

# From where this machine has its own packages.
read -r source suite < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' \
    'Created-By: Packages' 'Component: main' | grep -vE -- '-(updates|security|backports)$' | head -n 1)
[ -n "${suite:-}" ] || skip "apt knows no package source"
debootstrap --variant=minbase "$suite" "$root" "$source" >"$folder/talk" 2>&1 || {
    tail -n 3 "$folder/talk" >&2
    skip "debootstrap cannot make a new $suite"
}
mount -t proc proc "$root/proc" || skip "no /proc there"
echo "127.0.0.1 localhost" >"$root/etc/hosts"
cp "$build"/packages/*.deb "$root/"
apt() { chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get -qy -o APT::Install-Recommends=false "$@" \
    >"$folder/talk" 2>&1 || { tail -n 20 "$folder/talk" >&2; fail "apt-get $*"; }; }
# What is there, but for what dpkg, apt and adduser (of packages that ours need) keep of their own work.
files() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/lib/dpkg -o -path ./var/lib/apt \
    -o -path ./var/cache -o -path ./var/log -o -path ./run -o -path "./etc/*-" -o -path ./etc/ld.so.cache \) -prune -o -print | sort); }
# Without what this machine says of itself, such as compilers' launchers.
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }

files >"$folder/before"
cd "$root"
shopt -s nullglob
apt install ./trainyard_*.deb
inside trainyard simulate /usr/share/trainyard/scenarios/llama3-8b-h100-8.json >"$folder/job" ||
    fail "the main job"
grep -q "Step time" "$folder/job" || fail "the main job says no step time"
inside sh -c 'cd /usr/share/trainyard/scenarios && trainyard simulate llama3-70b-h100-64.json --json' \
    >"$folder/job" || fail "a job of that folder"
for part in mpi measure gui; do
    debs=(./trainyard-"$part"_*.deb)
    [ ${#debs[@]} -eq 0 ] || apt install "${debs[@]}"
done
inside trainyard calibrate --backend gloo -n 2 --quick --trials 3 --max-size 4KiB --only all_reduce \
    >"$folder/measured" 2>&1 || { cat "$folder/measured"; fail "measuring over Gloo"; }
if [ -e usr/bin/trainyard-gui ]; then
    inside trainyard gui /usr/share/trainyard/scenarios/llama3-8b-h100-8.json --screenshot /tmp/window.png \
        >"$folder/window" 2>&1 || { cat "$folder/window"; fail "a picture of the window"; }
fi
if [ -z "${TRAINYARD_WITHOUT_DEV:-}" ]; then
    apt install ./trainyard-dev_*.deb g++ cmake make
    mkdir -p tmp/user
    cat >tmp/user/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(trainyard REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE trainyard::base)
END
    cat >tmp/user/user.cpp <<'END'
#include "sim/base/build_info.h"
#include <iostream>
int main()
{
    std::cout << trainyard::version() << '\n';
    return exists(trainyard::data_dir() / "scenarios") ? 0 : 1;
}
END
    inside sh -c 'cmake -S /tmp/user -B /tmp/user/build && cmake --build /tmp/user/build && /tmp/user/build/user' \
        >"$folder/user" 2>&1 || { cat "$folder/user"; fail "a program with find_package"; }
    inside trainyard --version | cmp - <(tail -n 1 "$folder/user") || fail "the library has another version"
fi

apt purge 'trainyard*' 'g++' cmake make
apt autoremove --purge

rm -rf tmp/* ./*.deb
files >"$folder/after"
grep trainyard "$folder/after" && fail "files of ours are left"
comm -13 <(grep -v '\.deb$' "$folder/before") "$folder/after" >"$folder/left"
echo "left: $(wc -l <"$folder/left") files"
head -n 20 "$folder/left"
[ ! -s "$folder/left" ] || fail "files are left"
