"""Forward of a mixture's experts on one rank: router, permute, two grouped products, activation, weighted sum."""

import os

import numpy as np
import pandas as pd

from kernels.routing import balanced_tiles, loads
from kernels.surface import DEVICES, either

# Bytes of an element of weights and of what the products read.
BYTES = {"bfloat16": 2, "fp8": 1, "fp8_block": 1, "nvfp4": 0.5625}
# Rows, columns, and which of the constants of efficiency.
TILES = [(256, 128, 0), (128, 256, 0), (128, 128, 1), (64, 256, 2), (64, 128, 2), (32, 128, 3), (16, 128, 4)]

# What a training framework would call: CUTLASS grouped products as TensorRT-LLM runs them (the kernels of Megatron's and PyTorch's grouped GEMM),
# on Blackwell TensorRT-LLM's own as vLLM calls them through FlashInfer, which alone cover the shapes there.
CUTLASS = ["moe_torch_flow", "moe_torch_flow_cutlass", "moe_torch_flow_nongated"]
KERNELS = {
    "bfloat16": CUTLASS + ["vllm_unquantizedfusedmoe_flashinfer_trtllm_trtllmbf16experts"],
    "fp8": CUTLASS + ["vllm_modeloptfp8moe_flashinfer_trtllm_trtllmfp8expertsmonolithic"],
    "fp8_block": CUTLASS + ["vllm_fp8moe_flashinfer_trtllm_trtllmfp8expertsmonolithic"],
    "nvfp4": ["vllm_compressedtensorsw4a4nvfp4moe_flashinfer_trtllm_trtllmnvfp4expertsmonolithic"],
}
# Hidden and intermediate sizes of the experts without a gate (Nemotron 3): one product instead of two before the activation.
UNGATED = {(2688, 1856), (2048, 5120), (8192, 5120)}
SETTING = ["kernel_source", "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size"]


class MoeForm:
    """fixed + products in and out + moved bytes / move + costs by tokens and experts.

    A grouped product takes the tile (of Tm x Tn) that is quickest; tiles are counted expert by expert, ceil(rows of it / Tm) ceil(n / Tn), in waves
    over the SMs; 2 Tm Tn k / (rate / SMs) x penalty + ramp each. Or it takes memory's time: weights of experts with rows, once, and rows
    in and out; `cached` times as quick where both products' bytes fit the cache (in a step they do not: weights of other layers come between).
    moved: permute, activation and weighted sum by bytes. By tokens of the whole group: logits (x experts), quantisation and sum (x hidden).
    """
    names = ["fixed_s", "rate", "ramp_s", "memory", "move", "route_s", "expert_s", "token_s", "penalty_1", "penalty_2", "penalty_3",
             "penalty_4", "waves", "cached"]
    sizes = ["rows_per_expert", "local_experts", "local_inter"]
    knots = [[8, 64, 256, 1024, 4096, 16384], [1, 2, 4, 8, 32, 128, 512], [64, 256, 1024, 4096, 16384]]
    whole = ["hidden_size", "inter_size", "topk", "num_experts"]
    logs = 8

    def __init__(self, device, number_format, rows):
        self.sms, hbm, self.cache = DEVICES[device]
        self.bytes = BYTES[number_format]
        operations = 2.0 * rows.rows * rows.hidden_size * rows.local_inter * (1 + rows.gates)
        peak = np.quantile(operations / rows.latency_ms * 1e3, .98)
        self.low = np.r_[np.log([1e-6, .6 * peak, .05e-6, .2 * hbm, .1 * hbm, 1e-15, 1e-9, 1e-15]), [-.05] * 4, 0, 1]
        self.high = np.r_[np.log([2e-4, 2 * peak, 1e-5, 1.1 * hbm, 2 * hbm, 1e-10, 1e-5, 1e-10]), [.8] * 4, 1, 8]
        self.starts = [np.r_[np.log([3e-5, 1.1 * peak, ramp, .7 * hbm, .5 * hbm, 1e-12, 1e-7, 1e-12]), [step] * 4, waves, 2]
                       for ramp, waves, step in ((1e-6, .8, .1), (.3e-6, .4, .2))]

    def product(self, x, rows, n, k):
        """Of all experts' rows with weights of n x k."""
        rate, ramp, memory = np.exp(x[1:4])
        penalty = np.exp(np.cumsum(np.r_[0, x[8:12]]))

        def time(tiles, tile):
            full = tiles * np.ceil(n / tile[1]) / self.sms
            waves = np.where(full < 1, 1, full + x[12] * (np.ceil(full) - full))
            return waves * (2.0 * tile[0] * tile[1] * k * self.sms / rate * penalty[tile[2]] + ramp)

        best = compute = np.inf
        for tile in TILES:
            tuned = time(rows[f"tuned_{tile[0]}"].to_numpy(), tile)
            compute = np.where(tuned < best, time(rows[f"tiles_{tile[0]}"].to_numpy(), tile), compute)
            best = np.minimum(best, tuned)
        moved = rows.active.to_numpy() * n * k * self.bytes + rows.rows.to_numpy() * (self.bytes * k + 2 * n)
        cached = 1 / (1 + (2 * moved / self.cache) ** 3)
        return either(compute, moved / memory * (1 - cached + cached / x[13]))

    def __call__(self, x, rows):
        fixed, _, _, _, move, route, expert, token = np.exp(x[:8])
        hidden, inter, gates, tokens, routed = (
            rows[name].to_numpy(float) for name in ("hidden_size", "local_inter", "gates", "num_tokens", "rows"))
        products = self.product(x, rows, gates * inter, hidden) + self.product(x, rows, hidden, inter)
        moved = routed * ((4 + self.bytes) * hidden + (2 * gates + self.bytes) * inter)
        return (fixed + products + moved / move + tokens * (route * rows.num_experts.to_numpy() + token * hidden)
                + expert * rows.local_experts.to_numpy())

    @staticmethod
    def larger(rows):
        return rows.num_tokens > 8192


