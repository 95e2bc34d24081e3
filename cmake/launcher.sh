# shellcheck shell=bash
# Set-up shared by ./trainyard and ./run-tests: packages, configuration, build. All talk goes to stderr.
#
# The caller sets `root` (the source tree, absolute) and runs under `set -euo pipefail`.

: "${root:?}"
readonly our_fault=70 # exit code of a build that fails
readonly oldest_cmake=3.25

# What the build needs: Debian/Ubuntu package, and why.
readonly packages=(
    "g++              the C++ compiler"
    "cmake            configures the build"
    "ninja-build      runs the build"
    "libboost-graph-dev  graphs: paths and cuts of a cluster"
    "libcli11-dev     the command line"
    "libeigen3-dev    linear algebra of the fits"
    "nlohmann-json3-dev  reading and writing JSON"
    "libfmt-dev       formatting text"
    "libexpected-dev  results that may be errors"
    "zlib1g-dev       compressed traces"
    "libpugixml-dev   NCCL's topology files"
    "libtomlplusplus-dev  configurations of torchtitan"
    "libyaml-cpp-dev  test files of Megatron-LM"
    "libsqlite3-dev   what plans have found"
    "libopenmpi-dev   measuring and planning over MPI"
    "openmpi-bin      starting ranks of MPI"
    "libgloo-dev      measuring over Gloo"
    "catch2           the test suite"
)
# The window alone needs these: for the targets `gui` and `all`.
readonly window_packages=(
    "qt6-base-dev     the window"
    "qt6-svg-dev      its pictures as SVG"
    "libqcustomplot-dev  its charts"
    "fonts-dejavu-core   its letters where there is no display"
)

# For the target `all`, unless the Python here brings them: its package and what tests it.
readonly python_packages=(
    "python3-dev      the Python package"
    "python3-venv     an environment for its tests"
)

say() { printf 'trainyard: %s\n' "$*" >&2; }

fail() {
    say "$*"
    exit "$our_fault"
}

# The program that a package is needed for; empty for libraries.
tool_of() {
    case $1 in
        g++) echo "${CXX:-c++}" ;;
        cmake) echo cmake ;;
        ninja-build) echo ninja ;;
    esac
}

# A Python of 3.11 or later here has its headers and makes environments.
python_suffices() {
    python3 - 2>/dev/null <<'END'
import ensurepip, os, sys, sysconfig, venv
headers = os.path.join(sysconfig.get_paths()["include"], "Python.h")
sys.exit(sys.version_info < (3, 11) or not os.path.exists(headers))
END
}

# make_python_environment FOLDER: an environment in FOLDER/venv with what binding to Python takes, at
# once, and with what its tests and the documentation's need, in the background
# (wait_for_python_environment). Never fatal: without it CMake skips the Python package.
python_installing=
make_python_environment() {
    local environment=$1/venv log=$1/venv.log pip
    local tests_need="numpy pandas matplotlib mypy nbformat nbclient ipykernel"
    tests_need+=" $(tr '\n' ' ' <"$root/docs/requirements.txt")"
    pip=("$environment/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1
        --timeout 20)
    if [ -n "${TRAINYARD_NO_INSTALL:-}" ] || ! python_suffices ||
        [ "$(cat "$environment/whole" 2>/dev/null)" = "$tests_need" ]; then
        return 0
    fi
    mkdir -p "$1"
    say "making an environment for the Python package's tests in $environment ..."
    if ! { python3 -m venv "$environment" && "${pip[@]}" nanobind; } </dev/null >"$log" 2>&1; then
        say "that failed, and the Python package is left out (all the output: $log)"
        rm -rf "$environment"
        return 0
    fi
    # What the compiler leaves of the cores does for it.
    # shellcheck disable=SC2086 # a list
    nice "${pip[@]}" $tests_need </dev/null >>"$log" 2>&1 && echo "$tests_need" >"$environment/whole" &
    python_installing=$!
}

# Tests that need what could not be installed are skipped.
wait_for_python_environment() {
    [ -n "$python_installing" ] || return 0
    wait "$python_installing" ||
        say "NumPy, pandas, matplotlib, mypy, Jupyter or MkDocs could not be installed: tests that need them are skipped"
}

# missing_packages TARGET: prints the entries of its packages that this machine lacks.
missing_packages() {
    local entry package tool needed=("${packages[@]}")
    case $1 in gui | all) needed+=("${window_packages[@]}") ;; esac
    [ "$1" != all ] || python_suffices || needed+=("${python_packages[@]}")
    for entry in "${needed[@]}"; do
        package=${entry%% *}
        tool=$(tool_of "$package")
        if [ -n "$tool" ]; then
            command -v "${tool%% *}" >/dev/null || echo "$entry"
        elif command -v dpkg-query >/dev/null; then
            # Of this architecture: others may be installed beside it.
            # shellcheck disable=SC2016 # the fields belong to dpkg-query
            dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "$package" 2>/dev/null |
                grep -qxE "(all|$(dpkg --print-architecture)) installed" || echo "$entry"
        fi
    done
}

# Prints the command prefix that gives root's rights ("env" where we have them); fails without.
root_command() {
    if [ "$(id -u)" -eq 0 ]; then
        echo env
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        echo "sudo -n env"
    elif command -v sudo >/dev/null && [ -t 0 ] && [ -t 2 ]; then
        echo "sudo env" # asks for the password on the terminal
    else
        return 1
    fi
}

# Prints those of the packages that this distribution has: one that it lacks would stop all others.
known_packages() {
    local package
    for package; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            printf '%s ' "$package"
        else
            say "this distribution has no package $package"
        fi
    done
}

