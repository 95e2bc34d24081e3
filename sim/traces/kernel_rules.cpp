#include "sim/traces/kernel_rules.h"

#include "sim/base/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace trainyard {
namespace {

struct Rule {
    DeviceWork work;
    std::string_view parts;
};

// Parts of names in small letters, the first that is found counts: so special ones stand above
// general ones. Names are those of PyTorch, cuBLAS, cuDNN, CUTLASS, Transformer Engine, Apex,
// flash-attention, DeepEP, fbgemm, Triton's of TorchInductor, and of ROCm hipBLASLt (Cijk_),
// rocBLAS, MIOpen and Composable Kernel.
constexpr std::array rules{
    Rule{DeviceWork::communication,
         "nccl rccl gloo: mpi: ep::internode:: ep::intranode:: deep_ep:: nvshmem rocshmem "
         "userbuffers one_shot_all_reduce two_shot_all_reduce multimem_all cross_device_reduce"},
    Rule{DeviceWork::gemm, "grouped_gemm"},
    // vLLM's: keys and values into their cache.
    Rule{DeviceWork::copy, "reshape_and_cache"},
    Rule{DeviceWork::attention, "flash fmha attention attn_ _sdpa sdpa_ _attn fusedattn"},
    Rule{DeviceWork::elementwise, "rotary rope_"},
    Rule{DeviceWork::optimizer, "adam fusedadam muon newton_schulz fusedsgd sgdfunctor fused_sgd"},
    // fbgemm's backward of tables updates them.
    Rule{DeviceWork::embedding, "adagrad"},
    // Of lists of tensors: FSDP's buffers.
    Rule{DeviceWork::copy, "copyfunctor"},
    Rule{DeviceWork::optimizer, "multi_tensor multitensor"},
    Rule{DeviceWork::norm,
         "layer_norm layernorm rmsnorm rms_norm batch_norm batchnorm group_norm groupnorm bn_fw "
         "bn_bw ln_fwd ln_bwd ln_parallel_residual gammabeta rowwisemoments cucomputegradinput "
         "cucomputepart cuapply welford"},
    Rule{DeviceWork::loss, "softmax cross_entropy crossentropy nll_loss _loss mse_ binary_cross"},
    Rule{DeviceWork::embedding,
         "embedding permute_pooled_embs linearize_index bounds_check_indices recat_ permute_2d "
         "permute_1d"},
    Rule{DeviceWork::moe,
         "get_dispatch_layout get_fused_mapping expand_to_fused reduce_fused_impl moe topk_gating "
         "router permute_kernel _permute unpermute"},
    Rule{DeviceWork::quantise,
         "cast_to_fp8 cast_and_transpose cast_transpose cast_back convert fp8rowwise quantize "
         "quantise mxfp8 amax"},
    Rule{DeviceWork::convolution,
         "wgrad dgrad fprop winograd convol conv2d conv3d conv1d _conv conv_ scudnn hcudnn "
         "cudnn_infer cudnn_train cudnn::cnn igemm im2col implicit_gemm implicitgemm bwd_weight "
         "bwd_data computeoffsets miopensp3 naive_conv"},
    Rule{DeviceWork::gemm,
         "gemm gemv cijk_ nvjet xmma cublas splitkreduce splitk triton_mm triton_tem _mm_ _matmul "
         "matmul_ dot_kernel reduce_1block cutlass"},
    Rule{DeviceWork::copy,
         "catarray copy memcpy memset transpose nchwto nhwcto fillfunctor fillbuffer "
         "split_with_sizes chunk_cat subtensorop"},
    Rule{DeviceWork::elementwise, "scalepackedtensor"},
    Rule{DeviceWork::index,
         "radixsort sort scan gather scatter index topk unique compact searchsorted cub::"},
    Rule{DeviceWork::reduction, "pool reduce_kernel reduceop triton_red triton_per reduce"},
    Rule{DeviceWork::elementwise,
         "elementwise dropout swiglu silu gelu relu triton_poi distribution triu_tril "
         "masked_scale op_tensor op_generic triton_"},
};

struct DeviceWorkWords {
    std::string_view name;
    std::string_view title;
};
constexpr std::array<DeviceWorkWords, device_work_count> words{{
    {"gemm", "GEMM"},
    {"convolution", "convolution"},
    {"attention", "attention"},
    {"norm", "norm"},
    {"loss", "softmax and loss"},
    {"embedding", "embedding"},
    {"moe", "routing of experts"},
    {"optimizer", "optimizer"},
    {"quantise", "casts and scales"},
    {"elementwise", "elementwise"},
    {"reduction", "reduction"},
    {"index", "sorting, indexing"},
    {"copy", "copies, layout"},
    {"communication", "communication"},
    {"other", "not recognised"},
}};

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

} // namespace

template <>
std::vector<EnumName<DeviceWork>> enum_names<DeviceWork>()
{
    std::vector<EnumName<DeviceWork>> names;
    for (std::size_t i = 0; i < words.size(); ++i)
        names.push_back({static_cast<DeviceWork>(i), words[i].name});
    return names;
}

std::string_view title_of(DeviceWork work)
{
    return words[static_cast<std::size_t>(work)].title;
}

DeviceWork work_of_kernel(std::string_view name)
{
    const std::string small = lower_case(name);
    for (const Rule& rule : rules)
        if (any_word(rule.parts, [&](std::string_view part) { return contains(small, part); }))
            return rule.work;
    return DeviceWork::other;
}

std::optional<CollectiveKind> collective_of_kernel(std::string_view name)
{
    constexpr std::array<std::pair<std::string_view, CollectiveKind>, 7> kinds{{
        {"allreduce", CollectiveKind::all_reduce},
        {"all_reduce", CollectiveKind::all_reduce},
        {"allgather", CollectiveKind::all_gather},
        {"reducescatter", CollectiveKind::reduce_scatter},
        {"broadcast", CollectiveKind::broadcast},
        {"sendrecv", CollectiveKind::send_receive},
        {"_reduce_", CollectiveKind::reduce},
    }};
    if (exchanges_tokens(name))
        return CollectiveKind::all_to_all;
    const std::string small = lower_case(name);
    for (const auto& [part, kind] : kinds)
        if (contains(small, part))
            return kind;
    return std::nullopt;
}

bool exchanges_tokens(std::string_view name)
{
    return contains(name, "ep::internode::") || contains(name, "ep::intranode::") ||
           contains(name, "deep_ep::");
}

} // namespace trainyard