def moe_rows(folder, device):
    """Of each format the chosen kernels' rows with their loads, but for those known not to be what they say."""
    rows = pd.read_csv(os.path.join(folder, f"moe_forward.{device}.csv.gz"))
    for number_format, kernels in KERNELS.items():
        chosen = rows[(rows.moe_dtype == number_format) & rows.kernel_source.isin(kernels)]
        # The router inside these kernels limits DeepSeek-V3 to groups of experts, so the rows of the rank are not the table's.
        grouped = (chosen.hidden_size == 7168) & (chosen.num_experts == 256) & chosen.kernel_source.str.contains("monolithic")
        chosen = chosen[~grouped].reset_index(drop=True)
        if not chosen.empty:
            chosen = with_loads(chosen)
            yield number_format, chosen[~(untuned(chosen) & chosen.kernel_source.isin(CUTLASS))], None


def with_loads(rows):
    keys = ["num_tokens", "num_experts", "topk", "moe_ep_size", "distribution"]
    features = pd.DataFrame([loads(*key) for key in rows[keys].itertuples(index=False)], index=rows.index)
    rows = pd.concat([rows, features], axis=1)
    # TensorRT-LLM tunes on even loads of the largest power of two of tokens up to these; its own kernels go by the loads.
    cutlass = rows.kernel_source.isin(CUTLASS).to_numpy()
    tuned = balanced_tiles(2 ** np.floor(np.log2(rows.num_tokens)), rows)
    for name, tiles in tuned.items():
        rows[name.replace("tiles", "tuned")] = np.where(cutlass, tiles, rows[name])
    return rows.assign(gates=[1 if shape in UNGATED else 2 for shape in zip(rows.hidden_size, rows.inter_size)],
                       local_experts=rows.num_experts // rows.moe_ep_size, local_inter=rows.inter_size / rows.moe_tp_size,
                       rows_per_expert=rows.rows / rows.active)


def untuned(rows):
    """Rows that took a kernel nobody tuned, by what cannot be otherwise, of those that are tuned setting by setting.

    A setting whose balanced rows take 1.05 times as long as those of twice the tokens or more, powers of two; rows that take 1.5 times as long as
    another routing of the same setting and tokens that has as much to do, or twice as long per row.
    """
    doubled = rows[(rows.distribution == "balanced") & (np.log2(rows.num_tokens) % 1 == 0)]
    times = doubled.pivot_table(index=SETTING, columns="num_tokens", values="latency_ms")
    slower = (times.ffill(axis=1).cummax(axis=1) > 1.05 * times).any(axis=1)
    found = pd.MultiIndex.from_frame(rows[SETTING]).isin(slower[slower].index)
    same = rows.assign(at=np.arange(len(rows)))
    pairs = pd.merge(same, same, on=SETTING + ["num_tokens"], suffixes=("", "_other"))
    time, work = pairs.latency_ms / pairs.latency_ms_other, pairs.rows / pairs.rows_other
    found[pairs["at"][((work < 1.05) & (time > 1.5)) | ((work >= 1.05) & (time > 2 * work))]] = True
    return found
