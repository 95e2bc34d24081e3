#include "sim/study/data_parallel_notes.h"

#include <fmt/core.h>

namespace trainyard {

Problems data_parallel_notes(const Strategy& stated, const Job& job)
{
    Problems problems;
    const int zero = job.strategy.zero;
    const auto note = [&](bool applies, const char* pointer, std::string message) {
        if (applies)
            problems.push_back({"", 0, pointer, std::move(message), "", Severity::warning});
    };
    note(zero != 0 && stated.ddp != DdpOptions{}, "/strategy/ddp",
         fmt::format("these are options of DDP (zero 0); with zero {} they have no effect", zero));
    note(zero == 0 && is_single_process(job) && stated.ddp != DdpOptions{}, "/strategy/ddp",
         "one process for all devices has no buckets; options of DDP have no effect");
    note(zero != 3 && stated.fsdp != FsdpOptions{}, "/strategy/fsdp",
         fmt::format("these are options of FSDP (zero 3); with zero {} they have no effect", zero));
    note((zero == 0 || zero == 3) && stated.sharding != ShardingOptions{}, "/strategy/sharding",
         fmt::format("these are options of zero 1 and 2; with zero {} they have no effect", zero));
    note(stated.shard_group.has_value() && !job.strategy.shard_group, "/strategy/shard_group",
         "one shard group of all ranks: there are no replicas of states");
    note(zero == 0 && stated.ddp.static_graph && !stated.ddp.find_unused_parameters,
         "/strategy/ddp/static_graph",
         "it saves the search for unused parameters, which is off: this has no effect");
    return problems;
}

Problems one_host_misfits(const Job& job, const Topology& topology)
{
    if (!is_single_process(job))
        return {};
    const auto node_of = [&](int rank) {
        return topology.device(make_id<DeviceId>(static_cast<std::size_t>(rank))).node;
    };
    int on_host = 1;
    while (on_host < job.world() && node_of(on_host) == node_of(0))
        ++on_host;
    if (on_host == job.world())
        return {};
    return {{"", 0, "/strategy/data_parallel",
             fmt::format("{} replicas in one process, but its host has {} devices", job.world(),
                         on_host),
             fmt::format("use \"ddp\", or dp of at most {}", on_host), Severity::error}};
}

} // namespace trainyard
