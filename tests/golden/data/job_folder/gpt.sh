#!/bin/bash
# Written for one node, though its degrees need two.
torchrun --nnodes 1 --nproc_per_node 8 pretrain_gpt.py \
    --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 \
    --position-embedding-type rope --bf16 --micro-batch-size 1 --global-batch-size 64 \
    --tensor-model-parallel-size 8 --pipeline-model-parallel-size 2
