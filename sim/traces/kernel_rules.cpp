#include "sim/traces/kernel_rules.h"

#include "sim/base/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace trainyard {
namespace {

using Rule = std::pair<std::string_view, DeviceWork>;

// Parts of names in small letters, the first that is found counts: so special ones stand above
// general ones. Names are those of PyTorch, cuBLAS, cuDNN, CUTLASS, Transformer Engine, Apex,
// flash-attention, DeepEP, fbgemm, Triton's of TorchInductor, and of ROCm hipBLASLt (Cijk_),
// rocBLAS, MIOpen and Composable Kernel.
constexpr std::array<Rule, 173> rules{{
    {"nccl", DeviceWork::communication},
    {"rccl", DeviceWork::communication},
    {"gloo:", DeviceWork::communication},
    {"mpi:", DeviceWork::communication},
    {"ep::internode::", DeviceWork::communication},
    {"ep::intranode::", DeviceWork::communication},
    {"deep_ep::", DeviceWork::communication},
    {"nvshmem", DeviceWork::communication},
    {"rocshmem", DeviceWork::communication},
    {"userbuffers", DeviceWork::communication},
    {"one_shot_all_reduce", DeviceWork::communication},
    {"two_shot_all_reduce", DeviceWork::communication},
    {"multimem_all", DeviceWork::communication},
    {"cross_device_reduce", DeviceWork::communication},

    {"grouped_gemm", DeviceWork::gemm},
    {"reshape_and_cache", DeviceWork::copy}, // vLLM's: keys and values into their cache
    {"flash", DeviceWork::attention},
    {"fmha", DeviceWork::attention},
    {"attention", DeviceWork::attention},
    {"attn_", DeviceWork::attention},
    {"_sdpa", DeviceWork::attention},
    {"sdpa_", DeviceWork::attention},
    {"_attn", DeviceWork::attention},
    {"fusedattn", DeviceWork::attention},
    {"rotary", DeviceWork::elementwise},
    {"rope_", DeviceWork::elementwise},

    {"adam", DeviceWork::optimizer},
    {"fusedadam", DeviceWork::optimizer},
    {"muon", DeviceWork::optimizer},
    {"newton_schulz", DeviceWork::optimizer},
    {"fusedsgd", DeviceWork::optimizer},
    {"sgdfunctor", DeviceWork::optimizer},
    {"fused_sgd", DeviceWork::optimizer},
    {"adagrad", DeviceWork::embedding}, // fbgemm's backward of tables updates them
    {"copyfunctor", DeviceWork::copy},  // of lists of tensors: FSDP's buffers
    {"multi_tensor", DeviceWork::optimizer},
    {"multitensor", DeviceWork::optimizer},

    {"layer_norm", DeviceWork::norm},
    {"layernorm", DeviceWork::norm},
    {"rmsnorm", DeviceWork::norm},
    {"rms_norm", DeviceWork::norm},
    {"batch_norm", DeviceWork::norm},
    {"batchnorm", DeviceWork::norm},
    {"group_norm", DeviceWork::norm},
    {"groupnorm", DeviceWork::norm},
    {"bn_fw", DeviceWork::norm},
    {"bn_bw", DeviceWork::norm},
    {"ln_fwd", DeviceWork::norm},
    {"ln_bwd", DeviceWork::norm},
    {"ln_parallel_residual", DeviceWork::norm},
    {"gammabeta", DeviceWork::norm},
    {"rowwisemoments", DeviceWork::norm},
    {"cucomputegradinput", DeviceWork::norm},
    {"cucomputepart", DeviceWork::norm},
    {"cuapply", DeviceWork::norm},
    {"welford", DeviceWork::norm},

    {"softmax", DeviceWork::loss},
    {"cross_entropy", DeviceWork::loss},
    {"crossentropy", DeviceWork::loss},
    {"nll_loss", DeviceWork::loss},
    {"_loss", DeviceWork::loss},
    {"mse_", DeviceWork::loss},
    {"binary_cross", DeviceWork::loss},

    {"embedding", DeviceWork::embedding},
    {"permute_pooled_embs", DeviceWork::embedding},
    {"linearize_index", DeviceWork::embedding},
    {"bounds_check_indices", DeviceWork::embedding},
    {"recat_", DeviceWork::embedding},
    {"permute_2d", DeviceWork::embedding},
    {"permute_1d", DeviceWork::embedding},

    {"get_dispatch_layout", DeviceWork::moe},
    {"get_fused_mapping", DeviceWork::moe},
    {"expand_to_fused", DeviceWork::moe},
    {"reduce_fused_impl", DeviceWork::moe},
    {"moe", DeviceWork::moe},
    {"topk_gating", DeviceWork::moe},
    {"router", DeviceWork::moe},
    {"permute_kernel", DeviceWork::moe},
    {"_permute", DeviceWork::moe},
    {"unpermute", DeviceWork::moe},

    {"cast_to_fp8", DeviceWork::quantise},
    {"cast_and_transpose", DeviceWork::quantise},
    {"cast_transpose", DeviceWork::quantise},
    {"cast_back", DeviceWork::quantise},
    {"convert", DeviceWork::quantise},
    {"fp8rowwise", DeviceWork::quantise},
    {"quantize", DeviceWork::quantise},
    {"quantise", DeviceWork::quantise},
    {"mxfp8", DeviceWork::quantise},
    {"amax", DeviceWork::quantise},

    {"wgrad", DeviceWork::convolution},
    {"dgrad", DeviceWork::convolution},
    {"fprop", DeviceWork::convolution},
    {"winograd", DeviceWork::convolution},
    {"convol", DeviceWork::convolution},
    {"conv2d", DeviceWork::convolution},
    {"conv3d", DeviceWork::convolution},
    {"conv1d", DeviceWork::convolution},
    {"_conv", DeviceWork::convolution},
    {"conv_", DeviceWork::convolution},
    {"scudnn", DeviceWork::convolution},
    {"hcudnn", DeviceWork::convolution},
    {"cudnn_infer", DeviceWork::convolution},
    {"cudnn_train", DeviceWork::convolution},
    {"cudnn::cnn", DeviceWork::convolution},
    {"igemm", DeviceWork::convolution},
    {"im2col", DeviceWork::convolution},
    {"implicit_gemm", DeviceWork::convolution},
    {"implicitgemm", DeviceWork::convolution},
    {"bwd_weight", DeviceWork::convolution},
    {"bwd_data", DeviceWork::convolution},
    {"computeoffsets", DeviceWork::convolution},
    {"miopensp3", DeviceWork::convolution},
    {"naive_conv", DeviceWork::convolution},

    {"gemm", DeviceWork::gemm},
    {"gemv", DeviceWork::gemm},
    {"cijk_", DeviceWork::gemm},
    {"nvjet", DeviceWork::gemm},
    {"xmma", DeviceWork::gemm},
    {"cublas", DeviceWork::gemm},
    {"splitkreduce", DeviceWork::gemm},
    {"splitk", DeviceWork::gemm},
    {"triton_mm", DeviceWork::gemm},
    {"triton_tem", DeviceWork::gemm},
    {"_mm_", DeviceWork::gemm},
    {"_matmul", DeviceWork::gemm},
    {"matmul_", DeviceWork::gemm},
    {"dot_kernel", DeviceWork::gemm},
    {"reduce_1block", DeviceWork::gemm},
    {"cutlass", DeviceWork::gemm},

    {"catarray", DeviceWork::copy},
    {"copy", DeviceWork::copy},
    {"memcpy", DeviceWork::copy},
    {"memset", DeviceWork::copy},
    {"transpose", DeviceWork::copy},
    {"nchwto", DeviceWork::copy},
    {"nhwcto", DeviceWork::copy},
    {"fillfunctor", DeviceWork::copy},
    {"fillbuffer", DeviceWork::copy},
    {"split_with_sizes", DeviceWork::copy},
    {"chunk_cat", DeviceWork::copy},
    {"subtensorop", DeviceWork::copy},
    {"scalepackedtensor", DeviceWork::elementwise},

    {"radixsort", DeviceWork::index},
    {"sort", DeviceWork::index},
    {"scan", DeviceWork::index},
    {"gather", DeviceWork::index},
    {"scatter", DeviceWork::index},
    {"index", DeviceWork::index},
    {"topk", DeviceWork::index},
    {"unique", DeviceWork::index},
    {"compact", DeviceWork::index},
    {"searchsorted", DeviceWork::index},
    {"cub::", DeviceWork::index},

    {"pool", DeviceWork::reduction},
    {"reduce_kernel", DeviceWork::reduction},
    {"reduceop", DeviceWork::reduction},
    {"triton_red", DeviceWork::reduction},
    {"triton_per", DeviceWork::reduction},
    {"reduce", DeviceWork::reduction},

    {"elementwise", DeviceWork::elementwise},
    {"dropout", DeviceWork::elementwise},
    {"swiglu", DeviceWork::elementwise},
    {"silu", DeviceWork::elementwise},
    {"gelu", DeviceWork::elementwise},
    {"relu", DeviceWork::elementwise},
    {"triton_poi", DeviceWork::elementwise},
    {"distribution", DeviceWork::elementwise},
    {"triu_tril", DeviceWork::elementwise},
    {"masked_scale", DeviceWork::elementwise},
    {"op_tensor", DeviceWork::elementwise},
    {"op_generic", DeviceWork::elementwise},
    {"triton_", DeviceWork::elementwise},
}};

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
    for (const auto& [part, work] : rules)
        if (contains(small, part))
            return work;
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