# install_packages TARGET LOG: installs what is missing if we may; otherwise names it. Never fatal: CMake
# has the last word.
install_packages() {
    local missing names as_root log=$2
    missing=$(missing_packages "$1")
    [ -n "$missing" ] || return 0
    names=$(cut -d' ' -f1 <<<"$missing" | tr '\n' ' ')
    names=${names% }
    say "not installed, needed to build:"
    while read -r package why; do
        printf '    %-20s %s\n' "$package" "$why" >&2
    done <<<"$missing"

    if ! command -v apt-get >/dev/null; then
        say "no apt-get here: going on with what CMake finds (CMAKE_PREFIX_PATH names other places)"
        return 0
    fi
    if [ -n "${TRAINYARD_NO_INSTALL:-}" ] || ! as_root=$(root_command); then
        say "not installing (needs root or sudo). To install:  apt-get install $names"
        say "going on with what CMake finds (CMAKE_PREFIX_PATH names other places)"
        return 0
    fi
    say "installing them with apt-get ..."
    # A stale package list is no reason to stop; a failing installation says so itself.
    # shellcheck disable=SC2086 # the prefix and the names are lists
    $as_root apt-get -q update </dev/null >"$log" 2>&1 || true
    # shellcheck disable=SC2086
    names=$(known_packages $names)
    # shellcheck disable=SC2086
    if ! $as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install \
        $names </dev/null >>"$log" 2>&1; then
        tail -n 5 "$log" | sed 's/^/    /' >&2
        say "apt-get failed (all its output: $log). To install by hand:  apt-get install $names"
        say "going on with what CMake finds (CMAKE_PREFIX_PATH names other places)"
    fi
}

# Stops with a plain sentence where CMake itself would be confusing.
require_tools() {
    local found tool
    for tool in cmake ninja; do
        command -v "$tool" >/dev/null || fail "cannot build: $tool is missing"
    done
    found=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
    if [ "$(printf '%s\n' "$oldest_cmake" "$found" | sort -V | head -n 1)" != "$oldest_cmake" ]; then
        fail "cannot build: cmake $found is too old, $oldest_cmake or later is needed" \
            "(python3 -m pip install cmake brings one)"
    fi
}

# Reads ninja's output and shows how far it is: on a terminal as one moving line.
show_progress() {
    local what=$1 last_line=0 counter
    while read -r counter _; do
        [[ $counter =~ ^[0-9]+/[0-9]+$ ]] || continue
        if [ -t 2 ]; then
            printf '\r\033[Ktrainyard: %s: %s' "$what" "$counter" >&2
        elif ((last_line && SECONDS - last_line < 20)); then
            continue
        else
            say "$what: $counter"
        fi
        last_line=$((SECONDS + 1))
    done
    if [ -t 2 ] && ((last_line)); then printf '\r\033[K' >&2; fi
}

# build PRESET TARGET [CMAKE_ARGUMENT...]: packages, configuration and build under one lock.
build() {
    local preset=$1 target=$2
    shift 2
    local folder=$root/build/$preset
    local stamp=$folder/built-$target log=$folder/build.log what="building Trainyard, once"
    if ! mkdir -p "$folder" 2>/dev/null || [ ! -w "$folder" ]; then
        fail "cannot write to $folder: copy the source tree to a place of your own and run it there"
    fi

    exec {lock}>"$folder/lock"
    if ! flock -n "$lock"; then
        say "waiting for another build in $folder"
        flock "$lock"
        if [ $# -eq 0 ] && is_current "$preset" "$target"; then
            exec {lock}>&-
            return 0 # the other build was ours
        fi
    fi

    [ -e "$stamp" ] && what="sources changed, building"
    install_packages "$target" "$folder/packages.log" {lock}>&-
    require_tools
    # The time before the build counts: what is edited while it runs is built next time.
    printf '%s\n' "$root" >"$stamp.new"
    if ! configure "$preset" "$@" >"$log" 2>&1 {lock}>&-; then
        report_failure "$target" "$log" "CMake could not configure the build"
    fi
    if ! NINJA_STATUS='%f/%t ' cmake --build "$folder" --target "$target" --parallel "$(nproc)" \
        2>&1 {lock}>&- | tee -a "$log" | show_progress "$what"; then
        report_failure "$target" "$log" "the build failed"
    fi
    mv "$stamp.new" "$stamp"
    exec {lock}>&-
}

configure() {
    local preset=$1 fresh=()
    shift
    # A tree that was moved or copied with its build folder starts again.
    local cache=$root/build/$preset/CMakeCache.txt
    if [ -e "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
        fresh=(--fresh)
    fi
    (cd "$root" && cmake --preset "$preset" "${fresh[@]}" "$@")
}

report_failure() {
    local target=$1 log=$2 message=$3 missing
    tail -n 60 "$log" | sed 's/^/    /' >&2
    say "$message (whole log: $log)"
    missing=$(missing_packages "$target" | cut -d' ' -f1 | tr '\n' ' ')
    [ -z "$missing" ] || say "missing packages: ${missing% }"
    exit "$our_fault"
}

# is_current PRESET TARGET: nothing changed since the target was last built here. One `find`, no more:
# this runs before every command.
is_current() {
    local stamp=$root/build/$1/built-$2 built_in
    { read -r built_in <"$stamp"; } 2>/dev/null && [ "$built_in" = "$root" ] || return 1
    [ -z "$(find "$root/sim" "$root/calibrate/fit" "$root/calibrate/import" \
        "$root/calibrate/measure" "$root/calibrate/backends" "$root/calibrate/program" "$root/gui" "$root/cmake" \
        "$root/CMakeLists.txt" "$root/CMakePresets.json" -newer "$stamp" -print -quit)" ]
}
