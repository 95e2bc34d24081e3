#include "sim/cost/storage.h"

namespace trainyard {

template <>
const FieldTable<StorageClass>& fields_of<StorageClass>()
{
    using S = StorageClass;
    static const auto table =
        FieldTable<S>("storage", "Where training data lies.")
            .field("name", &S::name, {.help = "as scenarios name it"})
            .field("aliases", &S::aliases, {.help = "other names"})
            .field("node_rate", &S::node_rate, {.help = "large reads of one node", .min = 0})
            .field("total_rate", &S::total_rate,
                   {.help = "of all nodes together; 0: it grows with the nodes", .min = 0})
            .field("node_reads", &S::node_reads,
                   {.help = "small reads per second of one node; 0: no limit but the rate",
                    .min = 0})
            .field("total_reads", &S::total_reads,
                   {.help = "of all nodes together; 0: it grows with the nodes", .min = 0})
            .field("latency", &S::latency,
                   {.help = "of one small read, its opening included", .min = 0});
    return table;
}

void check(const Reader& reader, const StorageClass& storage)
{
    if (!(storage.node_rate.value() > 0))
        reader.error("\"node_rate\" is missing from storage");
    if (storage.node_rate.value() > 1e12)
        reader.warn("\"node_rate\" is implausibly large", "one node reads 1 to 60 GB/s");
    if (storage.latency.value() > 10)
        reader.warn("\"latency\" is implausibly large", "object stores answer in 0.1 s");
}

} // namespace trainyard
