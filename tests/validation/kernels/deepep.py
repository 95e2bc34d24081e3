"""DeepEP's dispatch and combine inside a node of eight GPUs, by bytes and the SMs given to them."""

import os

import numpy as np
import pandas as pd

from kernels.surface import either

RANKS = 8  # of the node the tables were taken on
# NVLink's bytes/s one way, of the data sheets.
NVLINK = {"h100_sxm": 450e9, "h200_sxm": 450e9, "b200_sxm": 900e9, "b300_sxm": 900e9, "gb200": 900e9, "gb300": 900e9}


class DeepEpForm:
    """fixed + token_s x handled rows / SMs + the larger of their bytes / (SMs x per_sm) and bytes to others / (link x NVLink's bytes/s).

    A token's row, in bf16, goes once to each rank that holds one of its experts: copies = ranks (1 - the chance of none on it), of which
    (ranks - 1) / ranks to others. Handled: copies and `own` times the token at home, where it is read or summed.
    """
    names = ["fixed_s", "per_sm", "token_s", "link", "own"]
    sizes = ["num_token", "sms", "hidden_size"]
    knots = [[128, 512, 2048, 8192, 32768, 131072], [4, 8, 16, 24], [2048, 4096, 7168]]
    logs = 5
    whole = ["hidden_size", "num_topk", "num_experts"]

    def __init__(self, device, _, rows):
        self.link = NVLINK[device]
        self.low = np.log([1e-6, 1e9, 1e-10, .1, .01])
        self.high = np.log([2e-4, 2e11, 1e-6, 1.2, 20])
        self.starts = [np.log([2e-5, 2e10, 1e-8, .7, 1])]

    def __call__(self, x, rows):
        fixed, per_sm, token, link, own = np.exp(x)
        copies, sms = rows.copies.to_numpy(), rows.sms.to_numpy(float)
        tokens, row = rows.num_token.to_numpy(float), 2.0 * rows.hidden_size.to_numpy()
        handled = tokens * (copies + own)
        across = tokens * copies * (RANKS - 1) / RANKS
        return fixed + token * handled / sms + either(handled * row / (sms * per_sm), across * row / (link * self.link))

    @staticmethod
    def larger(rows):
        return rows.num_token > 16384


def deepep_rows(folder, device):
    rows = pd.read_csv(os.path.join(folder, f"deepep_normal.{device}.csv.gz"))
    if "num_experts" not in rows:
        return
    local = rows.num_experts / RANKS
    none = np.ones(len(rows))
    for drawn in range(int(rows.num_topk.max())):
        left = np.maximum(rows.num_experts - local - drawn, 0) / np.maximum(rows.num_experts - drawn, 1)
        none = np.where(drawn < rows.num_topk, none * left, none)
    for way in ("dispatch", "combine"):
        yield way, rows.assign(copies=RANKS * (1 - none), sms=rows[f"{way}_sms"], latency_ms=rows[f"{way}_transmit_us"] / 1e3), None
