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


class GemmForm:
    """fixed + (the quickest of tiles and splits of k, or memory) + quantisation of m k elements.

    A tile of Tm x Tn takes 2 Tm Tn k / (rate / SMs) x penalty + ramp, as often as there are waves; of a last wave that is not full the share
    `waves` counts. Splitting k costs ramps and the partial sums' way through memory.
    """
    names = ["fixed_s", "rate", "ramp_s", "memory", "split_ramps", "quantise_s", "penalty_1", "penalty_2", "penalty_3",
             "penalty_4", "waves"]
    sizes = ["m", "n", "k"]
    knots = [[512, 1024, 2048, 4096, 8192, 32768], [32, 128, 512, 1024, 2048, 4096, 8192, 16384, 65536],
             [32, 128, 512, 1024, 2048, 4096, 8192, 16384, 65536]]
    logs = 10
    whole = ["n", "k"]

    def __init__(self, device, number_format, rows):
        self.sms, hbm, _ = DEVICES[device]
        self.bytes = FORMATS[number_format]
        peak = np.quantile(2.0 * rows.m * rows.n * rows.k / rows.latency_ms * 1e3, .98)
        quantised = number_format != "bfloat16"
        self.low = np.r_[np.log([1e-6, .6 * peak, .05e-6, .35 * hbm, .5, 1e-14 if quantised else 1e-30]), [-.05] * 4, 0]
        self.high = np.r_[np.log([3e-5, 1.5 * peak, 3e-6, 1.1 * hbm, 100, 3e-11 if quantised else 2e-30]), [.6] * 4, 1]
        quantise = 1e-12 if quantised else 1.5e-30
        self.starts = [np.r_[np.log([3e-6, peak, ramp, .8 * hbm, 2, quantise]), [step] * 4, waves]
                       for ramp, waves, step in ((1e-6, .8, .05), (.3e-6, .4, .12))]

    def __call__(self, x, rows):
        m, n, k = (rows[size].to_numpy(float) for size in self.sizes)
        fixed, rate, ramp, memory, split_ramps, quantise = np.exp(x[:6])
        penalty = np.exp(np.cumsum(np.r_[0, x[6:10]]))
        compute = np.inf
        for tile_m, tile_n, size in TILES:
            units = self.sms // 2 if size == 0 else self.sms
            per_k = 2.0 * tile_m * tile_n * units / rate * penalty[size]
            tiles = np.ceil(m / tile_m) * np.ceil(n / tile_n)
            for split in SPLITS:
                full = tiles * split / units
                waves = np.where(full < 1, 1, full + x[10] * (np.ceil(full) - full))
                time = waves * (k / split * per_k + ramp)
                if split > 1:
                    time = time + split_ramps * ramp + 4 * m * n / memory
                compute = np.minimum(compute, time)
        moved = self.bytes[0] * (m * k + n * k) + self.bytes[1] * m * n
        return fixed + either(compute, moved / memory) + quantise * m * k

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
