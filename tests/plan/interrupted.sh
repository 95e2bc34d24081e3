#!/usr/bin/env bash
# Ctrl-C ends a plan with what is known, says how far it came, and loses nothing of the store.
#
#   interrupted.sh TRAINYARD SOURCE_TREE
program=$1
cd "$2" || exit 1
source tests/plan/common.sh

plan=("$program" plan scenarios/llama3-70b-h100-64.json --grid strategy.cp=1 --threads 1)
store=(--store "$folder/plan.db")

# interrupt MILLISECONDS OPTION...: fails unless the plan ended by it. In the foreground one signal is sent;
# else a second one, to the group, may end the plan at once.
interrupt() {
    local seconds
    seconds=$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))
    shift
    timeout --foreground -s INT "$seconds" "${plan[@]}" "$@" >"$folder/out" 2>"$folder/talk"
    local code=$?
    [ "$code" -eq 124 ] || fail "after $seconds s it ended with $code"
}

# A part of the bounds, which take a few times as long as what comes before them: steps of a sixth find
# them on a quick machine and on a slow one. One that something held up is tried again.
bounded="of the layouts were bounded: none was simulated"
for attempt in 1 2 3 4; do
    rm -f "$folder"/plan.db*
    milliseconds=40
    while
        interrupt "$milliseconds" "${store[@]}"
        [ ! -s "$folder/out" ]
    do
        milliseconds=$((milliseconds + milliseconds / 6))
        [ "$milliseconds" -lt 30000 ] || fail "it says nothing after 30 s"
    done
    ! grep -q "$bounded" "$folder/out" || break
done
grep -q "$bounded" "$folder/out" || fail "it does not say that it bounded, tried $attempt times"
grep -q "with room for them so far" "$folder/out" || fail "it does not say that there may be more room"
grep -q "not looked at: the search was interrupted" "$folder/out" || fail "it does not say what is left"

# Until points are there.
while ! grep -qE "may be up to .* quicker|the best is proven" "$folder/out"; do
    milliseconds=$((milliseconds + milliseconds / 6))
    interrupt "$milliseconds" "${store[@]}"
    [ "$milliseconds" -lt 60000 ] || fail "no layout is found"
done
grep -q "the same command goes on from there" "$folder/talk" || fail "it does not say what is kept"
interrupt "$milliseconds" --shard 2/2 "${store[@]}"

plan+=(--grid strategy.schedule=1f1b --grid strategy.vpp=1,2) # less, and in part there
"${plan[@]}" >"$folder/text" 2>"$folder/talk" || fail "the plan itself"
"${plan[@]}" "${store[@]}" >"$folder/out" 2>"$folder/talk" || fail "going on"
cmp "$folder/out" "$folder/text" || fail "what went on differs"
