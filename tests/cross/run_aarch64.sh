#!/usr/bin/env bash
# Builds the engine for 64-bit Arm, runs its tests under QEMU's user emulation, and compares the hash of
# every result with this machine's, bit for bit.
#
#     tests/cross/run_aarch64.sh [--hashes-only]
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

for tool in aarch64-linux-gnu-g++ qemu-aarch64; do
    command -v "$tool" >/dev/null || {
        echo "run_aarch64.sh: $tool is missing; tests/cross/README.md names the packages" >&2
        exit 2
    }
done

native=build/release
cross=build/aarch64
[ -f "$native/build.ninja" ] || cmake --preset release >/dev/null
[ -f "$cross/build.ninja" ] || cmake --preset aarch64 >/dev/null
cmake --build "$native" --target step_hashes
cmake --build "$cross" --target step_hashes

hashes() {
    "$@" | grep '^hash '
}
ours=$(hashes "$native/tests/cross/step_hashes")
theirs=$(hashes qemu-aarch64 -L /usr/aarch64-linux-gnu "$cross/tests/cross/step_hashes")
if ! diff <(echo "$ours") <(echo "$theirs"); then
    echo "run_aarch64.sh: results differ (<: this machine, >: aarch64)" >&2
    exit 1
fi
echo "$(wc -l <<<"$ours") results are alike, bit for bit"
[ "${1:-}" != --hashes-only ] || exit 0

cmake --build "$cross" --target test_base test_program test_engine test_engine_properties \
    test_replay_properties test_plan_properties test_random_laws
ctest --test-dir "$cross" --output-on-failure --no-tests=error -LE slow \
    -R '^test_(base|program|engine|(engine|replay|plan)_properties|random_laws):'
