"""Sparse attention with an indexer (DeepSeek-V3.2, GLM-5): the whole module, projections, indexer, choice and attention to the chosen keys."""

import os

import numpy as np
import pandas as pd

from kernels.surface import DEVICES, either

# hidden, rank of queries, key size without position, value size, index heads (config.json of the models); of all: rank of keys and values, rotary
# size, index head's size, keys chosen.
MODELS = {"deepseek-ai/DeepSeek-V3.2": (7168, 1536, 128, 128, 64), "zai-org/GLM-5": (6144, 2048, 192, 256, 32)}
RANK, ROTARY, INDEX, CHOSEN = 512, 64, 128, 2048


class SparseForm:
    """The host's fixed time, or the device's: projections / rate + chosen pairs / attention + all pairs x (index heads x index_s + choose_s) + tokens x hidden x token_s.

    Attention: 2 (576 + 512) operations a pair and head, heads rounded up to the kernel's `heads_block`. The indexer scores all earlier keys.
    """
    names = ["fixed_s", "rate", "attention", "index_s", "choose_s", "token_s", "heads_block"]
    sizes = ["tokens", "keys", "num_heads"]
    knots = [[512, 1024, 2048, 4096, 8192, 16384], [256, 1024, 2048, 4096, 8192, 32768], [16, 64, 128]]
    logs = 6
    whole = ["model", "num_heads"]

    def __init__(self, device, number_format, rows):
        sms, _, _ = DEVICES[device]
        peak = sms * (7.5e12 if sms < 148 else 16.5e12)  # operations/s in bf16, of the data sheets
        products = peak * (1 if number_format == "bfloat16" else 2)
        self.low = np.r_[np.log([1e-5, .2 * products, .2 * peak, 1e-17, 1e-16, 1e-15]), 8]
        self.high = np.r_[np.log([3e-3, products, peak, 1e-11, 1e-9, 1e-9]), 256]
        self.starts = [np.r_[np.log([5e-4, .7 * products, .6 * peak, 1e-13, 1e-12, 1e-12]), block + .5] for block in [64 if sms < 148 else 128]]

    def __call__(self, x, rows):
        fixed, rate, attention, index, choose, token = np.exp(x[:6])
        block = np.floor(x[6])
        hidden, q_rank, key, value, index_heads = np.array([MODELS[name] for name in rows.family], float).T
        heads, tokens = rows.num_heads.to_numpy(float), rows.tokens.to_numpy(float)
        projections = 2 * tokens * (hidden * (q_rank + RANK + ROTARY + INDEX + index_heads) + q_rank * index_heads * INDEX
                                    + heads * (q_rank * (key + ROTARY) + RANK * (key + value) + value * hidden))
        pairs = tokens * rows["keys"].to_numpy()
        computed = np.ceil(heads / block) * block
        return either(fixed, projections / rate + 2 * (2 * RANK + ROTARY) * computed * rows.chosen.to_numpy() / attention
                      + pairs * (index_heads * index + choose) + tokens * hidden * token)

    @staticmethod
    def larger(rows):
        return rows.isl > 4096


def sparse_rows(folder, device):
    """DeepSeek's published kernels, FlashMLA on bf16 keys and DeepGEMM's indexer, as SGLang calls them; by number format of the projections.

    Prompts behind more than 32,768 keys are left out: training starts sequences at none.
    """
    rows = pd.read_csv(os.path.join(folder, f"sparse_attention_forward.{device}.csv.gz"))
    rows = rows[(rows.kernel_source == "sglang_dsa_indexer_flashmla_sparse") & (rows.kv_cache_dtype == "bfloat16") & (rows.step <= 32768)]
    s, before = rows.isl.to_numpy(float), rows.step.to_numpy(float)
    # Keys of a query: up to CHOSEN of step + 1, ..., step + isl.
    full = np.clip(before + s - CHOSEN, 0, s)
    chosen = rows.batch_size * ((s - full) * (before + (s - full + 1) / 2) + full * CHOSEN)
    family = np.where(rows.model.str.contains("GLM-5"), "zai-org/GLM-5", "deepseek-ai/DeepSeek-V3.2")
    rows = rows.assign(tokens=rows.batch_size * rows.isl, keys=before + (s + 1) / 2, chosen=chosen, family=family)
    for number_format, of_format in rows.groupby("gemm_type"):
        yield number_format, of_format, None
