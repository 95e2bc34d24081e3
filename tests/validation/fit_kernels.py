#!/usr/bin/env python3
"""Fits a smooth surface to published times of single kernels, per device and kind of kernel, and says how far off it is.

    tests/validation/fit_kernels.py FOLDER                                  # GEMM and attention, every device
    tests/validation/fit_kernels.py FOLDER --kind gemm --device h100_sxm,b200_sxm --format bfloat16
    tests/validation/fit_kernels.py FOLDER --json surfaces.json             # constants and corrections too

FOLDER holds KIND.DEVICE.csv.gz in the columns of ai-dynamo/aiconfigurator (Apache-2.0): sizes and latency_ms. Kernels are chosen by name,
before any fit: GEMM as TensorRT-LLM's PyTorch flow calls it (cuBLAS; DeepGEMM for fp8 by block; narrow formats with the
quantisation of the activations), attention as vLLM calls it on bf16 (FlashAttention 2 on A100 and L40S, 3 on Hopper (4 for heads of 512), TensorRT-LLM's on
Blackwell).

A surface is a form of at most 11 constants times the exponential of a correction, linear in the logarithms of the sizes between the points of
a coarse grid. Both are fitted to relative errors, robustly. Errors are those of rows that the fit has not seen: a fifth of the (n, k) pairs
or head counts at a time, whole ("left out"), then all rows beyond a size, in a fit to the smaller ones ("larger"). Needs numpy, scipy,
pandas; a few minutes.
"""

import argparse
import json
import os

import numpy as np
import pandas as pd
import scipy.sparse as sparse
from scipy.optimize import least_squares
from scipy.sparse.linalg import spsolve

# Streaming multiprocessors; bytes/s of the data sheet.
DEVICES = {
    "a100_sxm": (108, 2.04e12), "h100_sxm": (132, 3.35e12), "h200_sxm": (132, 4.8e12), "l40s": (142, 0.864e12),
    "b200_sxm": (148, 8e12), "b300_sxm": (148, 8e12), "gb200": (152, 8e12), "gb300": (152, 8e12),
}
ROBUST = 0.05    # relative error beyond which a row pulls less
FIT_ROWS = 3000  # that the constants of a form are fitted to; corrections take all
FOLDS = 5

# Bytes of an operand's element, of the result's.
FORMATS = {"bfloat16": (2, 2), "fp8": (1, 2), "fp8_block": (1, 2), "nvfp4": (0.5625, 2)}
# Rows, columns, and which of the constants of efficiency; the first is of two SMs together.
TILES = [(256, 256, 0), (256, 128, 1), (128, 256, 1), (128, 128, 2), (256, 64, 2), (64, 256, 2), (128, 64, 3),
         (64, 128, 3), (64, 64, 4)]
SPLITS = (1, 2, 4, 8)


def either(a, b):
    """The larger of two times, rounded where they are alike."""
    return np.sqrt(np.sqrt(a ** 4 + b ** 4))


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
    whole = ["n", "k"]

    def __init__(self, device, number_format, rows):
        self.sms, hbm = DEVICES[device]
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

    @staticmethod
    def constants(x):
        return np.r_[np.exp(x[:10]), x[10]]


class AttentionForm:
    """fixed + (operations / rate x waves, or memory), of one head size and window.

    Operations: 4 b h d times the pairs that a causal mask and the window leave and those masked ones that blocks on its edge compute too,
    `edge` a query; waves of blocks of 128 queries of a head.
    """
    names = ["fixed_s", "rate", "edge", "memory", "waves"]
    sizes = ["isl", "batch_heads", "group"]
    knots = [[512, 1024, 2048, 4096, 8192, 16384], [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096], [1, 2, 4, 8, 16, 64]]
    whole = ["num_heads", "num_key_value_heads"]

    def __init__(self, device, _, rows):
        self.sms, hbm = DEVICES[device]
        peak = np.quantile(self.operations(rows) / rows.latency_ms.to_numpy() * 1e3, .98)
        self.low = np.r_[np.log([1e-6, .7 * peak, 1, .2 * hbm]), 0]
        self.high = np.r_[np.log([5e-5, 3 * peak, 4000, 1.1 * hbm]), 1]
        self.starts = [np.r_[np.log([5e-6, 1.1 * peak, edge, .7 * hbm]), .5] for edge in (50, 500)]

    @staticmethod
    def operations(rows, edge=0):
        s = rows.isl.to_numpy(float)
        window = np.where(rows.window_size > 0, np.minimum(rows.window_size, s), s)
        return 4.0 * rows.batch_heads.to_numpy() * rows.head_dim.to_numpy() * (s * window - window ** 2 / 2 + edge * s)

    def __call__(self, x, rows):
        fixed, rate, edge, memory = np.exp(x[:4])
        s = rows.isl.to_numpy(float)
        heads = rows.batch_heads.to_numpy(float)
        full = heads * np.ceil(s / 128) / self.sms
        idle = np.where(full < 1, 1, full + x[4] * (np.ceil(full) - full)) / full
        compute = self.operations(rows, edge) / rate * idle
        moved = 4 * heads * s * rows.head_dim.to_numpy() * (1 + 1 / rows.group.to_numpy())
        return fixed + either(compute, moved / memory)

    @staticmethod
    def larger(rows):
        return rows.isl > 10240

    @staticmethod
    def constants(x):
        return np.r_[np.exp(x[:4]), x[4]]


