#include "sim/strategy/data/data_loading.h"

#include "sim/base/fields.h"

namespace trainyard {

template <>
std::vector<EnumName<DataFormat>> enum_names<DataFormat>()
{
    using enum DataFormat;
    return {{raw, "raw"}, {jpeg, "jpeg"}, {packed, "packed"}, {tokens, "tokens"}};
}

template <>
std::vector<EnumName<ReadOrder>> enum_names<ReadOrder>()
{
    return {{ReadOrder::sequential, "sequential"}, {ReadOrder::shuffled, "shuffled"}};
}

template <>
std::vector<EnumName<Epoch>> enum_names<Epoch>()
{
    return {{Epoch::first, "first"}, {Epoch::later, "later"}};
}

template <>
std::vector<EnumName<HostCopy>> enum_names<HostCopy>()
{
    using enum HostCopy;
    return {{blocking, "blocking"}, {non_blocking, "non_blocking"}, {ahead, "ahead"}};
}

template <>
const FieldTable<DataLoading>& fields_of<DataLoading>()
{
    using D = DataLoading;
    static const auto table =
        FieldTable<D>("data", "How samples come to the devices; without it a step never waits for "
                              "them.")
            .field("format", &D::format,
                   {.help = "jpeg: a file per image; packed: JPEGs in record files; raw: pixels in "
                            "large files; tokens; else tokens or jpeg, as the model is"})
            .field("storage", &D::storage,
                   {.help = "class of storage, e.g. local-nvme, network-file-system, "
                            "parallel-file-system, object-store"})
            .field("storage_rate", &D::storage_rate,
                   {.help = "large reads of one node; else the storage class's", .min = 1})
            .field("order", &D::order,
                   {.help = "sequential: large reads, each node always the same part; shuffled: a "
                            "small read per sample, as files of one sample always are"})
            .field("epoch", &D::epoch,
                   {.help = "first: nothing is cached; later: the page cache holds what earlier "
                            "epochs left"})
            .field("dataset", &D::dataset,
                   {.help = "bytes of all files; 0: larger than any cache", .min = 0})
            .field("page_cache", &D::page_cache,
                   {.help = "memory of a node that caches files", .min = 0})
            .field("sample_bytes", &D::sample_bytes,
                   {.help = "of a stored sample; else 110 KB per JPEG (ImageNet's mean), one byte "
                            "per pixel and channel, 2 or 4 bytes per token",
                    .min = 1})
            .field("element_bytes", &D::element_bytes,
                   {.help = "of a pixel's channel as copied to the device: 4 as floats, 1 as "
                            "stored",
                    .min = 1,
                    .max = 8})
            .field("workers", &D::workers,
                   {.help = "loader processes per rank; 0: the training process loads between "
                            "steps",
                    .min = 0,
                    .max = most_workers})
            .field("prefetch", &D::prefetch,
                   {.help = "batches per worker made ahead; 0: begun when the step asks",
                    .min = 0,
                    .max = 4096})
            .field("host", &D::host,
                   {.help = "class of processor, e.g. epyc-zen4, epyc-zen5, xeon-emerald-rapids, "
                            "neoverse-n1, neoverse-v2"})
            .field("decoder", &D::decoder, {.help = "library that decodes JPEGs"})
            .field("decode_rate", &D::decode_rate,
                   {.help = "samples per second that one worker makes, augmentation included; else "
                            "decoding alone, as the host's class has it for ImageNet's images",
                    .min = 0.001,
                    .max = 1e12})
            .field("cores", &D::cores, {.help = "of a node's processors", .min = 1, .max = 1e6})
            .field("pinned", &D::pinned, {.help = "batches lie in page-locked memory"})
            .field("copy", &D::copy,
                   {.help = "to the device: blocking, non_blocking (in order with compute), or "
                            "ahead (on its own stream, one batch early)"});
    return table;
}

} // namespace trainyard
