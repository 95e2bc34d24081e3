#!/usr/bin/env bash
# A plan in 16 shards, one of which is killed and goes on, is the plan in one piece.
#
#   shards.sh TRAINYARD SOURCE_TREE
program=$1
cd "$2" || exit 1
source tests/plan/common.sh

plan=("$program" plan scenarios/mixtral-8x7b-ep8-h100-64.json --grid strategy.schedule=1f1b,zb-v
    --grid strategy.vpp=1,2 --top 5)
count=16
"${plan[@]}" >"$folder/text" 2>"$folder/talk" || fail "the plan itself"
"${plan[@]}" --json --csv "$folder/csv" >"$folder/json" 2>"$folder/talk" || fail "as JSON"
shard() { "${plan[@]}" --shard "$1/$count" --store "$folder/part$1.db" >>"$folder/talk" 2>&1; }
shard 3 &
run=$!
sleep 0.1
kill -9 "$run" 2>/dev/null
wait "$run" 2>/dev/null
for i in $(seq "$count"); do shard "$i" || fail "shard $i"; done
chmod a-w "$folder"/part*.db
"${plan[@]}" --merge "$folder"/part*.db >"$folder/out" 2>"$folder/talk" || fail "merging"
cmp "$folder/out" "$folder/text" || fail "the text differs"
"${plan[@]}" --json --csv "$folder/csv2" --merge "$folder"/part*.db >"$folder/out" 2>"$folder/talk" ||
    fail "merging into JSON"
cmp "$folder/out" "$folder/json" || fail "the JSON differs"
cmp "$folder/csv2" "$folder/csv" || fail "the CSV differs"