class Correction:
    """Logarithm of measured / form: multilinear in the logarithms of sizes, flat beyond the grid, smoothed."""

    def __init__(self, knots):
        self.axes = [np.log(k) for k in knots]
        self.values = None

    def design(self, sizes):
        count = len(sizes[0])
        cells = []
        for axis, size in zip(self.axes, sizes):
            at = np.clip(np.log(size), axis[0], axis[-1])
            below = np.clip(np.searchsorted(axis, at, side="right") - 1, 0, len(axis) - 2)
            cells.append((below, (at - axis[below]) / (axis[below + 1] - axis[below])))
        rows, columns, weights = [], [], []
        for corner in range(1 << len(cells)):
            index, weight = np.zeros(count, int), np.ones(count)
            for axis, (below, part) in enumerate(cells):
                up = corner >> axis & 1
                index = index * len(self.axes[axis]) + below + up
                weight = weight * (part if up else 1 - part)
            rows.append(np.arange(count))
            columns.append(index)
            weights.append(weight)
        return sparse.csr_matrix((np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))),
                                 shape=(count, int(np.prod([len(a) for a in self.axes]))))

    def bends(self):
        """Second differences along each axis."""
        parts = []
        for bent, axis in enumerate(self.axes):
            step = np.diff(axis)
            second = sparse.diags([1 / step[:-1], -(1 / step[:-1] + 1 / step[1:]), 1 / step[1:]], [0, 1, 2],
                                  shape=(len(axis) - 2, len(axis)))
            part = sparse.identity(1)
            for other, axis_of in enumerate(self.axes):
                part = sparse.kron(part, second if other == bent else sparse.identity(len(axis_of)))
            parts.append(part)
        return sparse.vstack(parts).tocsr()

    def fit(self, sizes, residuals):
        design, bends = self.design(sizes), self.bends()
        scale = len(residuals) / design.shape[1]
        penalty = scale * (.1 * bends.T @ bends + .002 * sparse.identity(design.shape[1]))
        weight = np.ones(len(residuals))
        for _ in range(6):
            left = design.T @ sparse.diags(weight) @ design + penalty
            self.values = spsolve(left.tocsc(), design.T @ (weight * residuals))
            weight = 1 / np.sqrt(1 + ((residuals - design @ self.values) / ROBUST) ** 2)

    def __call__(self, sizes):
        return self.design(sizes) @ self.values


class Surface:
    def __init__(self, form, rows):
        self.form = form
        seen = rows.sample(min(FIT_ROWS, len(rows)), random_state=1)
        target = np.log(seen.latency_ms.to_numpy() / 1e3)
        fits = [least_squares(lambda x: np.log(form(x, seen)) - target, start, loss="soft_l1", f_scale=ROBUST,
                              diff_step=1e-3, max_nfev=60, bounds=(form.low, form.high)) for start in form.starts]
        self.x = min(fits, key=lambda f: f.cost).x
        self.correction = Correction(form.knots)
        self.correction.fit(self.sizes(rows), np.log(rows.latency_ms.to_numpy() / 1e3) - np.log(form(self.x, rows)))

    def sizes(self, rows):
        return [rows[size].to_numpy(float) for size in self.form.sizes]

    def errors(self, rows):
        """|predicted / measured - 1|"""
        log = np.log(self.form(self.x, rows)) + self.correction(self.sizes(rows))
        return np.abs(np.exp(log) / (rows.latency_ms.to_numpy() / 1e3) - 1)

    def written(self, rows, left_out):
        median, p90 = map(float, np.quantile(left_out, [.5, .9]))
        return {"errors": {"rows": rows, "median": median, "p90": p90}, "constants": dict(zip(self.form.names, map(float, self.form.constants(self.x)))),
                "correction": {"sizes": self.form.sizes, "knots": self.form.knots,
                               "per_mille": [round(1000 * v) for v in self.correction.values]}}


