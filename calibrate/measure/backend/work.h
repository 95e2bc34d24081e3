#pragma once

// What can be timed: one operation among the ranks of a communicator, or on each of them.

#include "calibrate/fit/clean_sweep.h"
#include "calibrate/measure/backend/element_type.h"
#include "sim/base/field_names.h"
#include "sim/base/quantity.h"
#include "sim/base/vocabulary.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainyard {

struct CollectiveWork {
    CollectiveKind collective = CollectiveKind::all_reduce; // a barrier has no size; never
                                                            // send_receive: that is ExchangeWork
    Bytes size;                                             // as CollectiveKind counts it
    ElementType type = ElementType::float32;                // sums where it reduces
    Buffers buffers = Buffers::out_of_place;
    int root = 0;

    bool operator==(const CollectiveWork&) const = default;
};

struct PairMessage {
    int from = 0; // ranks of the communicator
    int to = 0;

    bool operator==(const PairMessage&) const = default;
};

// Messages of `size` bytes each, all under way at once: one pair one way or both ways, one to all,
// all to one, a shifted permutation. Ranks without a message take part in the barrier only.
struct ExchangeWork {
    std::vector<PairMessage> messages;
    Bytes size;

    bool operator==(const ExchangeWork&) const = default;
};

// A message from `first` to `second` and one back; one op is the half of it.
struct PingPongWork {
    int first = 0;
    int second = 1;
    Bytes size;

    bool operator==(const PingPongWork&) const = default;
};

enum class LocalKind : std::uint8_t {
    gemm,           // m x k times k x n
    memory_read,    // of `size` bytes, by the device
    memory_write,   // of `size` bytes
    memory_copy,    // reads `size` bytes and writes as many
    memory_add,     // adds `size` bytes of float32 to as many: reads both, writes one
    host_to_device, // a pinned copy of `size` bytes
    device_to_host,
    launch,            // an empty kernel, waited for
    launch_queued,     // an empty kernel behind others
    launch_graph,      // an empty kernel of a replayed graph
    issue,             // what the host spends to put a kernel into its queue
    attention_forward, // causal, `batch` sequences of `m` tokens, `n` heads of `k` elements
    attention_backward
};

// On every rank of the communicator at once, each on its own device.
struct LocalWork {
    LocalKind kind = LocalKind::gemm;
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    std::int64_t batch = 1;
    Bytes size;
    ElementType type = ElementType::float32;

    bool operator==(const LocalWork&) const = default;
};

// A collective and a kernel at once; one of them is timed while the other is repeated beside it.
struct BesideWork {
    CollectiveWork collective;
    LocalWork local;
    bool times_collective = false; // else the kernel
    int repeats = 1;               // of the other, equal on all ranks, per batch

    bool operator==(const BesideWork&) const = default;
};

using TimedWork = std::variant<CollectiveWork, ExchangeWork, PingPongWork, LocalWork, BesideWork>;

template <>
std::vector<EnumName<Buffers>> enum_names<Buffers>();
template <>
std::vector<EnumName<ElementType>> enum_names<ElementType>();
template <>
std::vector<EnumName<LocalKind>> enum_names<LocalKind>();

// Of the messages that are timed; zero where there are none.
Bytes message_size(const TimedWork& work);

// nccl-tests' word: float, half, bfloat16, uint8, f8e4m3.
std::string_view sweep_word(ElementType type);

// "all_reduce 64 MiB bfloat16", "gemm 4096 x 4096 x 4096 bfloat16", "1 -> 3 64 MiB": for people.
std::string describe(const TimedWork& work);

// {"collective": {...}}, {"exchange": {...}}, {"ping_pong": ...}, {"local": ...} or {"beside":
// ...}.
template <>
struct FieldValue<TimedWork> {
    static std::string type_name();
    static bool read(const Reader& reader, TimedWork& out);
    static Json write(const TimedWork& value);
    static Json schema();
};

} // namespace trainyard
