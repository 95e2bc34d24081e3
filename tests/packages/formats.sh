#!/usr/bin/env bash
# sim/FORMATS.md names every format that the sources have, and no reader takes a version that it does
# not know.
#
#   formats.sh TRAINYARD SOURCE_TREE
set -uo pipefail
program=$1
tree=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

# Named in code; comments and tests name others.
grep -rhoE --include=*.cpp --include=*.h '^[^/]*"trainyard\.[a-z_-]+/[0-9]+"' "$tree"/sim "$tree"/calibrate \
    "$tree"/gui/{app,breakdown,calibration,explore,model,scenario,timeline,topology,widgets} |
    grep -oE 'trainyard\.[a-z_-]+/[0-9]+' | sort -u >"$folder/code"
grep -oE '^\| `.*' "$tree/sim/FORMATS.md" | cut -d'|' -f2 | grep -oE 'trainyard\.[a-z_-]+/[0-9]+' | sort -u >"$folder/told"
diff "$folder/code" "$folder/told" || fail "sim/FORMATS.md and the sources name other formats"

# refused FORMAT COMMAND...: ends with 3 and names the version that is read.
refused() {
    local format=$1
    shift
    "$@" >"$folder/out" 2>&1
    [ $? -eq 3 ] || { cat "$folder/out"; fail "$format of another version: not refused"; }
    grep -qF "$format" "$folder/out" || { cat "$folder/out"; fail "$format: the version that is read is not named"; }
}
raised() { echo "${1%/*}/9999"; }
while read -r format; do
    kind=${format#trainyard.}
    case ${kind%/*} in
        scenario | topology | model | profile | device | fabric | network | collectives | gloo | ucx | nvshmem | mpi | \
            interference | kernels | knots | storage | host | software | records)
            echo "{\"format\": \"$(raised "$format")\"}" >"$folder/newer.json"
            refused "$format" "$program" check "$folder/newer.json"
            grep -q "is of another version" "$folder/out" || { cat "$folder/out"; fail "$format: not said"; }
            ;;
        samples)
            echo "{\"format\": \"$(raised "$format")\", \"run\": {}}" >"$folder/newer.jsonl"
            [ ! -x "${program%/*}/trainyard-measure" ] ||
                refused "$format" "$program" calibrate --from "$folder/newer.jsonl"
            ;;
        sweeps | pairs) # told from files of others by it
            echo "{\"format\": \"$(raised "$format")\", \"${kind%/*}\": [], \"matrices\": []}" >"$folder/newer.json"
            "$program" fit "$folder/newer.json" -o "$folder/made.json" 2>"$folder/out"
            [ $? -eq 3 ] && [ ! -e "$folder/made.json" ] || fail "$format of another version: not refused"
            ;;
    esac
done <"$folder/told"
