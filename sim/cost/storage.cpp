#include "sim/cost/storage.h"

#include "sim/base/fields.h"
#include "sim/cost/field_kinds.h"

namespace trainyard {

template <>
const FieldTable<StorageClass>& fields_of<StorageClass>()
{
    using S = StorageClass;
    static const auto table =
        FieldTable<S>("storage", "Where training data lies.")
            .field("name", &S::name, {.help = "as scenarios name it"})
            .field("aliases", &S::aliases, {.help = "other names"})
            .field("node_rate", &S::node_rate, not_negative("large reads of one node"))
            .field("total_rate", &S::total_rate,
                   not_negative("of all nodes together; 0: it grows with the nodes"))
            .field("node_reads", &S::node_reads,
                   not_negative("small reads per second of one node; 0: no limit but the rate"))
            .field("total_reads", &S::total_reads,
                   not_negative("of all nodes together; 0: it grows with the nodes"))
            .field("latency", &S::latency, not_negative("of one small read, its opening included"));
    return table;
}

void check(const Reader& reader, const StorageClass& storage)
{
    need_positive(reader, "storage", {{"node_rate", storage.node_rate.value()}});
    if (storage.node_rate.value() > 1e12)
        reader.warn("\"node_rate\" is implausibly large", "one node reads 1 to 60 GB/s");
    if (storage.latency.value() > 10)
        reader.warn("\"latency\" is implausibly large", "object stores answer in 0.1 s");
}

} // namespace trainyard
