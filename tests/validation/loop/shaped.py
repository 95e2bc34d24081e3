"""Ranks in network namespaces of their own, joined by links of a chosen rate: hosts of a slow network.

Each namespace is a host with a name and one interface; all interfaces meet in a bridge, which has a
namespace too, so that nothing changes outside them. Both ends of each link are shaped by tbf.
"""

import os
import pathlib
import re
import subprocess

INTERFACE = "link0"  # of every rank
PORT = 29500  # where ranks meet: every namespace has all ports of its own
BURST = 64 << 10  # bytes that pass at once: as much as the kernel hands on in one piece
QUEUE = "50ms"
_PREFIX = "trainyard"
_UNITS = {"k": 1e3, "m": 1e6, "g": 1e9}


class CannotShape(Exception):
    """Why, for people."""


def bits_per_second(text):
    """Of "1Gbit/s", "400 Mbit/s". Throws ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kMG])bit(?:/s)?", text)
    if match is None:
        raise ValueError(f'"{text}" is no rate: write it as 1Gbit/s or 400Mbit/s')
    return float(match[1]) * _UNITS[match[2].lower()]


class ShapedNetwork:
    """A context: namespaces are made on entry and gone on exit, however that comes about."""

    variables = {"GLOO_SOCKET_IFNAME": INTERFACE}  # which a profile of it remembers

    def __init__(self, ranks, bits):
        self._bits = bits
        self._hub = _name(os.getpid(), "hub")
        self._hosts = [_name(os.getpid(), rank) for rank in range(ranks)]

    def __enter__(self):
        _remove_left_behind()
        try:
            self._build()
        except CannotShape:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in [*self._hosts, self._hub]:
            _remove(name)

    def command(self, rank, command):
        """`command` on the rank's host, which has a name of its own."""
        return ["ip", "netns", "exec", self._hosts[rank], "unshare", "--uts", "sh", "-c",
                'hostname "$0" && exec "$@"', f"host{rank}", *(str(part) for part in command)]

    def environment(self, rank):
        """As torchrun sets it on hosts of one rank each."""
        return os.environ | self.variables | {
            "RANK": str(rank), "WORLD_SIZE": str(len(self._hosts)), "LOCAL_RANK": "0",
            "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": _address(0), "MASTER_PORT": str(PORT)}

    def _build(self):
        _ip("netns", "add", self._hub)
        _inside(self._hub, "ip", "link", "add", "bridge0", "type", "bridge")
        _inside(self._hub, "ip", "link", "set", "bridge0", "up")
        for rank, host in enumerate(self._hosts):
            port = f"port{rank}"
            _ip("netns", "add", host)
            _ip("link", "add", INTERFACE, "netns", host, "type", "veth", "peer", "name", port,
                "netns", self._hub)
            _inside(self._hub, "ip", "link", "set", port, "master", "bridge0", "up")
            _inside(host, "ip", "address", "add", f"{_address(rank)}/16", "dev", INTERFACE)
            _inside(host, "ip", "link", "set", INTERFACE, "up")
            _inside(host, "ip", "link", "set", "lo", "up")
            self._shape(host, INTERFACE)
            self._shape(self._hub, port)

    def _shape(self, namespace, interface):
        _inside(namespace, "tc", "qdisc", "add", "dev", interface, "root", "tbf", "rate",
                f"{self._bits:.0f}bit", "burst", str(BURST), "latency", QUEUE)


def _name(process, part):
    return f"{_PREFIX}-{process}-{part}"


def _address(rank):
    return f"10.77.{rank // 200}.{rank % 200 + 1}"


def _ip(*arguments):
    _checked(["ip", *arguments])


def _inside(namespace, *command):
    _checked(["ip", "netns", "exec", namespace, *command])


def _checked(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CannotShape(f"{command[0]} is not installed (package iproute2)") from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        hint = "" if os.geteuid() == 0 else "; it takes root"
        raise CannotShape(f"{' '.join(command)}: {said}{hint}")


def _remove(name):
    if pathlib.Path("/run/netns", name).exists():
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _remove_left_behind():
    """By runs that were killed outright."""
    for path in pathlib.Path("/run/netns").glob(f"{_PREFIX}-*-*"):
        process = path.name.split("-")[1]
        if process.isdigit() and not pathlib.Path("/proc", process).exists():
            _remove(path.name)
