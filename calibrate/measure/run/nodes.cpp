#include "calibrate/measure/run/nodes.h"

#include "calibrate/measure/run/sound_samples.h"

#include <fmt/core.h>

#include <set>

namespace trainyard {

std::optional<DiscoveredCluster> cluster_of(Coordinator& coordinator, int ranks,
                                            std::vector<std::string>& doubts)
{
    constexpr Milliseconds limit{60'000}; // drivers answer slowly where their daemon does not run
    std::set<std::string> asked;
    std::vector<NodeReport> nodes;
    for (int rank = 0; rank < ranks; ++rank) {
        const std::string& host = coordinator.hello(rank).host;
        if (!asked.insert(host).second)
            continue;
        RankCommand command;
        command.kind = CommandKind::node;
        GroupReplies answer = coordinator.ask({rank}, command, limit);
        std::optional<NodeReport>& node = answer.replies.front().node;
        if (answer.failure || !node) {
            doubts.push_back(
                fmt::format("what host {} is made of is not known{}", host,
                            answer.failure ? ": " + answer.failure->message : std::string()));
            continue;
        }
        if (const std::string wrong = unsound(*node); !wrong.empty()) {
            doubts.push_back(fmt::format("what host {} is made of is left out: {}", host, wrong));
            continue;
        }
        node->host = host;
        nodes.push_back(std::move(*node));
    }
    if (nodes.empty())
        return std::nullopt;
    Checked<DiscoveredCluster> cluster = cluster_of(std::move(nodes));
    if (!cluster) {
        doubts.push_back(
            fmt::format("the topology is not known: {}", cluster.error().front().message));
        return std::nullopt;
    }
    return std::move(*cluster);
}

} // namespace trainyard
