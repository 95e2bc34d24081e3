#include "sim/traces/trace_words.h"

#include "sim/base/words.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace trainyard {
namespace {

constexpr std::string_view engine_node = "autograd::engine::evaluate_function";

template <class Value>
using WordMeaning = std::pair<std::string_view, Value>;

// The first whose word is in the text.
template <class Value, std::size_t N>
std::optional<Value> meaning_of(std::string_view text,
                                const std::array<WordMeaning<Value>, N>& words)
{
    const std::string small = lower_case(text);
    for (const auto& [word, value] : words)
        if (small.find(word) != std::string::npos)
            return value;
    return std::nullopt;
}

} // namespace

std::optional<CollectiveKind> collective_called(std::string_view name)
{
    using enum CollectiveKind;
    static constexpr std::array<WordMeaning<CollectiveKind>, 14> words{{
        {"allreduce", all_reduce},
        {"all_reduce", all_reduce},
        {"reduce_scatter", reduce_scatter},
        {"reducescatter", reduce_scatter},
        {"allgather", all_gather},
        {"all_gather", all_gather},
        {"alltoall", all_to_all},
        {"all_to_all", all_to_all},
        {"broadcast", broadcast},
        {"barrier", barrier},
        {"reduce", reduce},
        {"send", send_receive},
        {"recv", send_receive},
        {"coalesced", send_receive},
    }};
    return meaning_of(name, words);
}

bool moves_data(std::string_view name)
{
    return collective_called(name) || name.find("gather") != name.npos ||
           name.find("scatter") != name.npos;
}

int torch_element_bytes(std::string_view dtype)
{
    static constexpr std::array<WordMeaning<int>, 22> words{{
        {"bfloat16", 2},
        {"complexdouble", 16},
        {"complexfloat", 8},
        {"complexhalf", 4},
        {"complex<double", 16},
        {"complex<float", 8},
        {"complex<c10::half", 4},
        {"float4", 1}, // two in a byte, which is the element
        {"float8", 1},
        {"double", 8},
        {"half", 2},
        {"float", 4},
        {"long", 8},
        {"short", 2},
        {"unsigned char", 1},
        {"byte", 1},
        {"char", 1},
        {"bool", 1},
        {"int64", 8},
        {"int16", 2},
        {"int8", 1},
        {"int", 4},
    }};
    return meaning_of(dtype, words).value_or(0);
}

std::optional<GroupKind> group_purpose_called(std::string_view description)
{
    if (const std::optional<GroupKind> own = from_name<GroupKind>(description))
        return own;
    using enum GroupKind;
    static constexpr std::array<WordMeaning<GroupKind>, 18> words{{
        {"expert_tensor", etp},
        {"expert_data", edp},
        {"expert", ep},
        {"embedding", embedding},
        {"tensor", tp},
        {"pipeline", pp},
        {"context", cp},
        {"data", dp},
        {"fsdp", dp},
        {"mesh_tp", tp},
        {"mesh_pp", pp},
        {"mesh_cp", cp},
        {"mesh_ep", ep},
        {"mesh_dp_shard_mod_ep", edp},
        {"mesh_dp_replicate", replicate},
        {"mesh_dp_shard", dp},
        {"mesh_dp", dp},
        {"hsdp", dp},
    }};
    return meaning_of(description, words);
}

std::optional<Phase> phase_begun_by(std::string_view name)
{
    const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
    if (has("CheckpointFunctionBackward"))
        return Phase::recompute;
    if (has("ddp.reducer::") ||
        has("distributed::reducer::")) // DDP's copies into and out of buckets
        return Phase::gradient_sync;
    if (name.starts_with(engine_node) || has("Backward"))
        return Phase::backward;
    if (name.starts_with("Optimizer."))
        return Phase::optimizer;
    if (name.ends_with("(F)")) // as training loops annotate passes that they mix
        return Phase::forward;
    if (name.ends_with("(B)") || name.ends_with("(W)")) // of inputs, of weights
        return Phase::backward;
    return std::nullopt;
}

Phase phase_within(Phase around, std::optional<Phase> begun, std::string_view name)
{
    if (!begun)
        return around;
    return around == Phase::recompute && *begun == Phase::backward && !name.starts_with(engine_node)
               ? around
               : *begun;
}

std::uint64_t elements_in(std::string_view shapes)
{
    std::uint64_t sum = 0;
    std::uint64_t product = 1;
    std::uint64_t number = 0;
    bool any = false; // a number since the last bracket opened
    for (const char c : shapes) {
        if (c >= '0' && c <= '9') {
            number = number * 10 + static_cast<std::uint64_t>(c - '0');
            any = true;
        } else if (c == ',' || c == ']') {
            if (any)
                product *= number;
            number = 0;
            if (c == ']') {
                sum += any ? product : 0;
                any = false;
                product = 1;
            }
        } else if (c == '[') {
            product = 1;
            number = 0;
            any = false;
        }
    }
    return sum;
}

} // namespace trainyard
