#!/usr/bin/env bash
# A plan on several ranks tells what one process tells, and what is wrong once.
#
#   ranks.sh TRAINYARD SOURCE_TREE MPIRUN RANKS
program=$1 mpirun=$3 count=$4
cd "$2" || exit 1
source tests/plan/common.sh

# Open MPI's own: more ranks than cores, as root in a container, without a network.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl=self,vader
ranks() { timeout 300 "$mpirun" -n "$count" "$@"; }

plan=("$program" plan scenarios/mixtral-8x7b-ep8-h100-64.json --grid strategy.schedule=1f1b,zb-v
    --grid strategy.vpp=1,2 --top 5)
"${plan[@]}" >"$folder/text" 2>"$folder/talk" || fail "the plan itself"
"${plan[@]}" --json >"$folder/json" 2>"$folder/talk" || fail "the plan itself as JSON"
ranks "${plan[@]}" --store "$folder/plan.db" >"$folder/out" 2>"$folder/talk" || fail "$count ranks"
cmp "$folder/out" "$folder/text" || fail "the text differs"
ranks "${plan[@]}" --threads 2 --json >"$folder/out" 2>"$folder/talk" || fail "$count ranks, JSON"
cmp "$folder/out" "$folder/json" || fail "the JSON differs"
# What ranks kept is known to one process.
"${plan[@]}" --store "$folder/plan.db" >"$folder/out" 2>"$folder/talk" || fail "going on alone"
cmp "$folder/out" "$folder/text" || fail "what went on alone differs"

ranks "${plan[@]}" --grid strategy.zero=x >"$folder/out" 2>"$folder/talk" && fail "nonsense is taken"
[ ! -s "$folder/out" ] || fail "nonsense has a result"
[ "$(grep -c '"x" is no ZeRO stage' "$folder/talk")" -eq 1 ] || fail "nonsense is not told once"
ranks "$program" plan "$folder/none.json" >"$folder/out" 2>"$folder/talk" && fail "no file is taken"
[ "$(grep -c 'cannot read' "$folder/talk")" -eq 1 ] || fail "a missing file is not told once"

# Ranks that were given different tasks are told apart.
cat >"$folder/differ" <<'END'
#!/bin/sh
exec "$1" plan scenarios/mixtral-8x7b-ep8-h100-64.json --top "$((OMPI_COMM_WORLD_RANK + 1))" \
    --headroom "$((OMPI_COMM_WORLD_RANK + 1))"
END
chmod +x "$folder/differ"
ranks "$folder/differ" "$program" >"$folder/out" 2>"$folder/talk" && fail "ranks that differ are taken"
grep -q "rank 0 plans something else" "$folder/talk" || fail "ranks that differ are not told"

# A rank that dies ends all, and the plan goes on from what it had kept.
long=("$program" plan scenarios/llama3-70b-h100-64.json --grid strategy.schedule=1f1b
    --grid strategy.cp=1 --grid strategy.vpp=1,2 --grid training.micro_batch=1 --threads 1)
"$mpirun" -n "$count" "${long[@]}" --store "$folder/long.db" >"$folder/out" 2>"$folder/talk" &
run=$!
sleep 1
victim=$(pgrep -P "$run" | tail -n 1) # ranks are children of mpirun
[ -z "$victim" ] || kill -9 "$victim"
wait "$run"
"${long[@]}" >"$folder/text" 2>"$folder/talk" || fail "the long plan itself"
"${long[@]}" --store "$folder/long.db" >"$folder/out" 2>"$folder/talk" || fail "going on after a death"
cmp "$folder/out" "$folder/text" || fail "what went on after a death differs"
