"""Products of matrices by shape and number format."""

import os

import numpy as np
import pandas as pd

from kernels.surface import DEVICES, either

# Bytes of an operand's element, of the result's.
FORMATS = {"bfloat16": (2, 2), "fp8": (1, 2), "fp8_block": (1, 2), "nvfp4": (0.5625, 2)}
# Rows, columns, and which of the constants of efficiency; the first is of two SMs together.
TILES = [(256, 256, 0), (256, 128, 1), (128, 256, 1), (128, 128, 2), (256, 64, 2), (64, 256, 2), (128, 64, 3),
         (64, 128, 3), (64, 64, 4)]
SPLITS = (1, 2, 4, 8)
TILE, PAIR = 128, 256  # rows and columns that waves are counted in; rows that padding is


class GemmForm:
    """fixed + (the quickest of tiles and splits of k, or memory) + quantisation of m k elements.

    A tile of Tm x Tn takes 2 Tm Tn k / (rate / SMs) x penalty + ramp, as often as there are waves; of a last wave that is not full the share
    `waves` counts. Splitting k costs ramps and the partial sums' way through memory. Memory is `cached` times as quick where `footprint` of
    the bytes fits the cache, since timed runs repeat; a step reads from memory. What a library chooses jumps with the number of tiles for the
    SMs and with rows that fill no pair of tiles: the correction has a grid for each beside that of m, n and k.
    """
    names = ["fixed_s", "rate", "ramp_s", "memory", "split_ramps", "quantise_s", "cached", "footprint", "penalty_1", "penalty_2", "penalty_3",
             "penalty_4", "waves"]
    sizes = ["m", "n", "k"]
    lengths = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536]
    grids = {
        "correction": (sizes, [[512, 1024, 2048, 4096, 8192, 32768], [32, 128, 512, 1024, 2048, 4096, 8192, 16384, 65536],
                               [32, 128, 512, 1024, 2048, 4096, 8192, 16384, 65536]], 1),
        # Per cent of the SMs, and of the rows; dense about whole waves.
        "waves": (["waves", "k"], [[2, 10, 20, 30, 40, 50, 60, 80, 98, 102, 120, 150, 197, 203, 240, 295, 305, 350, 395, 405, 450, 495, 505, 550,
                                    595, 605, 800, 1600, 6400], lengths], .002),
        "padding": (["padding", "k"], [[100, 105, 112, 120, 133, 150], [32, 128, 512, 2048, 8192, 65536]], .05),
    }
    logs = 12
    whole = ["n", "k"]

    def __init__(self, device, number_format, rows):
        self.sms, hbm, self.cache = DEVICES[device]
        self.bytes = FORMATS[number_format]
        peak = np.quantile(2.0 * rows.m * rows.n * rows.k / rows.latency_ms * 1e3, .98)
        quantised = number_format != "bfloat16"
        self.low = np.r_[np.log([1e-6, .6 * peak, .05e-6, .35 * hbm, .5, 1e-14 if quantised else 1e-30, 1, .7]), [-.05] * 4, 0]
        self.high = np.r_[np.log([3e-5, 1.5 * peak, 3e-6, 1.1 * hbm, 100, 3e-11 if quantised else 2e-30, 8, 4]), [.6] * 4, 1]
        quantise = 1e-12 if quantised else 1.5e-30
        self.starts = [np.r_[np.log([3e-6, peak, ramp, .8 * hbm, 2, quantise, cached, footprint]), [step] * 4, waves]
                       for ramp, waves, step, cached, footprint in ((1e-6, .8, .05, 2, 1.6), (.3e-6, .4, .12, 3, 1.1))]

    def __call__(self, x, rows):
        m, n, k = (rows[size].to_numpy(float) for size in self.sizes)
        fixed, quantise = np.exp(x[[0, 5]])
        cached, footprint = np.exp(x[6:8])
        fits = 1 / (1 + (footprint * self.moved(m, n, k) / self.cache) ** 6)
        return fixed + self.product(x, m, n, k, 1 - fits + fits / cached) + quantise * m * k

    def moved(self, m, n, k):
        return self.bytes[0] * (m * k + n * k) + self.bytes[1] * m * n

    def product(self, x, m, n, k, cached=1.0):
        """Without launch and quantisation; `cached`: of memory's time."""
        rate, ramp, memory, split_ramps = np.exp(x[1:5])
        penalty = np.exp(np.cumsum(np.r_[0, x[8:12]]))
        compute = np.inf
        for tile_m, tile_n, size in TILES:
            units = self.sms // 2 if size == 0 else self.sms
            per_k = 2.0 * tile_m * tile_n * units / rate * penalty[size]
            tiles = np.ceil(m / tile_m) * np.ceil(n / tile_n)
            for split in SPLITS:
                full = tiles * split / units
                waves = np.where(full < 1, 1, full + x[12] * (np.ceil(full) - full))
                time = waves * (k / split * per_k + ramp)
                if split > 1:
                    time = time + split_ramps * ramp + 4 * m * n / memory
                compute = np.minimum(compute, time)
        return either(compute, self.moved(m, n, k) / memory * cached)

    def columns(self, m, n, k):
        return {"m": m, "n": n, "k": k, "waves": 100 * np.ceil(m / TILE) * np.ceil(n / TILE) / self.sms,
                "padding": 100 * np.ceil(m / PAIR) * PAIR / m}

    def derived(self, rows):
        return self.columns(*(rows[size].to_numpy(float) for size in self.sizes))

    def rising(self, x):
        """Products, the same with m, n or k twice as large, and the logarithm of the form's ratio."""
        waves, lengths = (np.array(knots) for knots in self.grids["waves"][1])
        tiles = self.sms / 100 * np.r_[waves, waves / 2]
        tiles = np.unique(np.maximum(1, np.r_[np.floor(tiles), np.ceil(tiles)]))
        side, tiles, k, filled = (v.ravel() for v in np.meshgrid([1, 2, 16], tiles, lengths, [.55, .72, 1]))
        one, other = np.ceil(side * TILE * filled), np.ceil(tiles / side) * TILE
        few = [np.round(np.exp(np.random.default_rng(1).uniform(np.log(low), np.log(high), (count, 3)))).T
               for low, high, count in (([32, 32, 32], [2 ** 14, 2 ** 14, 2 ** 17], 8000), ([1, 1, 1], [2 ** 17] * 3, 6000))]
        small = np.concatenate([np.array([one, other, k]), np.array([other, one, k]), *few], axis=1)
        pairs = [(small, small * (1 + np.eye(3)[[grown]].T)) for grown in range(3)]
        small, large = (np.concatenate(part, axis=1) for part in zip(*pairs))
        return self.columns(*small), self.columns(*large), np.log(self.product(x, *large) / self.product(x, *small))

    @staticmethod
    def larger(rows):
        return (rows.m > 16384) | (rows.n > 16384) | (rows.k > 16384)


def gemm_rows(folder, device):
    """Of each format: the chosen kernel's rows, and those of the same kernel as the other framework ran it."""
    rows = pd.read_csv(os.path.join(folder, f"gemm.{device}.csv.gz"))
    for number_format in FORMATS:
        of_format = rows[rows.gemm_dtype == number_format]
        chosen = of_format[(of_format.framework == "TRTLLM") & of_format.kernel_source.isin(["torch_flow", "deepgemm"])]
        if not chosen.empty:
            yield number_format, chosen, of_format[of_format.framework == "VLLM"] if number_format == "bfloat16" else None
