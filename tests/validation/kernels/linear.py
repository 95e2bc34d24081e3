"""Linear attention: the chunked scan of delta rules and the short convolution in front."""

import os

import numpy as np
import pandas as pd

from kernels.surface import DEVICES, either

CHUNK = 64  # tokens, of flash-linear-attention


class ScanForm:
    """fixed + bytes / memory + chunks of one sequence x step x (1, or heads of all sequences / (slots x SMs)).

    Bytes of a token and value head, of bf16: q, k, w by the key's size and v, u, o by the value's, written and read, and of a chunk's share of the
    state the same; `cached` times as quick where all fit the cache. The chain carries the state from chunk to chunk, heads side by side.
    """
    names = ["fixed_s", "memory", "step_s", "slots", "cached"]
    sizes = ["seq_len", "batch_heads"]
    knots = [[512, 1024, 2048, 4096, 8192, 32768], [8, 16, 32, 64, 128, 256, 512, 1024]]
    logs = 5
    whole = ["num_k_heads", "num_v_heads"]

    def __init__(self, device, _, rows):
        self.sms, hbm, self.cache = DEVICES[device]
        self.low = np.log([1e-6, .1 * hbm, 1e-8, .1, 1])
        self.high = np.log([1e-3, 2 * hbm, 1e-4, 8, 10])
        self.starts = [np.log([2e-5, .8 * hbm, step, slots, 2]) for step, slots in ((1e-6, 1), (5e-6, .5))]

    def __call__(self, x, rows):
        fixed, memory, step, slots, quicker = np.exp(x)
        key, value, heads = (rows[name].to_numpy(float) for name in ("head_k_dim", "head_v_dim", "batch_heads"))
        chunks = np.ceil(rows.seq_len.to_numpy() / CHUNK)
        moved = 4 * heads * rows.seq_len.to_numpy() * (3 * key + 3 * value + key * value / CHUNK)
        cached = 1 / (1 + (moved / self.cache) ** 1.5)
        return fixed + moved / memory * (1 - cached + cached / quicker) + chunks * step * either(1, heads / (slots * self.sms))

    @staticmethod
    def larger(rows):
        return rows.num_tokens > 131072


class ConvolutionForm:
    """fixed + (bytes in and out / memory, or a sequence's time where sequences x channels do not fill the device).

    `cached` times as quick where `footprint` of the bytes fits the cache: less than all where the result overwrites or calls are several.
    """
    names = ["fixed_s", "memory", "token_s", "cached", "footprint"]
    sizes = ["seq_len", "batch_size", "channels"]
    knots = [[512, 2048, 8192, 32768], [1, 2, 4, 8, 32], [1024, 4096, 16384]]
    logs = 5
    whole = ["channels"]

    def __init__(self, device, _, rows):
        _, hbm, self.cache = DEVICES[device]
        self.low = np.log([1e-7, .05 * hbm, 1e-12, 1, .2])
        self.high = np.log([1e-4, 2 * hbm, 1e-8, 10, 1.5])
        self.starts = [np.log([3e-6, .6 * hbm, 1e-10, 4, .9]), np.log([3e-6, .6 * hbm, 1e-10, 4, .4]),
                       np.log([3e-6, .4 * hbm, 1e-9, 1.1, .9])]

    def __call__(self, x, rows):
        fixed, memory, token, quicker, footprint = np.exp(x)
        moved = 4.0 * rows.num_tokens.to_numpy() * rows.channels.to_numpy()
        cached = 1 / (1 + (footprint * moved / self.cache) ** 6)
        return fixed + either(moved / memory * (1 - cached + cached / quicker), token * rows.seq_len.to_numpy(float))

    @staticmethod
    def larger(rows):
        return rows.num_tokens > 131072


def read(folder, kind, device):
    rows = pd.read_csv(os.path.join(folder, f"{kind}.{device}.csv.gz"))
    keys = [c for c in rows.columns if c not in ("latency_ms", "model_name", "version", "device", "d_model")]
    return rows.groupby(keys, as_index=False, dropna=False).latency_ms.median()


def with_heads(rows):
    return rows.assign(batch_heads=rows.batch_size * rows.num_v_heads, group=rows.num_v_heads / rows.num_k_heads,
                       channels=2 * rows.num_k_heads * rows.head_k_dim + rows.num_v_heads * rows.head_v_dim)


def delta_rows(folder, device):
    """flash-linear-attention's kernel in Triton, which training uses, as TensorRT-LLM calls it.

    SGLang's calls of it are left aside: its autotuner's choices differ by a factor of two from one head count to the next.
    """
    rows = with_heads(read(folder, "gated_delta_net_forward", device))
    rows = rows[(rows.framework == "TRTLLM") & (rows.kernel_source == "chunk_gated_delta_rule")]
    if not rows.empty:
        yield "bfloat16", rows, None
    # A convolution of queries, keys and values together, in Triton, as vLLM calls it; SGLang on A100, where nothing else is.
    rows = with_heads(read(folder, "gated_delta_net_forward", device))
    rows = rows[(rows.framework == ("SGLang" if device == "a100_sxm" else "vLLM")) & (rows.kernel_source == "causal_conv1d_fn")]
    yield "convolution", rows, None


def kimi_rows(folder, device):
    """flash-linear-attention's kernel and three convolutions, of queries, keys and values, as SGLang calls them."""
    rows = with_heads(read(folder, "kimi_delta_attention_forward", device))
    rows = rows[rows.framework == "SGLang"]
    yield "bfloat16", rows[rows.kernel_source == "chunk_kda"], None
    yield "convolution", rows[rows.kernel_source == "causal_conv1d_fn_qkv3"], None


def mamba_rows(folder, device):
    """The convolution alone: TensorRT-LLM's call of causal-conv1d's CUDA kernel; the tables hold no scan."""
    rows = read(folder, "mamba2_forward", device)
    yield "convolution", rows.assign(channels=rows.nheads * rows.head_dim + 2 * rows.n_groups * rows.d_state), None


def linear_form(device, name, rows):
    return (ConvolutionForm if name == "convolution" else ScanForm)(device, name, rows)
