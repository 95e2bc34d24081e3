"""Attention forward, by length, heads, head size and window."""

import os

import numpy as np
import pandas as pd

from kernels.surface import DEVICES, either


class AttentionForm:
    """fixed + (operations / rate x waves, or memory), of one head size and window.

    Operations: 4 b h d times the pairs that a causal mask and the window leave and those masked ones that blocks on its edge compute too,
    `edge` a query; waves of blocks of 128 queries of a head.
    """
    names = ["fixed_s", "rate", "edge", "memory", "waves"]
    sizes = ["isl", "batch_heads", "group"]
    knots = [[512, 1024, 2048, 4096, 8192, 16384], [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096], [1, 2, 4, 8, 16, 64]]
    logs = 4
    whole = ["num_heads", "num_key_value_heads"]

    def __init__(self, device, _, rows):
        self.sms, hbm, _ = DEVICES[device]
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


def attention_rows(folder, device):
    rows = pd.read_csv(os.path.join(folder, f"attention_forward.{device}.csv.gz"))
    rows = rows[(rows.framework == "VLLM") & (rows.attn_dtype == "bfloat16") & (rows.kv_cache_dtype == "bfloat16")]
    rows = rows.assign(window_size=rows.window_size.fillna(0), batch_heads=rows.batch_size * rows.num_heads,
                       group=rows.num_heads / rows.num_key_value_heads)
    for (head, window), of_class in rows.groupby(["head_dim", "window_size"]):
        yield f"head {head}" + (f", window {window:.0f}" if window else ""), of_class, None
