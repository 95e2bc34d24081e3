"""Linear attention: the chunked scan of delta rules and the short convolution in front."""

import os

import numpy as np
import pandas as pd

from kernels.surface import DEVICES

CHUNK = 64  # tokens, of flash-linear-attention


class ScanForm:
    """fixed + work of all chunks / rate x idle + chunks of one sequence x step x rounds.

    Work of a token and value head: 2 (2 C dk + C dv + 3 dk dv), products within a chunk of C and with the state. The chain carries the state from chunk
    to chunk, sequences x heads at a time up to `slots` of the SMs.
    """
    names = ["fixed_s", "rate", "step_s", "key_s", "slots"]
    sizes = ["seq_len", "batch_heads", "group"]
    knots = [[512, 1024, 2048, 4096, 8192, 32768], [2, 8, 16, 32, 64, 128, 256, 512, 1024], [1, 2, 4]]
    logs = 5
    whole = ["num_k_heads", "num_v_heads"]

    def __init__(self, device, _, rows):
        self.sms, _ = DEVICES[device]
        peak = np.quantile(self.work(rows) / rows.latency_ms.to_numpy() * 1e3, .98)
        self.low = np.log([1e-6, .8 * peak, 1e-8, 1e-16, .1])
        self.high = np.log([1e-3, 10 * peak, 1e-4, 1e-8, 8])
        self.starts = [np.log([2e-5, 1.5 * peak, step, 1e-12, slots]) for step, slots in ((1e-6, 1), (5e-6, .5))]

    @staticmethod
    def work(rows):
        k, v = rows.head_k_dim.to_numpy(float), rows.head_v_dim.to_numpy(float)
        return 2 * rows.num_tokens.to_numpy(float) * rows.num_v_heads.to_numpy() * (CHUNK * (2 * k + v) + 3 * k * v)

    def __call__(self, x, rows):
        fixed, rate, step, key, slots = np.exp(x)
        chunks = np.ceil(rows.seq_len.to_numpy() / CHUNK)
        chains = rows.batch_heads.to_numpy(float) / (slots * self.sms)
        units = rows.batch_heads.to_numpy() * chunks / self.sms
        idle = np.maximum(units, 1) / units
        keys = rows.num_tokens.to_numpy(float) * rows.num_k_heads.to_numpy() * rows.head_k_dim.to_numpy()
        return fixed + self.work(rows) / rate * idle + chunks * step * np.sqrt(np.sqrt(1 + chains ** 4)) + key * keys

    @staticmethod
    def larger(rows):
        return rows.num_tokens > 131072


class ConvolutionForm:
    """fixed + bytes in and out / memory, or a sequence's time where sequences x channels do not fill the device."""
    names = ["fixed_s", "memory", "token_s"]
    sizes = ["seq_len", "batch_size", "channels"]
    knots = [[512, 2048, 8192, 32768], [1, 2, 4, 8, 32], [1024, 4096, 16384]]
    logs = 3
    whole = ["channels"]

    def __init__(self, device, _, rows):
        _, hbm = DEVICES[device]
        self.low = np.log([1e-7, .05 * hbm, 1e-12])
        self.high = np.log([1e-4, 2 * hbm, 1e-8])
        self.starts = [np.log([3e-6, .6 * hbm, 1e-10]), np.log([3e-6, .2 * hbm, 1e-9])]

    def __call__(self, x, rows):
        fixed, memory, token = np.exp(x)
        moved = 4.0 * rows.num_tokens.to_numpy() * rows.channels.to_numpy()
        return fixed + np.sqrt(np.sqrt((moved / memory) ** 4 + (token * rows.seq_len.to_numpy(float)) ** 4))

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


def delta_rows(kind, kernel):
    """flash-linear-attention's kernel in Triton, which training uses, as SGLang calls it."""
    def rows_of(folder, device):
        rows = with_heads(read(folder, kind, device))
        rows = rows[(rows.framework == "SGLang") & (rows.kernel_source == kernel)]
        if not rows.empty:
            yield "bfloat16", rows, None
    return rows_of


def convolution_rows(kind, kernel, frameworks):
    """The first framework's that the device has: TensorRT-LLM calls causal-conv1d's CUDA kernel, as training does; SGLang one in Triton."""
    def rows_of(folder, device):
        rows = read(folder, kind, device)
        rows = rows[rows.kernel_source == kernel]
        framework = next(f for f in frameworks if (rows.framework == f).any())
        rows = rows[rows.framework == framework]
        if "nheads" in rows:
            channels = rows.nheads * rows.head_dim + 2 * rows.n_groups * rows.d_state
            yield "bfloat16", rows.assign(channels=channels), None
        else:
            yield "bfloat16", with_heads(rows), None
    return rows_of
