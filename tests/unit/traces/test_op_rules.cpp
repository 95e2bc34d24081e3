#include "sim/traces/execution/op_rules.h"
#include "sim/traces/execution/tensor_text.h"
#include "tests/catch.h"

using namespace trainyard;

TEST_CASE("ops of PyTorch are what their kernels are, views start none")
{
    CHECK(work_of_op("aten::addmm", "aten::addmm(Tensor self) -> Tensor") == DeviceWork::gemm);
    CHECK(work_of_op("aten::native_layer_norm", "f(Tensor x) -> (Tensor, Tensor, Tensor)") ==
          DeviceWork::norm);
    CHECK(work_of_op("aten::_flash_attention_forward", "f(Tensor q) -> Tensor") ==
          DeviceWork::attention);
    CHECK(work_of_op("aten::add_", "aten::add_.Tensor(Tensor(a!) self) -> Tensor(a!)") ==
          DeviceWork::elementwise);
    CHECK(work_of_op("aten::_foreach_add_", "f(Tensor(a!)[] self) -> ()") ==
          DeviceWork::elementwise);
    CHECK_FALSE(work_of_op("aten::view", "aten::view(Tensor(a) self, int[] size) -> Tensor(a)"));
    CHECK_FALSE(work_of_op("aten::split", "aten::split(Tensor(a -> *) self) -> Tensor(a)[]"));
    CHECK_FALSE(work_of_op("aten::item", "aten::item(Tensor self) -> Scalar"));
    CHECK_FALSE(work_of_op("aten::transpose", "")); // by its name
    CHECK(work_of_op("aten::clamp_min", "") == DeviceWork::elementwise);
    CHECK_FALSE(work_of_op("aten::empty", "aten::empty(int[] size) -> Tensor"));
}

TEST_CASE("operations of products, convolutions and attention follow from shapes")
{
    CHECK(flops_of_op("aten::mm", "[[4, 16], [16, 8]]", "") == 2 * 4 * 16 * 8);
    CHECK(flops_of_op("aten::bmm", "[[3, 4, 16], [3, 16, 8]]", "") == 3 * 2 * 4 * 16 * 8);
    CHECK(flops_of_op("aten::addmm", "[[8], [4, 16], [16, 8], [], []]", "") == 2 * 4 * 16 * 8);
    CHECK(flops_of_op("aten::mm", "[[4, 16], [15, 8]]", "") == 0); // do not fit
    // 2 x 6 x 5 x 5 outputs, each of 3 x 3 x 3 products.
    CHECK(flops_of_op("aten::cudnn_convolution", "[[2, 3, 7, 7], [6, 3, 3, 3]]",
                      "[[2, 6, 5, 5]]") == 2.0 * 300 * 27);
    CHECK(flops_of_op("aten::convolution_backward", "[[2, 6, 5, 5], [2, 3, 7, 7], [6, 3, 3, 3]]",
                      "[[2, 3, 7, 7], [6, 3, 3, 3], []]") == 2 * 2.0 * 300 * 27);
    CHECK(flops_of_op("aten::convolution_backward", "[[2, 6, 5, 5], [2, 3, 7, 7], [6, 3, 3, 3]]",
                      "[[], [6, 3, 3, 3], []]") == 2.0 * 300 * 27);
    // Heads 8 of 64, 100 queries by 200 keys: two products of 2 x 100 x 200 x 64.
    CHECK(flops_of_op("aten::_scaled_dot_product_flash_attention",
                      "[[1, 8, 100, 64], [1, 8, 200, 64], [1, 8, 200, 64]]",
                      "") == 2.0 * 2 * 8 * 100 * 200 * 64);
    CHECK(flops_of_op("aten::_flash_attention_forward",
                      "[[1, 100, 8, 64], [1, 200, 8, 64], [1, 200, 8, 64]]",
                      "") == 2.0 * 2 * 8 * 100 * 200 * 64);
}

TEST_CASE("tensors are found among the values of an op, at any depth")
{
    const auto tensors =
        tensors_in("[[[12, 7, 0, 64, 4, 'cuda:0'], [13, 8, 0, 2, 8, 'cpu']], 0.1, 'a[', [1, 1]]");
    REQUIRE(tensors.size() == 2);
    CHECK(tensors[0] == TensorReference{12, 7, 64, 4, false});
    CHECK(tensors[1] == TensorReference{13, 8, 2, 8, true});
    CHECK(tensors_in("[[12, 7, 0, 64, 4]]").empty());
    CHECK(members_of("[1, 'a, b', [2, 3]]").size() == 3);
    CHECK(members_of("1").empty());
    CHECK(sizes_at("[[8, 512], []]", 0) == std::vector<double>{8, 512});
    CHECK(sizes_at("[[8, 512], []]", 5).empty());
}
