#include "sim/traces/execution/op_rules.h"

#include "sim/base/words.h"
#include "sim/traces/execution/tensor_text.h"

#include <array>
#include <functional>
#include <numeric>

namespace trainyard {
namespace {

constexpr std::string_view aten = "aten::";

// Ops whose kernels' names say more than their own (ATen/native/native_functions.yaml). Without
// overload and the trailing _ of what works in place.
struct OpRule {
    DeviceWork work;
    std::string_view ops;
};
constexpr std::array named_rules{
    OpRule{DeviceWork::gemm,
           "mm addmm bmm baddbmm addbmm addmv mv dot _int_mm _scaled_mm _grouped_mm "
           "_scaled_grouped_mm _addmm_activation"},
    OpRule{DeviceWork::convolution, "convolution_backward"},
    OpRule{DeviceWork::reduction, "sum mean max min any all linalg_vector_norm _foreach_norm"},
    OpRule{DeviceWork::copy, "cat fill"},
};

constexpr std::string_view without_kernel =
    "empty empty_like empty_strided new_empty new_empty_strided resize _unsafe_view detach "
    "record_stream set unflatten_dense_tensors";

// Views that hide in no other name: for traces without schemas.
constexpr std::string_view views =
    "alias as_strided broadcast_tensors broadcast_to chunk conj contiguous diagonal expand "
    "expand_as flatten imag is_nonzero item lift lift_fresh mH mT movedim narrow numpy_T permute "
    "real reshape _reshape_alias resolve_conj resolve_neg select slice split split_with_sizes "
    "squeeze stride swapaxes swapdims t to transpose type_as unbind unflatten unfold unsafe_chunk "
    "unsafe_split unsqueeze view view_as _local_scalar_dense";

// "add" of "aten::add_.Tensor(0)".
std::string_view plain_name(std::string_view name)
{
    if (name.starts_with(aten))
        name.remove_prefix(aten.size());
    name = name.substr(0, name.find_first_of(".("));
    if (name.ends_with('_'))
        name.remove_suffix(1);
    return name;
}

// Gives back what it was given, unwritten, or no tensor at all.
bool is_view(std::string_view plain, std::string_view schema)
{
    if (schema.empty())
        return has_word(views, plain);
    const std::size_t arrow = schema.rfind("->");
    if (arrow == schema.npos || schema.find('!') != schema.npos)
        return false;
    const std::string_view result = schema.substr(arrow);
    return result.find("Tensor") == result.npos || result.find("Tensor(") != result.npos;
}

double product(const std::vector<double>& sizes, std::size_t from = 0)
{
    return std::accumulate(sizes.begin() + static_cast<std::ptrdiff_t>(from), sizes.end(), 1.0,
                           std::multiplies<>());
}

// [.., m, k] by [.., k, n].
double flops_of_product(const std::vector<double>& a, const std::vector<double>& b)
{
    if (a.size() < 2 || b.empty() || a.back() != b[b.size() >= 2 ? b.size() - 2 : 0])
        return 0;
    return 2 * product(a) * (b.size() >= 2 ? b.back() : 1);
}

// Each element of the output takes a filter's worth.
double flops_of_convolution(const std::vector<double>& out, const std::vector<double>& filters)
{
    return out.size() < 3 || filters.size() < 3 ? 0 : 2 * product(out) * product(filters, 1);
}

// Two products of queries and keys; the backward has five. Sequences lie at -2, in flash's own
// ops at -3.
double flops_of_attention(std::string_view name, std::string_view shapes)
{
    const bool backward = name.find("backward") != name.npos;
    const std::size_t first = backward ? 1 : 0; // behind the gradient
    const std::vector<double> queries = sizes_at(shapes, first);
    const std::vector<double> keys = sizes_at(shapes, first + 1);
    if (queries.size() != 4 || keys.size() != 4)
        return 0;
    const double length = name.find("scaled_dot_product") != name.npos ? keys[2] : keys[1];
    return (backward ? 10 : 4) * product(queries) * length;
}

} // namespace

std::optional<DeviceWork> work_of_op(std::string_view name, std::string_view schema)
{
    const std::string_view plain = plain_name(name);
    for (const OpRule& rule : named_rules)
        if (has_word(rule.ops, plain))
            return rule.work;
    if (is_view(plain, schema) ||
        name.find("c10d") < name.find("::") || // what it sends a call within it says
        has_word(without_kernel, plain))
        return std::nullopt;
    const DeviceWork work = work_of_kernel(name);
    // What else ATen has works element by element: its names are those of functions.
    return work == DeviceWork::other && name.starts_with(aten) ? DeviceWork::elementwise : work;
}

double flops_of_op(std::string_view name, std::string_view shapes, std::string_view out_shapes)
{
    const std::string_view plain = plain_name(name);
    const auto product_at = [&](std::size_t place) {
        return flops_of_product(sizes_at(shapes, place), sizes_at(shapes, place + 1));
    };
    if (has_word("mm bmm mv _int_mm _scaled_mm", plain))
        return product_at(0);
    if (has_word("addmm baddbmm addbmm addmv _addmm_activation", plain))
        return product_at(1);
    if (plain == "convolution_backward") { // of the input, of the filters, as the mask asks
        const double gradients =
            (sizes_at(out_shapes, 0).empty() ? 0 : 1) + (sizes_at(out_shapes, 1).empty() ? 0 : 1);
        return gradients * flops_of_convolution(sizes_at(shapes, 0), sizes_at(shapes, 2));
    }
    const DeviceWork work = work_of_kernel(name);
    if (work == DeviceWork::convolution)
        return flops_of_convolution(sizes_at(out_shapes, 0), sizes_at(shapes, 1));
    return work == DeviceWork::attention ? flops_of_attention(name, shapes) : 0;
}

} // namespace trainyard
