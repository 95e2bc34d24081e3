#!/usr/bin/env bash
# Where the module for MPI is missing, several ranks are refused with what to do, and one is not.
#
#   without_mpi.sh TRAINYARD SOURCE_TREE
cd "$2" || exit 1
source tests/plan/common.sh

mkdir "$folder/bin"
cp "$1" "$folder/bin/trainyard"
export TRAINYARD_DATA=$PWD
plan=("$folder/bin/trainyard" plan scenarios/llama3-8b-h100-8.json --grid strategy.tp=2 --grid strategy.pp=1)
for launcher in OMPI_COMM_WORLD_SIZE=4 PMI_SIZE=2 SLURM_STEP_NUM_TASKS=2; do
    env "$launcher" "${plan[@]}" >"$folder/out" 2>"$folder/talk"
    [ $? -eq 5 ] || fail "$launcher is not refused"
    grep -q "libopenmpi-dev" "$folder/talk" || fail "nothing says what to do"
done
OMPI_COMM_WORLD_SIZE=1 SLURM_NTASKS=8 "${plan[@]}" >"$folder/out" 2>"$folder/talk" || fail "one rank is refused"
