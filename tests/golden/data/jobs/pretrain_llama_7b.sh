#!/bin/bash
# A 7 B decoder on two nodes.
set -euo pipefail

export CUDA_DEVICE_MAX_CONNECTIONS=1
export NCCL_IB_TIMEOUT=22
export MASTER_ADDR=$(scontrol show hostnames | head -n 1)

GPUS_PER_NODE=8
NNODES=${NNODES:-2}
WORLD_SIZE=$((GPUS_PER_NODE * NNODES))

TP=2
PP=2
MICRO_BATCH=1
ACCUMULATION=16
GLOBAL_BATCH=$((MICRO_BATCH * ACCUMULATION * WORLD_SIZE / (TP * PP)))

if [ "$PP" -gt 1 ]; then
    VIRTUAL_STAGES="--num-layers-per-virtual-pipeline-stage 4"
else
    VIRTUAL_STAGES=""
fi

if [ -f ~/.cluster_settings ]; then
    source ~/.cluster_settings
fi

DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NNODES
    --node_rank ${SLURM_NODEID:-0}
    --master_addr $MASTER_ADDR
    --master_port 6000
)

GPT_ARGS="
    --num-layers 32
    --hidden-size 4096
    --ffn-hidden-size 11008
    --num-attention-heads 32
    --seq-length 4096
    --max-position-embeddings 4096
    --position-embedding-type rope
    --normalization RMSNorm
    --swiglu
    --disable-bias-linear
    --untie-embeddings-and-output-weights
    --attention-dropout 0
    --hidden-dropout 0
    --tokenizer-type Llama2Tokenizer
    --tokenizer-model ${TOKENIZER_MODEL}
"

TRAINING_ARGS=(
    --micro-batch-size $MICRO_BATCH
    --global-batch-size $GLOBAL_BATCH
    --train-iters 250000
    --lr 3.0e-4            # peak
    --lr-decay-style cosine
    --min-lr 3.0e-5
    --weight-decay 0.1
    --clip-grad 1.0
    --bf16
    --use-flash-attn
    --recompute-activations
    --use-distributed-optimizer
    --overlap-grad-reduce
    --overlap-param-gather
)

torchrun "${DISTRIBUTED_ARGS[@]}" pretrain_gpt.py \
    $GPT_ARGS \
    "${TRAINING_ARGS[@]}" \
    --tensor-model-parallel-size $TP \
    --pipeline-model-parallel-size $PP \
    $VIRTUAL_STAGES \
    --sequence-parallel \
    --experimental-quantum-mode 7 \
    --data-path "$DATA_PATH" --split 949,50,1 \
    --save /checkpoints --save-interval 1000 --log-interval 10 "$@"
