#!/usr/bin/env bash
# What `cmake --install` and the packages hold, and that they run elsewhere.
#
#   contents.sh BUILD_FOLDER SOURCE_TREE CASE      CASE: one of those at the end
set -uo pipefail
build=$1
tree=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
fail() { echo "FAILED: $*" >&2; exit 1; }

job=scenarios/llama3-8b-h100-8.json
# With nothing of this machine's surroundings.
bare() { env -i PATH=/usr/bin:/bin "$@"; }

but_times() { grep -v '"wall_ms"'; }

# runs PREFIX: the program there answers as that of the build, from its own data.
runs() {
    bare "$1/bin/trainyard" simulate "$1/share/trainyard/$job" --json 2>talk | but_times >here.json
    bare "$build/bin/trainyard" simulate "$tree/$job" --json | but_times >there.json
    grep -q '"step_time' there.json || fail "the program of the build"
    cmp here.json there.json || { cat talk; fail "another answer"; }
}

# complete PREFIX: data, manual and completion are all there, and tell nothing of this machine.
complete() {
    local data command missing
    for data in scenarios topologies calibrate/profiles calibrate/accuracy calibrate/reference; do
        diff -r "$tree/$data" "$1/share/trainyard/$data" || fail "$data is not as in the source tree"
    done
    [ -x "$1/share/trainyard/scenarios/slurm/plan.sh" ] || fail "plan.sh cannot be run"
    missing=$(comm -23 <("$build/bin/trainyard" --help | sed -n '/^Subcommands/,$s/^  \([a-z]\+\) .*/trainyard-\1.1.gz/p' | sort) \
        <(ls "$1/share/man/man1" | sort))
    [ -z "$missing" ] || [ "$missing" = "${2:-}" ] || fail "no manual page: $missing"
    for command in "$1"/share/man/man1/*.1.gz; do
        # There, for one page may stand for another.
        (cd "$1/share/man" && MANROFFSEQ='' LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 "$command") \
            >page 2>warnings || fail "man $command"
        [ ! -s warnings ] || { cat warnings; fail "$command"; }
    done
    bash -n "$1/share/bash-completion/completions/trainyard" || fail "completion in bash"
    cmp "$1/share/zsh/vendor-completions/_trainyard" <("$build/bin/trainyard" completion zsh) || fail "completion in zsh"
    [ -s "$1/share/fish/vendor_completions.d/trainyard.fish" ] || fail "completion in fish"
    clean "$1"
}

# clean PREFIX: names no folder of the build, and needs no sanitizer.
clean() {
    grep -rlaF -e "$tree" -e "$build" "$1" && fail "these name the folder of the build"
    local file
    for file in "$1"/bin/* "$1"/lib/trainyard/*.so; do
        [ ! -e "$file" ] || ! readelf -d "$file" | grep -E 'NEEDED.*lib(a|t|ub)san|RUNPATH|RPATH' || fail "$file"
    done
    return 0
}

newest_version() { sed -n 's/^## \[\([^]]*\)\].*/\1/p' "$tree/CHANGELOG.md" | head -n 1; }

case $3 in
    install)
        cmake --install "$build" --prefix "$folder/first" >talk || { cat talk; fail "cmake --install"; }
        mv first moved
        runs "$folder/moved"
        complete "$folder/moved"
        [ -e moved/lib/cmake/trainyard/trainyard-config.cmake ] || [ -n "$(find moved -name trainyard-config.cmake)" ] ||
            fail "no CMake package"
        [ "$(bare moved/bin/trainyard --version)" = "$(newest_version)" ] ||
            fail "CHANGELOG.md begins with another version"
        ;;
    tarball)
        cmake --build "$build" --target portable >talk 2>&1 || { cat talk; fail "building what the tarball needs"; }
        cpack --config "$build/CPackConfig.cmake" -G TGZ -B "$folder/made" >talk 2>&1 || { cat talk; fail "cpack"; }
        tar xf made/trainyard-*.tar.gz
        mv trainyard-"$(newest_version)"-* unpacked || fail "the name of the folder in it"
        runs "$folder/unpacked"
        complete "$folder/unpacked" trainyard-gui.1.gz # the window is no part of it
        [ -s unpacked/share/doc/trainyard/copyright ] || fail "no copyright"
        ldd unpacked/bin/trainyard | grep -vE 'linux-vdso|lib(c|m)\.so|ld-linux' >needed
        [ ! -s needed ] || { cat needed; fail "it needs other libraries"; }
        ;;
    deb | debs)
        only=()
        [ "$3" = debs ] || only=(-D "CPACK_TRAINYARD_DEBIAN_COMPONENTS=data;cli;cli_doc")
        cpack --config "$build/CPackConfig.cmake" -G DEB -B "$folder/made" \
            -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip "${only[@]}" >talk 2>&1 || { cat talk; fail "cpack"; }
        for deb in made/*.deb; do
            name=$(dpkg-deb -f "$deb" Package)
            mkdir -p "root/$name"
            dpkg-deb -x "$deb" "root/$name"
            dpkg-deb -x "$deb" all
            clean "root/$name/usr"
            for field in Maintainer Section Installed-Size Architecture Description; do
                [ -n "$(dpkg-deb -f "$deb" "$field")" ] || fail "$name has no $field"
            done
            [[ $(dpkg-deb -f "$deb" Version) == $(newest_version)-* ]] || fail "the version of $name"
            [[ $name == trainyard || $(dpkg-deb -f "$deb" Depends) == *"trainyard (= "* ]] ||
                fail "$name does not need trainyard"
            [[ $name == trainyard-dev || $(dpkg-deb -f "$deb" Depends) == *"libc6 (>= "* ||
                $(dpkg-deb -f "$deb" Depends) == *libopenmpi* ]] || fail "what $name needs"
            for file in copyright changelog.gz changelog.Debian.gz; do
                [ -s "root/$name/usr/share/doc/$name/$file" ] || fail "$name has no $file"
            done
        done
        if command -v lintian >/dev/null; then
            lintian --allow-root --fail-on error made/*.deb >talk 2>&1 || { cat talk; fail "lintian"; }
        fi
        [ "$3" = deb ] && others="trainyard-calibrate.1.gz
trainyard-gui.1.gz"
        complete "$folder/all/usr" "${others:-}"
        runs "$folder/all/usr"
        zcat all/usr/share/doc/trainyard/changelog.Debian.gz >changelog
        dpkg-parsechangelog -l changelog -S Version >version ||
            fail "the changelog of Debian"
        [ "$(cat version)" = "$(dpkg-deb -f made/trainyard_*.deb Version)" ] || fail "its version"
        ;;
esac
