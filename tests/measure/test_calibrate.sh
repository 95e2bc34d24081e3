#!/usr/bin/env bash
# Runs the program that measures as a user would, and disturbs it.
#
#   test_calibrate.sh TRAINYARD CASE        CASE: one of those at the end
set -uo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() {
    echo "FAILED: $*" >&2
    sed 's/^/    /' "$folder"/*.txt >&2
    exit 1
}

# Seconds after which a program hangs: no measure of how fast the machine is.
patience=900

# expect CODE NAME COMMAND...: runs it with its output in NAME.txt.
expect() {
    local code=$1 name=$2 got
    shift 2
    timeout "$patience" "$@" >"$name.txt" 2>&1
    got=$?
    [ "$got" -eq "$code" ] || fail "$name ended with $got, not $code"
}

says() { grep -qE -- "$2" "$1.txt" || fail "$1 does not say \"$2\""; }

small=(--backend gloo -n 2 --quick --trials 3 --max-size 64KiB)

# start_long_run [OPTION...]: in the background, waits until it has measured something; sets $run.
start_long_run() {
    "$program" calibrate --backend gloo -n 2 --quick --trials 400 "$@" -o mine.json >long.txt 2>&1 &
    run=$!
    until_measured
}

until_measured() {
    local end=$((SECONDS + patience))
    while ((SECONDS < end)); do
        [ -e mine.samples.jsonl ] && [ "$(grep -c '"point"' mine.samples.jsonl)" -gt 3 ] && return
        kill -0 "$run" 2>/dev/null || fail "it ended before it had measured anything"
        sleep 0.1
    done
    fail "nothing is measured"
}

# gone PROCESS...: waits until all of them have ended.
gone() {
    local end=$((SECONDS + patience))
    while ((SECONDS < end)); do
        kill -0 "$@" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}

# ends CODE: the run ends so, and what it measured makes no profile but is kept.
ends() {
    local got
    gone "$run" || fail "it goes on"
    wait "$run"
    got=$?
    [ "$got" -eq "$1" ] || fail "it ended with $got, not $1"
    says long "kept: [0-9]+ points"
    [ ! -e mine.json ] || fail "a profile was written"
    pgrep -P "$run" >/dev/null && fail "ranks are left"
    expect 0 kept "$program" calibrate --from mine.samples.jsonl
    says kept "busbw|[0-9] (us|ms)" # a table of collectives, or a line per kernel: what came first
}

# until_listening PORT PROCESS: waits until somebody does on this host; PROCESS should.
until_listening() {
    local end=$((SECONDS + patience)) port
    port=$(printf ':%04X' "$1")
    until awk -v port="$port" '$2 ~ port "$" && $4 == "0A" { found = 1 } END { exit !found }' \
        /proc/net/tcp /proc/net/tcp6; do
        ((SECONDS < end)) && kill -0 "$2" 2>/dev/null || fail "nobody listens at port $1"
        sleep 0.1
    done
}

rank_process() { pgrep -P "$run" | tail -n 1; }

case $2 in
    measures)
        expect 0 table "$program" calibrate "${small[@]}" --only all_reduce
        says table "^ +65536 +16384 +float +sum"
        # What has no table like that of nccl-tests is printed too: nothing is measured for nobody.
        expect 0 rest "$program" calibrate "${small[@]}" --only pairs,barrier,memory
        says rest "^one way, GB/s"
        says rest "^barrier among 2 ranks .* [mu]s$"
        says rest "^memory_copy .*B/s$"
        expect 0 profile "$program" calibrate "${small[@]}" --only all_reduce,gemm,memory,pairs \
            -o mine.json --html mine.html
        says profile "wrote mine.samples.jsonl: the samples of all [0-9]+ points"
        expect 0 again "$program" calibrate --from mine.samples.jsonl -o again.json --name mine
        expect 3 tuner "$program" calibrate --from mine.samples.jsonl --tuner mine.csv
        [ ! -e mine.csv ] || fail "Gloo has a tuner file"
        # As if of a GPU that no profile knows.
        sed 's/"backend":"gloo"/"backend":"nccl"/; s/"name":"gloo"/"name":"nccl"/g' \
            mine.samples.jsonl >gpu.samples.jsonl
        expect 3 unknown "$program" calibrate --from gpu.samples.jsonl -o gpu.json
        says unknown "say it: --device NAME"
        expect 0 known "$program" calibrate --from gpu.samples.jsonl -o gpu.json \
            --device H100-SXM5-80GB --network ib-ndr
        expect 0 gpu "$program" check gpu.json
        cmp -s mine.topology.json again.topology.json || fail "they make another topology"
        cmp -s mine.json again.json || fail "the samples kept make another profile"
        grep -q "<h2>Making communicators</h2>" mine.html || fail "the report has no communicators"
        expect 0 check "$program" check mine.json mine.topology.json
        expect 0 report "$program" fit --report mine.json
        grep -q "<h2>Findings</h2>" mine.html || fail "the report has no findings"
        ;;
    compares)
        expect 0 profile "$program" calibrate "${small[@]}" --only all_reduce,gemm,memory -o mine.json
        # A machine that has other cores than its profile says has changed, however it measures.
        sed 's/"cores": [0-9]*/"cores": 4095/' mine.json >other.json
        expect 1 cores "$program" calibrate --from mine.samples.jsonl --check other.json
        says cores "changed +cores 4095 there, [0-9]+ here"
        expect 0 same "$program" calibrate --from mine.samples.jsonl --check mine.json
        # Larger sizes only: nothing to compare, also where -o writes over the earlier profile.
        expect 3 others "$program" calibrate --backend gloo -n 2 --quick --trials 3 --min-size 128KiB \
            --max-size 2MiB --only all_reduce,gemm,memory -o mine.json --check mine.json
        says others "none of the collectives that were measured"
        says others "kept: [0-9]+ points in mine.samples.jsonl"
        says others "moved: the samples of an earlier run are now in mine.samples.1.jsonl"
        expect 0 first "$program" calibrate --from mine.samples.1.jsonl
        # What cannot be compared or written is refused before anything is measured.
        expect 5 no_profile "$program" calibrate "${small[@]}" --check nothing.json --table
        expect 5 no_folder "$program" calibrate "${small[@]}" --html nowhere/mine.html --table
        ! grep -q busbw no_profile.txt no_folder.txt || fail "it measures first"
        ;;
    killed)
        start_long_run
        kill -KILL "$(rank_process)"
        ends 5
        says long "stopped: rank [01] .*killed by signal 9"
        ;;
    stopped)
        # The other rank answers within that time also on a machine with much else to do.
        start_long_run --timeout 10
        kill -STOP "$(rank_process)"
        ends 5
        says long "rank [01] .*does not answer"
        ;;
    interrupted)
        start_long_run
        kill -INT "$run"
        ends 130
        says long "stopped: interrupted"
        ;;
    orphaned)
        mkdir temporary
        export TMPDIR=$folder/temporary
        start_long_run
        ranks=$(pgrep -P "$run")
        kill -KILL "$run"
        # shellcheck disable=SC2086 # several processes
        gone $ranks || fail "ranks go on without their coordinator"
        [ -z "$(ls temporary)" ] || fail "left behind: $(ls temporary)"
        expect 0 kept "$program" calibrate --from mine.samples.jsonl
        ;;
    full_disk)
        # Files may grow to so many KiB: of samples, then of what is made of them.
        expect 5 samples bash -c 'ulimit -f 16; "$@"' - "$program" calibrate "${small[@]}" -o mine.json
        says samples "cannot write to mine.samples.jsonl"
        says samples "kept: [0-9]+ points in mine.samples.jsonl"
        expect 0 kept "$program" calibrate --from mine.samples.jsonl
        says kept "busbw"
        expect 5 report "$program" calibrate --from mine.samples.jsonl --html /dev/full
        says report "cannot write /dev/full"
        [ -s mine.samples.jsonl ] || fail "the samples are gone"
        ;;
    launched)
        launcher=(mpirun -n 2 --oversubscribe)
        [ "$(id -u)" -ne 0 ] || launcher+=(--allow-run-as-root)
        expect 0 table "${launcher[@]}" "$program" calibrate --backend mpi -n 2 --quick --trials 3 \
            --max-size 64KiB --only all_reduce
        says table "^ +65536 +16384 +float +sum"
        expect 2 ranks "${launcher[@]}" "$program" calibrate --backend mpi -n 4 --quick
        says ranks "-n 4, but the launcher started 2 ranks"
        "${launcher[@]}" "$program" calibrate --backend mpi --quick --trials 400 -o mine.json \
            >long.txt 2>&1 &
        run=$!
        until_measured
        # A rank as it is below mpirun; the coordinator is beside rank 0.
        for rank in $(pgrep -P "$run"); do
            tr '\0' '\n' <"/proc/$rank/environ" | grep -q '^OMPI_COMM_WORLD_RANK=1$' && break
        done
        kill -KILL "$rank"
        wait "$run" && fail "the job ended well"
        says long "stopped: rank 1 "
        says long "kept: [0-9]+ points in mine.samples.jsonl"
        expect 0 kept "$program" calibrate --from mine.samples.jsonl
        ;;
    refuses)
        expect 2 unknown "$program" calibrate --only all_reduse
        says unknown "all_reduse.* is no part .*did you mean \"all_reduce\""
        expect 2 device "$program" calibrate --device H100-SXM5-80
        says device "\"H100-SXM5-80\" is not known; did you mean \"H100-SXM5-80GB\""
        expect 2 alone "$program" calibrate --backend gloo -n 1 --only all_reduce
        says alone "one rank has no other to talk to"
        expect 2 launch "$program" calibrate "${small[@]}" --only launch
        says launch "nothing of that is measured with back end gloo"
        expect 2 attention "$program" calibrate "${small[@]}" --only attention
        expect 2 size "$program" calibrate --max-size 64
        says size "write it with its unit"
        expect 2 sizes "$program" calibrate --min-size 2MiB --max-size 1MiB
        expect 2 nothing "$program" calibrate --from /dev/null --only all_reduce
        says nothing "--only excludes --from"
        expect 3 samples "$program" calibrate --from /dev/null
        says samples "it holds no samples"
        expect 2 kernels "$program" calibrate "${small[@]}" --only all_reduce -o mine.json
        says kernels "needs gemm and memory"
        expect 2 algorithms "$program" calibrate "${small[@]}" --algorithms
        expect 3 place env RANK=5 WORLD_SIZE=2 "$program" calibrate "${small[@]}"
        says place "RANK is 5"
        expect 2 ranks env RANK=0 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 "$program" calibrate "${small[@]}" -n 3
        says ranks "-n 3, but the launcher started 2 ranks"
        # The first of two such jobs waits for its other rank, at the port behind the launcher's.
        export MASTER_ADDR=localhost MASTER_PORT=$((20000 + RANDOM))
        job=(env RANK=0 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 "$program" calibrate "${small[@]}")
        "${job[@]}" >first.txt 2>&1 &
        first=$!
        until_listening $((MASTER_PORT + 1)) "$first"
        expect 5 port "${job[@]}"
        says port "set MASTER_PORT to another"
        kill -TERM "$first"
        unset MASTER_ADDR MASTER_PORT
        expect 4 mpirun env PATH=/nonexistent "$program" calibrate --backend mpi -n 2
        says mpirun "install openmpi-bin"
        expect 5 nowhere "$program" calibrate "${small[@]}" -o nowhere/mine.json
        ;;
esac
