#pragma once

// The words that several parts share; files spell them as `enum_names` gives.

#include "sim/base/field_names.h"

#include <cstdint>
#include <string_view>

namespace trainyard {

// Number formats of GEMMs. tf32 stores fp32. fp8 scales whole tensors, fp8_block tiles of 1 x 128
// and 128 x 128 (DeepSeek-V3), mxfp8 blocks of 32 and nvfp4 blocks of 16 elements.
enum class Precision : std::uint8_t { fp32, tf32, fp16, bf16, fp8, fp8_block, mxfp8, nvfp4 };

// Bytes of one stored activation or parameter element: 4 for fp32 and tf32, else 2 (8- and 4-bit
// training keeps 16-bit tensors and casts inputs of GEMMs).
constexpr int storage_bytes(Precision precision)
{
    return precision == Precision::fp32 || precision == Precision::tf32 ? 4 : 2;
}

// `bytes` of a collective are counted as nccl-tests does: the whole buffer. All-gather: the
// gathered output; reduce-scatter: the input before scattering; all-to-all: what one rank sends in
// total, its own part included.
enum class CollectiveKind : std::uint8_t {
    all_reduce,
    all_gather,
    reduce_scatter,
    all_to_all,
    broadcast,
    reduce,
    barrier,
    send_receive
};

// How a transfer's traffic spreads over its group's links.
enum class TrafficPattern : std::uint8_t {
    ring,
    tree, // leaves an NVLink domain once where a ring's sums leave it almost twice
    nvls, // sums inside a domain are made in its switches
    all_to_all,
    neighbours // each member sends to the next one only, the last to the first
};

// Which communicator: what a group of ranks is for. shard and replicate are the two levels of a
// hybrid-sharded DP group, cp_a2a and cp_ring those of a hybrid CP group, twin the two devices that
// hold the same layers in a bidirectional pipeline.
enum class GroupKind : std::uint8_t {
    tp,
    cp,
    ep,
    etp,
    dp,
    edp,
    pp,
    embedding,
    world,
    shard,
    replicate,
    cp_a2a,
    cp_ring,
    twin
};
inline constexpr std::size_t group_kind_count = 14;

// A library of collectives and messages.
enum class Backend : std::uint8_t { nccl, gloo, ucx, nvshmem, mpi };

// Moves data between host memories by threads of the CPU: never from device to device.
constexpr bool on_host(Backend backend)
{
    return backend == Backend::gloo || backend == Backend::mpi;
}

// As its makers write it, for people: "NCCL", "Gloo", "MPI".
std::string_view title_of(Backend backend);

// What an op is part of.
enum class Phase : std::uint8_t {
    forward,
    backward,
    recompute,
    optimizer,
    gradient_sync,
    parameter_sync,
    data,
    other
};
inline constexpr std::size_t phase_count = 8;

// How far a number can be trusted, best first: measured on the target; published by its maker or a
// third party; extrapolated from measurements; from a data sheet or recalled; made up for tests.
enum class Grade : std::uint8_t { measured, published, extrapolated, datasheet, synthetic };

template <>
std::vector<EnumName<Grade>> enum_names<Grade>();
template <>
std::vector<EnumName<Precision>> enum_names<Precision>();
template <>
std::vector<EnumName<CollectiveKind>> enum_names<CollectiveKind>();
template <>
std::vector<EnumName<GroupKind>> enum_names<GroupKind>();
template <>
std::vector<EnumName<Backend>> enum_names<Backend>();
template <>
std::vector<EnumName<Phase>> enum_names<Phase>();

} // namespace trainyard
