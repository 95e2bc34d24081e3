#include "sim/traces/kernel_rules.h"
#include "sim/traces/trace_words.h"
#include "tests/catch.h"

using namespace trainyard;

TEST_CASE("kernels are what their makers' names say")
{
    const std::vector<std::pair<std::string, DeviceWork>> kernels{
        {"nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNN", DeviceWork::gemm},
        {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", DeviceWork::gemm},
        {"Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64", DeviceWork::gemm},
        {"volta_sgemm_128x32_nn", DeviceWork::gemm},
        {"void cutlass::device_kernel<flash::FlashAttnBwd<...>>", DeviceWork::attention},
        {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80", DeviceWork::attention},
        {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>", DeviceWork::copy},
        {"volta_scudnn_128x64_relu_interior_nn_v1", DeviceWork::convolution},
        {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
         DeviceWork::elementwise},
        {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>",
         DeviceWork::copy},
        {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<AdamFunctor<float>>",
         DeviceWork::optimizer},
        {"void multi_tensor_apply_kernel<TensorListMetadata<2>, CopyFunctor<BFloat16, float>>",
         DeviceWork::copy},
        {"void cunn_SoftMaxForward<8, float, float>", DeviceWork::loss},
        {"triton_poi_fused_add_mul_silu_3", DeviceWork::elementwise},
        {"triton_red_fused_native_layer_norm_backward_5", DeviceWork::norm},
        {"void cudnn::bn_bw_1C11_kernel_new<float>", DeviceWork::norm},
        {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         DeviceWork::communication},
        {"void deep_ep::intranode::dispatch<8, 768>", DeviceWork::communication},
        {"my_own_kernel", DeviceWork::other}};
    for (const auto& [name, work] : kernels) {
        INFO(name);
        CHECK(to_name(work_of_kernel(name)) == to_name(work));
    }
}

TEST_CASE("NCCL's kernels name their collective, generic ones do not")
{
    CHECK(collective_of_kernel("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL") ==
          CollectiveKind::reduce_scatter);
    CHECK(collective_of_kernel("ncclKernel_AllReduce_TREE_LL_Sum_float") ==
          CollectiveKind::all_reduce);
    CHECK(collective_of_kernel("ncclKernel_Broadcast_RING_LL_Sum_int8_t") ==
          CollectiveKind::broadcast);
    CHECK(!collective_of_kernel("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"));
}

TEST_CASE("sizes are counted over all tensors of an op")
{
    CHECK(elements_in("[[8, 512], [512, 64]]") == 8 * 512 + 512 * 64);
    CHECK(elements_in("[[[2, 3], [4]], []]") == 10);
    CHECK(elements_in("[]") == 0);
    CHECK(torch_element_bytes("c10::BFloat16") == 2);
    CHECK(torch_element_bytes("Float8_e4m3fn") == 1);
    CHECK(torch_element_bytes("float") == 4);
    CHECK(torch_element_bytes("Scalar") == 0);
    CHECK(torch_element_bytes("UInt16") == 2);
    CHECK(torch_element_bytes("UInt8") == 1);
    CHECK(torch_element_bytes("UInt64") == 8);
    CHECK(torch_element_bytes("Int") == 4);
    CHECK(torch_element_bytes("ComplexHalf") == 4);
    CHECK(torch_element_bytes("c10::complex<double>") == 16);
    CHECK(torch_element_bytes("Float4_e2m1fn_x2") == 1);
}

TEST_CASE("descriptions of process groups say what they are for, or nothing")
{
    CHECK(group_purpose_called("TENSOR_MODEL_PARALLEL_GROUP") == GroupKind::tp);
    CHECK(group_purpose_called("EXPERT_DATA_PARALLEL_GROUP") == GroupKind::edp);
    CHECK(group_purpose_called("mesh_dp_shard") == GroupKind::dp);
    CHECK(group_purpose_called("mesh_pp") == GroupKind::pp);
    CHECK(!group_purpose_called("default_pg"));
    CHECK(!group_purpose_called("undefined"));
}
