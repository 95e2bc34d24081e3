#!/usr/bin/env bash
# Kills a plan with SIGKILL at random moments until it was killed so often; each goes on where the one before
# ended. At the end its text and JSON are those of a plan that nobody disturbed, and nothing that was committed
# was simulated again.
#
#   killed.sh TRAINYARD SOURCE_TREE KILLS
program=$1 kills=$3
cd "$2" || exit 1
source tests/plan/common.sh
store=$folder/plan.db

# More to simulate than to bound.
plan=("$program" plan scenarios/llama3-8b-h100-8.json --set training.global_batch=64
    --grid strategy.schedule=1f1b,zb-v --grid strategy.vpp=1,2 --top 6 --threads 2)

# count WHERE: of the points that are committed.
count() {
    [ -s "$store" ] || { echo 0; return; }
    python3 -c 'import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM points WHERE " + sys.argv[2]).fetchone()[0])' \
        "$store" "$1" || fail "the database cannot be read"
}

RANDOM=${SEED:-1}
began=$(date +%s%N)
"${plan[@]}" >"$folder/text" 2>"$folder/talk" || fail "the plan itself"
took=$((($(date +%s%N) - began) / 1000000))
"${plan[@]}" --json >"$folder/json" 2>"$folder/talk" || fail "the plan itself as JSON"

# What goes on to the end tells what nobody disturbed told.
check_end() {
    local twice
    "${plan[@]}" --store "$store" >"$folder/out" 2>"$folder/talk" || fail "the end"
    cmp "$folder/out" "$folder/text" || fail "the text differs"
    "${plan[@]}" --store "$store" --json >"$folder/out" 2>"$folder/talk" || fail "the end as JSON"
    cmp "$folder/out" "$folder/json" || fail "the JSON differs"
    twice=$(count 'simulations > 1')
    [ "$twice" -eq 0 ] || fail "$twice points were simulated again"
}

killed=0 begun=1 landed=0 before=0
while ((killed < kills)); do
    "${plan[@]}" --store "$store" >"$folder/out" 2>"$folder/talk" &
    run=$!
    pause=$((RANDOM % (took + 1)))
    sleep "$((pause / 1000)).$(printf '%03d' $((pause % 1000)))"
    if kill -9 "$run" 2>/dev/null; then
        killed=$((killed + 1))
    fi
    wait "$run" 2>/dev/null
    code=$?
    [ "$code" -eq 137 ] || [ "$code" -eq 0 ] || fail "attempt $begun ended with $code"
    [ "$code" -ne 0 ] || cmp "$folder/out" "$folder/text" || fail "attempt $begun told something else"
    now=$(count true)
    ((now >= before)) || fail "$before points were committed, now there are $now"
    if ((now > before)); then landed=$((landed + 1)); fi
    before=$now
    # Nothing is left to disturb: begin anew.
    if [ "$code" -eq 0 ] || ((RANDOM % 8 == 0)); then
        check_end
        rm -f "$store" "$store"-wal "$store"-shm "$store"-journal
        before=0
    fi
    begun=$((begun + 1))
done
check_end
((kills < 100 || landed > kills / 10)) || fail "only $landed attempts committed points"
echo "$killed kills in $begun attempts; $landed of these committed new points"
