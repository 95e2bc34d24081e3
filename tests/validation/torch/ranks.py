"""Starts a program once per rank on this host and hands back what rank 0 printed."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run_ranks(program, arguments, ranks, limit=300):
    """Its JSON. The first rank that fails ends the others and this program, as `limit` [s] does."""
    place = {"WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
             "MASTER_PORT": str(_free_port())}
    environment = {"GLOO_SOCKET_IFNAME": "lo"} | os.environ | place
    command = [sys.executable, str(FOLDER / program), *map(str, arguments)]
    running = [subprocess.Popen(command, env=environment | {"RANK": str(rank),
                                                            "LOCAL_RANK": str(rank)},
                                stdout=subprocess.PIPE if rank == 0 else subprocess.DEVNULL,
                                text=True)
               for rank in range(ranks)]
    try:
        return json.loads(_wait(running, program, time.monotonic() + limit))
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
            process.wait()


def _wait(running, program, end):
    while any(process.poll() is None for process in running):
        for rank, process in enumerate(running):
            if process.poll() not in (None, 0):
                sys.exit(f"{program}: rank {rank} ended with {process.returncode}")
        if time.monotonic() > end:
            sys.exit(f"{program}: its ranks took too long and were ended")
        time.sleep(0.02)
    if any(process.returncode for process in running):
        sys.exit(f"{program}: a rank failed")
    return running[0].stdout.read()
