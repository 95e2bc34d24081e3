#!/usr/bin/env bash
# Ctrl-C ends a plan with what is known, says how far it came, and loses nothing of the store.
#
#   interrupted.sh TRAINYARD SOURCE_TREE
program=$1
cd "$2" || exit 1
source tests/plan/common.sh

plan=("$program" plan scenarios/llama3-70b-h100-64.json --grid strategy.cp=1 --threads 1)
store=(--store "$folder/plan.db")

# interrupt SECONDS OPTION...: fails unless the plan ended by it.
interrupt() {
    local seconds=$1
    shift
    timeout -s INT "$seconds" "${plan[@]}" "$@" >"$folder/out" 2>"$folder/talk"
    local code=$?
    [ "$code" -eq 124 ] || fail "after $seconds s it ended with $code"
}

# A part of the bounds: a slow machine has not begun with them after 0.3 s, and says nothing then.
for seconds in 0.3 0.4 0.5 0.6 0.7 0.8 1 1.5; do
    interrupt "$seconds" "${store[@]}"
    [ ! -s "$folder/out" ] || break
done
grep -q "of the layouts were bounded: none was simulated" "$folder/out" || fail "it does not say that it bounded"
grep -q "with room for them so far" "$folder/out" || fail "it does not say that there may be more room"
grep -q "not looked at: the search was interrupted" "$folder/out" || fail "it does not say what is left"

# Until points are there.
seconds=2
while ! grep -qE "may be up to .* quicker|the best is proven" "$folder/out"; do
    interrupt "$seconds" "${store[@]}"
    seconds=$((seconds + 1))
    [ "$seconds" -lt 60 ] || fail "no layout is found"
done
grep -q "the same command goes on from there" "$folder/talk" || fail "it does not say what is kept"
interrupt 1 --shard 2/2 "${store[@]}"

plan+=(--grid strategy.schedule=1f1b --grid strategy.vpp=1,2) # less, and in part there
"${plan[@]}" >"$folder/text" 2>"$folder/talk" || fail "the plan itself"
"${plan[@]}" "${store[@]}" >"$folder/out" 2>"$folder/talk" || fail "going on"
cmp "$folder/out" "$folder/text" || fail "what went on differs"
