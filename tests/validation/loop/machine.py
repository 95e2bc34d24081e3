"""How much others use this machine while something is measured."""

import os
import resource
import time


def cores():
    return len(os.sched_getaffinity(0))


class Load:
    """From its making on. Interrupts count for nobody: those of loopback traffic are our own."""

    def __init__(self):
        self._start = time.monotonic()
        self._busy = _busy_seconds()
        self._own = _own_seconds()

    def of_others(self):
        """Share of all cores' time that went to processes that are neither this one nor its
        descendants (those that have ended), or to the hypervisor's other guests."""
        wall = time.monotonic() - self._start
        others = (_busy_seconds() - self._busy) - (_own_seconds() - self._own)
        return max(0.0, others / (wall * os.cpu_count()))


def _busy_seconds():
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _idle, _io, _irq, _soft, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + steal) / os.sysconf("SC_CLK_TCK")


def _own_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
