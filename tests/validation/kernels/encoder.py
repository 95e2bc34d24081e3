"""Attention without a mask, of encoders of images and sound."""

import os

import pandas as pd

from kernels.blocks import BlockForm


class EncoderForm(BlockForm):
    """As causal attention, of all pairs."""
    sizes = ["isl", "batch_heads"]
    knots = [[512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 16384, 65536], [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024]]
    whole = ["num_heads"]
    causal = False


def encoder_rows(folder, device):
    """FlashAttention 2 on L40S, 3 on Hopper, 4 on Blackwell, as vLLM calls them."""
    rows = pd.read_csv(os.path.join(folder, f"encoder_attention_forward.{device}.csv.gz"))
    rows = rows[rows.kernel_source.str.startswith("vllm_vit_flash_attn")]
    rows = rows.assign(group=1, window_size=0, batch_heads=rows.batch_size * rows.num_heads)
    for head, of_class in rows.groupby("head_dim"):
        yield f"head {head}", of_class, None
