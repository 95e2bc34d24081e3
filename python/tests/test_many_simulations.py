"""Thousands of simulations in one process: memory stays where it is."""

from __future__ import annotations

import gc
import os
import unittest

import trainyard
from paths import small


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class StaysFlat(unittest.TestCase):
    def test_memory_of_many_simulations(self) -> None:
        count = int(os.environ.get("TRAINYARD_SIMULATIONS", "600"))
        s = trainyard.Scenario.load(small)
        sizes = []
        for number in range(count):
            s.run.seed = number
            s.training.micro_batch = 1 + number % 4
            try:
                trainyard.simulate(s, advice=0, scaling=False).to_dict()
            except trainyard.InputError:
                pass
            if number % (count // 10) == count // 10 - 1:
                gc.collect()
                sizes.append(resident())
        # Half of the work fills what is kept; the other half adds nothing that grows with it.
        grown = sizes[-1] - sizes[4]
        print(f"{count} simulations: {sizes[4] / 1e6:.1f} MB halfway, {sizes[-1] / 1e6:.1f} MB at the end")
        self.assertLess(grown, 4_000_000, sizes)


if __name__ == "__main__":
    unittest.main()
