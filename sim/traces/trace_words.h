#pragma once

// How PyTorch spells collectives, data types and process groups, and what that means here.

#include "sim/base/vocabulary.h"
#include "sim/traces/rank_trace.h"

namespace trainyard {

// Of "_allgather_base", "allreduce", "alltoall_base", "send", "nccl:all_reduce", ...
std::optional<CollectiveKind> collective_called(std::string_view name);

// Whether what is called like that is one of these, or gathers to or scatters from one rank, of
// which there is no kind here; not "wait".
bool moves_data(std::string_view name);

// Bytes of an element of "BFloat16", "c10::BFloat16", "float", ...; 0: not known.
int torch_element_bytes(std::string_view dtype);

// What a group is for, where its description says so: "mesh_tp", "TENSOR_MODEL_PARALLEL_GROUP",
// "dp". Nothing for names that tell nothing: "default_pg", "undefined".
std::optional<GroupKind> group_purpose_called(std::string_view description);

// What a host op of that name begins: nodes of autograd's engine the backward, what a checkpoint
// computes again recompute, an optimizer's step the optimizer; "attn(F)", "mlp(B)" and "mlp(W)" the
// pass that a training loop says it mixes with another.
std::optional<Phase> phase_begun_by(std::string_view name);

// Within an op that begins `begun` (or nothing), itself within `around`: nodes that a checkpoint
// runs in its own engine are backward again.
Phase phase_within(Phase around, std::optional<Phase> begun, std::string_view name);

// Elements of the whole buffer: of gathers what comes out, else what goes in.
constexpr std::uint64_t whole_elements(CollectiveKind kind, std::uint64_t in, std::uint64_t out)
{
    return kind == CollectiveKind::all_gather ? out : in;
}

// No job has more ranks; what says so is wrong, not large.
inline constexpr std::uint64_t most_trace_ranks = 10'000'000;

// Elements of all tensors in "[[8, 512], []]", lists of tensors too.
std::uint64_t elements_in(std::string_view shapes);

} // namespace trainyard
