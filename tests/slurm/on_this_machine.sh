#!/usr/bin/env bash
# The scripts of scenarios/slurm, submitted to a Slurm of this machine alone.
#
#   on_this_machine.sh TRAINYARD SOURCE_TREE
set -uo pipefail
TRAINYARD=$1
tree=$2
export TRAINYARD
PATH=$PATH:/usr/sbin:/sbin
for tool in slurmctld slurmd sbatch squeue munged; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed" >&2; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: slurmd needs root" >&2; exit 77; }

folder=$(mktemp -d)
started=()
finish() {
    local process
    for process in "${started[@]}"; do kill "$process" 2>/dev/null; done
    for process in "${started[@]}"; do wait "$process" 2>/dev/null; done
    rm -rf "$folder"
}
trap finish EXIT
fail() {
    echo "FAILED: $*" >&2
    tail -n 15 "$folder"/*.log "$folder"/work/*.log >&2
    exit 1
}
mkdir "$folder/work" "$folder/state" "$folder/spool"
free_ports() {
    python3 -c 'import socket
held = [socket.socket() for _ in range(2)]
for one in held: one.bind(("127.0.0.1", 0))
print(*[one.getsockname()[1] for one in held])'
}
read -r control_port node_port < <(free_ports)
host=$(hostname -s)
cat >"$folder/slurm.conf" <<END
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CryptoType=crypto/munge
SlurmctldPort=$control_port
SlurmdPort=$node_port
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=100000
MpiDefault=none
ReturnToService=2
InactiveLimit=0
MinJobAge=300
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP
END
export SLURM_CONF=$folder/slurm.conf
head -c 1024 /dev/urandom >"$folder/munge.key"
chmod 600 "$folder/munge.key"
chmod 755 "$folder"
munged --foreground --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munge.pid" --seed-file="$folder/munge.seed" --log-file="$folder/munged.log" 2>"$folder/munged_talk.log" &
started+=($!)
slurmctld -D >"$folder/slurmctld.log" 2>&1 &
started+=($!)
slurmd -D -N "$host" >"$folder/slurmd.log" 2>&1 &
started+=($!)

end=$((SECONDS + 60))
until [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; do
    ((SECONDS < end)) || fail "no node became ready: $(sinfo 2>&1)"
    sleep 0.2
done

# finished JOB: waits until it is no longer queued, and checks how it ended.
finished() {
    local end=$((SECONDS + 300)) state
    until state=$(scontrol show job "$1" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p' | sort -u) &&
        ! grep -qE 'PENDING|RUNNING|COMPLETING|CONFIGURING' <<<"$state"; do
        ((SECONDS < end)) || fail "job $1 does not end: $(squeue 2>&1)"
        sleep 0.2
    done
    [ "$state" = COMPLETED ] || fail "job $1 ended as $state"
}

cd "$folder/work" || exit 1
scripts=$tree/scenarios/slurm
plan=("$tree/scenarios/llama3-8b-h100-8.json" --grid strategy.tp=1,2 --grid strategy.schedule=1f1b
    --grid strategy.vpp=1 --grid training.micro_batch=1,2 --top 3)

merged=$("$scripts/plan.sh" 3 "${plan[@]}") || fail "plan.sh"
small=(--backend gloo --quick --trials 3 --max-size 4KiB --only all_reduce,gemm,memory)
measured=$(PROFILE=tasks.json sbatch --parsable --ntasks 2 "$scripts/calibrate.sbatch" "${small[@]}") ||
    fail "calibrate.sbatch with two tasks"
alone=$(sbatch --parsable "$scripts/calibrate.sbatch" "${small[@]}" -n 2) || fail "calibrate.sbatch"
finished "$merged"
finished "$measured"
finished "$alone"

"$TRAINYARD" plan "${plan[@]}" -o whole.json >whole.txt || fail "the plan in one piece"
cmp best.json whole.json || fail "the best layout differs from that of one search"
grep -vE '^wrote ' merge-*.log | cmp - <(grep -vE '^wrote ' whole.txt) || fail "the plan differs"
for profile in tasks cluster; do
    "$TRAINYARD" check "$profile.json" "$profile.topology.json" >checked.log 2>&1 || fail "$profile.json"
done
