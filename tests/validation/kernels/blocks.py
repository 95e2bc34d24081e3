"""Attention as blocks of queries that share the SMs, each as long as the keys it sees."""

import numpy as np

from kernels.surface import DEVICES, either


class BlockForm:
    """fixed + (operations / rate x idle, or memory), of one head size and window.

    Queries come in blocks of `block`, an SM has one at a time; FlashAttention 3 and 4 fill a block with the queries of all heads that share a key
    head, 2 does not. Keys are rounded up to 64. Operations: 4 d times the pairs of whole blocks of queries
    and the keys they see, and `edge` keys more each. Idle: the larger of waves (of a last wave that is not full, the share `waves` counts)
    and the block that sees the most keys, against all blocks / SMs.
    """
    names = ["fixed_s", "rate", "edge", "memory", "waves", "block"]
    sizes = ["isl", "batch_heads", "group"]
    knots = [[512, 1024, 2048, 4096, 8192, 16384], [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096], [1, 2, 4, 8, 16, 64]]
    logs = 4
    whole = ["num_heads", "num_key_value_heads"]
    causal = True

    def __init__(self, device, _, rows):
        self.sms, hbm, _ = DEVICES[device]
        self.packed = device not in ("a100_sxm", "l40s")
        peak = np.quantile(self.pairs(rows, 1, 0)[0] * rows.head_dim.to_numpy() * 4 / rows.latency_ms.to_numpy() * 1e3, .98)
        self.low = np.r_[np.log([1e-6, .7 * peak, 1, .1 * hbm]), 0, 32]
        self.high = np.r_[np.log([5e-5, 3 * peak, 2000, 1.1 * hbm]), 1, 512]
        self.starts = [np.r_[np.log([5e-6, 1.1 * peak, 50, .7 * hbm]), .5, block + .5] for block in self.blocks(device, rows)]

    @staticmethod
    def blocks(device, rows):
        """FlashAttention's: 128 in version 2; 192 in 3, 128 for heads beyond 96; two of 128 in 4 and in TensorRT-LLM's on Blackwell."""
        if device in ("a100_sxm", "l40s"):
            return [128]
        if device in ("h100_sxm", "h200_sxm"):
            return [192 if rows.head_dim.iloc[0] <= 96 else 128]
        return [256]

    def shared(self, rows):
        """Heads whose queries share a block."""
        return rows.group.to_numpy(float) if self.packed else np.ones(len(rows))

    def rounds(self, rows, block):
        """Blocks for each SM."""
        shared = self.shared(rows)
        return rows.batch_heads.to_numpy(float) / shared * np.ceil(rows.isl.to_numpy(float) * shared / block) / self.sms

    def pairs(self, rows, block, edge):
        """Of all heads, and of the block that has most."""
        s = rows.isl.to_numpy(float)
        heads = rows.batch_heads.to_numpy(float)
        keys = np.ceil(s / 64) * 64
        rise = block / self.shared(rows)
        queries = np.ceil(s / rise) * rise
        if not self.causal:
            return heads * queries * (keys + edge), block * (keys + edge)
        window = np.where(rows.window_size > 0, np.minimum(rows.window_size, keys), keys)
        # Keys of a block that ends at q: min(q, window + rise); summed over blocks, the triangle before the window is full and the rest.
        inside = np.minimum(window, queries)
        seen = inside * (inside + rise) / 2 + (queries - inside) * (window + rise)
        return heads * (seen + queries * edge), block * (np.minimum(window + rise, keys) + edge)

    def __call__(self, x, rows):
        fixed, rate, edge, memory = np.exp(x[:4])
        block = np.floor(x[5])
        heads, s, head = rows.batch_heads.to_numpy(float), rows.isl.to_numpy(float), rows.head_dim.to_numpy(float)
        pairs, longest = self.pairs(rows, block, edge)
        full = self.rounds(rows, block)
        waves = np.where(full < 1, 1, full + x[4] * (np.ceil(full) - full))
        compute = 4 * head / rate * either(pairs * waves / full, longest * self.sms)
        moved = 4 * heads * s * head * (1 + 1 / rows.group.to_numpy())
        return fixed + either(compute, moved / memory)

    @staticmethod
    def larger(rows):
        return rows.isl > 10240
