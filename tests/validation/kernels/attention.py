"""Attention forward, causal, by length, heads, head size and window."""

import os

import numpy as np
import pandas as pd

from kernels.blocks import BlockForm


class AttentionForm(BlockForm):
    """Blocks, and what the inference framework does before: tokens x (token_s + key-value heads x cache_s) to write keys and values into its pages.

    A training step has no such pages: it takes both as 0. What a kernel does with few blocks, with heads and with tokens are grids of their own in the
    correction: over two sizes each, they say more of heads that were not measured than one over all.
    """
    names = ["fixed_s", "rate", "edge", "memory", "token_s", "cache_s", "waves", "block"]
    sizes = ["isl", "batch_heads", "group", "num_key_value_heads", "tokens"]
    heads, key_heads = [1, 4, 16, 64, 128, 256, 1024], [1, 4, 16, 64]
    grids = {
        "correction": (["isl", "batch_heads"], [[512, 1024, 2048, 4096, 16384], heads], 1),
        # Per cent of the SMs; dense about whole waves.
        "waves": (["isl", "waves"], [[512, 2048, 16384], [2, 10, 20, 40, 60, 80, 98, 102, 150, 197, 203, 250, 297, 303, 400, 500, 600, 800, 1600,
                                                          6400]], .01),
        "key_heads": (["batch_heads", "num_key_value_heads"], [heads, key_heads], 1),
        "groups": (["waves", "group"], [[2, 10, 30, 100, 300, 1000, 10000], [1, 2, 4, 8, 64]], 1),
        "tokens": (["tokens", "num_key_value_heads"], [[512 << i for i in range(9)], [1, 2, 4, 8, 16, 64]], 1),
    }
    logs = 6

    def __init__(self, device, name, rows):
        super().__init__(device, name, rows)
        between = lambda x, costs: np.r_[x[:4], np.log(costs), x[4:]]
        self.low = between(self.low, [1e-14, 1e-14])
        self.high = between(self.high, [1e-8, 1e-8])
        self.starts = [between(start, [3e-10, 1e-10]) for start in self.starts]

    def __call__(self, x, rows):
        token, cache = np.exp(x[4:6])
        return super().__call__(np.r_[x[:4], x[6:]], rows) + rows.tokens.to_numpy(float) * (token + cache * rows.num_key_value_heads.to_numpy())

    def derived(self, rows):
        return {"waves": 100 * self.rounds(rows, np.floor(self.starts[0][-1]))}


def attention_rows(folder, device):
    rows = pd.read_csv(os.path.join(folder, f"attention_forward.{device}.csv.gz"))
    rows = rows[(rows.framework == "VLLM") & (rows.attn_dtype == "bfloat16") & (rows.kv_cache_dtype == "bfloat16")]
    rows = rows.assign(window_size=rows.window_size.fillna(0), batch_heads=rows.batch_size * rows.num_heads,
                       group=rows.num_heads / rows.num_key_value_heads, tokens=rows.batch_size * rows.isl)
    for (head, window), of_class in rows.groupby(["head_dim", "window_size"]):
        yield f"head {head}" + (f", window {window:.0f}" if window else ""), of_class, None
