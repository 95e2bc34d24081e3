#!/usr/bin/env python3
"""Fits a smooth surface to published times of single kernels, per device and kind of kernel, and says how far off it is.

    tests/validation/fit_kernels.py FOLDER                                  # every kind and device
    tests/validation/fit_kernels.py FOLDER --kind gemm --device h100_sxm,b200_sxm --format bfloat16
    tests/validation/fit_kernels.py FOLDER --json surfaces.json             # constants, corrections, residuals too

FOLDER holds KIND.DEVICE.csv.gz in the columns of ai-dynamo/aiconfigurator (Apache-2.0): sizes and latency_ms. Each kind is a file of kernels/,
which says which kernel it chose, by name and before any fit.

A surface is a form of a few constants times the exponential of a correction, linear in the logarithms of the sizes between the points of
a coarse grid. Both are fitted to relative errors, robustly. Errors are those of rows that the fit has not seen: a fifth of the (n, k) pairs,
head counts or expert shapes at a time, whole ("left out"), then all rows beyond a size, in a fit to the smaller ones ("larger").
Needs numpy, scipy, pandas; ten minutes on one core for all.
"""

import argparse
import json
import os

import numpy as np

from kernels.attention import AttentionForm, attention_rows
from kernels.deepep import DeepEpForm, deepep_rows
from kernels.encoder import EncoderForm, encoder_rows
from kernels.gemm import GemmForm, gemm_rows
from kernels.latent import LatentForm, latent_rows
from kernels.linear import delta_rows, kimi_rows, linear_form, mamba_rows
from kernels.moe import MoeForm, moe_rows
from kernels.sparse import SparseForm, sparse_rows
from kernels.surface import DEVICES, spread, study, text

KINDS = {
    "gemm": (GemmForm, gemm_rows), "attention_forward": (AttentionForm, attention_rows), "moe_forward": (MoeForm, moe_rows),
    "latent_attention_forward": (LatentForm, latent_rows), "sparse_attention_forward": (SparseForm, sparse_rows),
    "gated_delta_net_forward": (linear_form, delta_rows), "kimi_delta_attention_forward": (linear_form, kimi_rows),
    "mamba2_forward": (linear_form, mamba_rows), "encoder_attention_forward": (EncoderForm, encoder_rows),
    "deepep_normal": (DeepEpForm, deepep_rows),
}
SOURCE = "ai-dynamo/aiconfigurator, Apache-2.0, commit 095f58a51c4c, 2026-08-21"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", help="of the measured tables")
    parser.add_argument("--kind", choices=KINDS, action="append", help="default all")
    parser.add_argument("--device", default=",".join(DEVICES), help="names, with commas")
    parser.add_argument("--format", help="only this one, as the table names it")
    parser.add_argument("--json", help="file for constants and corrections")
    options = parser.parse_args()
    written = {}
    print("| device | kernel | rows | in the fit | left out | larger | same kernel, other framework |\n|---|---|---|---|---|---|---|")
    for kind in options.kind or KINDS:
        make_form, read = KINDS[kind]
        for device in options.device.split(","):
            if not os.path.exists(os.path.join(options.folder, f"{kind}.{device}.csv.gz")):
                continue
            pooled = []
            for name, rows, other in read(options.folder, device):
                if options.format not in (None, name):
                    continue
                surface, *errors = study(make_form, device, name, rows)
                pooled.append(errors)
                written.setdefault(kind, {}).setdefault(device, {})[name] = surface.written() | residuals(rows, errors)
                repeated = spread(rows, other, surface.form.sizes) if other is not None else None
                print("| " + " | ".join([device, f"{kind} {name}", str(len(rows)), *map(text, errors), text(repeated)]) + " |", flush=True)
            if kind in ("attention_forward", "encoder_attention_forward") and len(pooled) > 1:
                together = [np.concatenate(part) for part in zip(*pooled)]
                print("| " + " | ".join([device, f"{kind}, all", str(len(together[0])), *map(text, together), ""]) + " |", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(written, file, separators=(",", ":"))


def residuals(rows, errors):
    """What a reader of the constants should know: per mille, median and nine in ten."""
    per_mille = lambda part: [round(1000 * q) for q in np.quantile(part, [.5, .9])] if len(part) else None
    return {"rows": len(rows), "kernel": sorted(rows.kernel_source.unique()), "source": SOURCE,
            "residuals": dict(zip(("fit", "left_out", "larger"), map(per_mille, errors)))}


if __name__ == "__main__":
    main()
