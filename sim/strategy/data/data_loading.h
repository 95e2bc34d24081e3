#pragma once

// How samples come to the devices: the part `data` of a scenario. Without it a step never waits for
// its input.

#include "sim/base/field_names.h"
#include "sim/cost/host_class.h"
#include "sim/cost/storage.h"

#include <cstdint>
#include <string>

namespace trainyard {

// jpeg: a file per image; packed: JPEGs in large record files; raw: pixels in large files; tokens:
// ready-made token ids in large files.
enum class DataFormat : std::uint8_t { raw, jpeg, packed, tokens };

// Of large files. sequential: large reads ahead, records in their order; shuffled: a small read per
// sample, as files of one sample always are.
enum class ReadOrder : std::uint8_t { sequential, shuffled };

// What the page cache holds when the step runs: nothing, or what earlier epochs left.
enum class Epoch : std::uint8_t { first, later };

// blocking: tensor.to(device), the host waits for it; non_blocking: the same from pinned memory, in
// order with compute; ahead: on a stream of its own, one batch early.
enum class HostCopy : std::uint8_t { blocking, non_blocking, ahead };

constexpr int most_workers = 4096; // loader processes of a rank

struct DataLoading {
    std::optional<DataFormat> format; // else tokens for transformers, jpeg for lists of layers
    std::string storage = "local-nvme";
    std::optional<Bandwidth> storage_rate; // of a node; else the storage class's
    ReadOrder order = ReadOrder::shuffled;
    Epoch epoch = Epoch::later;
    Bytes dataset; // all files; 0: larger than any cache
    Bytes page_cache;
    std::optional<Bytes> sample_bytes; // as stored; else by format
    int element_bytes = 4; // of a pixel's channel in the batch: 4 as floats, 1 as stored
    int workers = 8;       // loader processes per rank; 0: the training process loads
    int prefetch = 2;      // batches per worker; 0: begun when the step asks
    std::string host = "epyc-zen4";
    Decoder decoder = Decoder::pillow;
    std::optional<double> decode_rate; // samples per second and worker; else the host's
    int cores = 96;                    // of a node
    bool pinned = true;
    HostCopy copy = HostCopy::non_blocking;

    bool operator==(const DataLoading&) const = default;
};

// The same with the constants it names, and nothing left to default but what follows the model.
struct DataSource {
    DataLoading loading;
    StorageClass storage;
    HostClass host;

    bool operator==(const DataSource&) const = default;
};

template <>
std::vector<EnumName<DataFormat>> enum_names<DataFormat>();
template <>
std::vector<EnumName<ReadOrder>> enum_names<ReadOrder>();
template <>
std::vector<EnumName<Epoch>> enum_names<Epoch>();
template <>
std::vector<EnumName<HostCopy>> enum_names<HostCopy>();
template <>
const FieldTable<DataLoading>& fields_of<DataLoading>();

} // namespace trainyard
