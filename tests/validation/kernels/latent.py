"""Latent attention (DeepSeek's) as it trains: queries and keys of 192, values of 128."""

import os

import pandas as pd

from kernels.blocks import BlockForm


class LatentForm(BlockForm):
    """The form of attention at the mean head size, (192 + 128) / 2: 2 (192 + 128) operations a pair, bytes of q, k, v and result."""
    sizes = ["isl", "batch_heads"]
    knots = [[512, 1024, 2048, 4096, 8192, 16384], [1, 4, 16, 32, 64, 128, 256, 512, 1024, 4096]]
    whole = ["num_heads"]

    @staticmethod
    def blocks(device, rows):
        """TensorRT-LLM does not say; the fit chooses."""
        return [64, 128, 192, 256]


def latent_rows(folder, device):
    """TensorRT-LLM's fused kernel on keys and values that were projected up, as cuDNN and FlashAttention 3 train."""
    rows = pd.read_csv(os.path.join(folder, f"latent_attention_forward.{device}.csv.gz"))
    rows = rows[(rows.framework == "TRTLLM") & (rows.kv_cache_dtype == "bfloat16")]
    yield "bfloat16", rows.assign(head_dim=160, group=1, window_size=0, batch_heads=rows.batch_size * rows.num_heads), None
