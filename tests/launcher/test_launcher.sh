#!/usr/bin/env bash
# Laws of ./trainyard and ./run-tests, on a tree of their own where `cmake` is a stand-in that "builds"
# a program printing its folder and arguments.
set -euo pipefail
source_tree=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree="$scratch/a tree"
failures=0

check() { # check SENTENCE COMMAND...
    local sentence=$1
    shift
    if "$@"; then echo "ok: $sentence"; else
        echo "FAILED: $sentence"
        failures=$((failures + 1))
    fi
}
# shellcheck disable=SC2317 # called by check
same() { [ "$1" = "$2" ] || { printf '  got: %s\n  not: %s\n' "$1" "$2"; return 1; }; }
# shellcheck disable=SC2317 # called by check
contains() { [[ $1 == *"$2"* ]] || { printf '  got: %s\n  without: %s\n' "$1" "$2"; return 1; }; }

mkdir -p "$tree/sim" "$tree/gui" "$tree/calibrate/"{fit,import,measure,backends,program} "$tree/cmake" "$tree/docs" "$scratch/bin" "$scratch/caller"
cp "$source_tree/trainyard" "$source_tree/run-tests" "$tree"
cp "$source_tree/cmake/launcher.sh" "$tree/cmake"
cp "$source_tree/docs/requirements.txt" "$tree/docs"
touch "$tree/CMakeLists.txt" "$tree/CMakePresets.json"

cat >"$scratch/bin/cmake" <<'FAKE'
#!/usr/bin/env bash
echo "$*" >>"$FAKE_LOG"
case $1 in
    --version) echo "cmake version ${FAKE_VERSION:-3.25.1}" ;;
    --preset) echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >"build/$2/CMakeCache.txt" ;;
    --build)
        sleep "${FAKE_SECONDS:-0}"
        echo "1/1 Building"
        [ -z "${FAKE_ERROR:-}" ] || { echo "error: $FAKE_ERROR"; exit 1; }
        mkdir -p "$2/bin"
        printf '#!/bin/sh\necho "$PWD:$*"\nexit "${FAKE_EXIT:-0}"\n' >"$2/bin/trainyard"
        chmod +x "$2/bin/trainyard"
        ;;
esac
FAKE
printf '#!/bin/sh\necho "ctest $*"\n' >"$scratch/bin/ctest"
printf '#!/bin/sh\nexit 0\n' | tee "$scratch/bin/ninja" >"$scratch/bin/c++"
chmod +x "$scratch"/bin/*
export PATH="$scratch/bin:$PATH" FAKE_LOG="$scratch/cmake.log" TRAINYARD_NO_INSTALL=1
unset CXX
cd "$scratch/caller"

builds() { grep -c -- --build "$FAKE_LOG" || true; }

FAKE_ERROR="no such header" "$tree/trainyard" x >out 2>err && code=0 || code=$?
check "a failed build gives exit code 70" same "$code" 70
check "a failed build shows its log" contains "$(cat err)" "error: no such header"
check "a failed build prints nothing on stdout" same "$(cat out)" ""

FAKE_VERSION=3.22.1 "$tree/trainyard" x >out 2>err && code=0 || code=$?
check "a CMake that is too old gives exit code 70" same "$code" 70
check "a CMake that is too old is named" contains "$(cat err)" "cmake 3.22.1 is too old"

: >"$FAKE_LOG"
out=$("$tree/trainyard" simulate a.json 2>err)
check "the program runs in the caller's folder with its arguments" \
    same "$out" "$PWD:simulate a.json"
check "the first call builds" same "$(builds)" 1
check "the first call says so" contains "$(cat err)" "building Trainyard, once"

ln -s "$tree/trainyard" "$scratch/link"
out=$("$scratch/link" b.json 2>err)
check "a symbolic link reaches the same tree" same "$out" "$PWD:b.json"
check "a second call does not build" same "$(builds)" 1
check "a second call says nothing" same "$(cat err)" ""

FAKE_EXIT=3 "$tree/trainyard" >out && code=0 || code=$?
check "the program's exit code is passed on" same "$code" 3

sleep 0.02
touch "$tree/sim/new.cpp"
FAKE_SECONDS=0.3 "$tree/trainyard" 2>err >out &
FAKE_SECONDS=0.3 "$tree/trainyard" 2>>err >out2
wait
check "a new source is built, by one of two callers at once" same "$(builds)" 2

sleep 0.02
rm "$tree/sim/new.cpp"
"$tree/trainyard" >out 2>err
check "a removed source is noticed" same "$(builds)" 3

cp -r "$tree" "$scratch/copy"
: >"$FAKE_LOG"
"$scratch/copy/trainyard" >out 2>err
check "a copied tree is configured afresh" contains "$(cat "$FAKE_LOG")" "--preset release --fresh"

"$tree/trainyard" calibrate --quick >out 2>err
check "calibrate builds what measures" contains "$(tail -n 1 "$FAKE_LOG")" "--target calibrate"

check "run-tests leaves the slow tests out" \
    contains "$("$tree/run-tests" -R topo 2>err)" "--label-exclude ^slow$ -R topo"
out=$("$tree/run-tests" --all 2>err)
check "run-tests --all runs every test" same "${out/label-exclude/}" "$out"
check "run-tests requires the test suite" contains "$(cat "$FAKE_LOG")" "-DTRAINYARD_TESTS=ON"

exit $((failures > 0))