def gemm_rows(folder, device):
    """Of each format: the chosen kernel's rows, and those of the same kernel as the other framework ran it."""
    rows = pd.read_csv(os.path.join(folder, f"gemm.{device}.csv.gz"))
    for number_format in FORMATS:
        of_format = rows[rows.gemm_dtype == number_format]
        chosen = of_format[(of_format.framework == "TRTLLM") & of_format.kernel_source.isin(["torch_flow", "deepgemm"])]
        if not chosen.empty:
            yield number_format, chosen, of_format[of_format.framework == "VLLM"] if number_format == "bfloat16" else None


def attention_rows(folder, device):
    rows = pd.read_csv(os.path.join(folder, f"attention_forward.{device}.csv.gz"))
    rows = rows[(rows.framework == "VLLM") & (rows.attn_dtype == "bfloat16") & (rows.kv_cache_dtype == "bfloat16")]
    rows = rows.assign(window_size=rows.window_size.fillna(0), batch_heads=rows.batch_size * rows.num_heads,
                       group=rows.num_heads / rows.num_key_value_heads)
    for (head, window), of_class in rows.groupby(["head_dim", "window_size"]):
        yield f"head {head}" + (f", window {window:.0f}" if window else ""), of_class, None


KINDS = {"gemm": (GemmForm, gemm_rows), "attention_forward": (AttentionForm, attention_rows)}


def spread(chosen, other, sizes):
    """|one / other - 1| of shapes that two frameworks timed with the same kernel, about the median ratio."""
    both = pd.merge(chosen, other, on=sizes)
    ratio = np.log(both.latency_ms_x / both.latency_ms_y)
    return np.abs(np.expm1(ratio - ratio.median()))


def text(errors):
    return "" if errors is None or not len(errors) else "%.1f / %.1f %%" % tuple(100 * np.quantile(errors, [.5, .9]))


def study(form_class, device, name, rows):
    """The surface of all rows; errors in it, of what was left out, and of larger sizes."""
    rows = rows.reset_index(drop=True)
    wholes = rows[form_class.whole].drop_duplicates().reset_index(drop=True)
    wholes["fold"] = np.random.default_rng(1).permutation(len(wholes)) % FOLDS
    rows = rows.merge(wholes, on=form_class.whole)
    fit = lambda seen: Surface(form_class(device, name, seen), seen)
    left_out = [fit(rows[rows.fold != fold]).errors(rows[rows.fold == fold]) for fold in range(FOLDS)]
    larger = form_class.larger(rows)
    surface = fit(rows)
    return surface, surface.errors(rows), np.concatenate(left_out), fit(rows[~larger]).errors(rows[larger])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", help="of the measured tables")
    parser.add_argument("--kind", choices=KINDS, action="append", help="gemm or attention_forward; default both")
    parser.add_argument("--device", default=",".join(DEVICES), help="names, with commas")
    parser.add_argument("--format", help="of GEMMs, only this one")
    parser.add_argument("--json", help="file for constants and corrections")
    options = parser.parse_args()
    written = {}
    print("| device | kernel | rows | in the fit | left out | larger | same kernel, other framework |\n|---|---|---|---|---|---|---|")
    for kind in options.kind or KINDS:
        form_class, read = KINDS[kind]
        for device in options.device.split(","):
            pooled = []
            for name, rows, other in read(options.folder, device):
                if kind == "gemm" and options.format not in (None, name):
                    continue
                surface, *errors = study(form_class, device, name, rows)
                pooled.append(errors)
                written.setdefault(kind, {}).setdefault(device, {})[name] = surface.written(len(rows), errors[1])
                repeated = spread(rows, other, form_class.sizes) if other is not None else None
                cells = [device, name, str(len(rows)), *map(text, errors), text(repeated)]
                print("| " + " | ".join(cells) + " |", flush=True)
            if kind != "gemm" and len(pooled) > 1:
                together = [np.concatenate(part) for part in zip(*pooled)]
                print("| " + " | ".join([device, "all attention", str(len(together[0])), *map(text, together), ""]) + " |",
                      flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(written, file, separators=(",", ":"))


if __name__ == "__main__":
    main()
