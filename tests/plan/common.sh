# What the tests of plans share: $folder is theirs, and gone at the end; `fail` tells what was said in
# $folder/talk and $folder/out.
set -uo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAILED: $*" >&2
    cat "$folder"/out "$folder"/talk >&2 2>/dev/null
    exit 1
}
