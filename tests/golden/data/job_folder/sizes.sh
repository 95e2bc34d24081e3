case $1 in
    7b) LAYERS=32 ;;
    70b) LAYERS=80 ;;
esac
torchrun --nproc_per_node ${2:-8} pretrain_gpt.py --num-layers $LAYERS --hidden-size 4096 \
    --num-attention-heads 32 --seq-length 4096 --position-embedding-type rope --bf16
