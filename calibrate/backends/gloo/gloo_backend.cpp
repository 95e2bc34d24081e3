#include "calibrate/backends/gloo/gloo_communicator.h"
#include "calibrate/backends/gloo/gloo_device.h"
#include "calibrate/backends/gloo/rendezvous_store.h"
#include "calibrate/backends/host/host_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gloo/config.h>
#include <gloo/rendezvous/context.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

// Every wait ends: while ranks meet, and in an operation.
constexpr std::chrono::seconds meeting_limit(60);
constexpr std::chrono::seconds operation_limit(120);

constexpr std::array gloo_algorithms{"auto", "ring", "bcube", "halving_doubling", "ring_chunked"};

class GlooBackend final : public RankBackend {
public:
    explicit GlooBackend(const LaunchPlace& place)
        : place_(place), cpu_(read_cpu_facts()), device_(open_gloo_device(place))
    {}

    BackendFacts facts() const override
    {
        BackendFacts facts = host_facts(cpu_, place_);
        facts.name = "gloo";
        facts.version =
            fmt::format("{}.{}.{}", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH);
        facts.properties["transport"] = device_.device->str();
        facts.properties["interface"] = device_.interface;
        if (!device_.warning.empty())
            facts.warnings.push_back(device_.warning);
        return facts;
    }

    std::string cannot(const TimedWork& work) const override
    {
        if (const auto* collective = std::get_if<CollectiveWork>(&work))
            return cannot_collect_over_gloo(*collective);
        if (const auto* local = std::get_if<LocalWork>(&work))
            return cannot_run_on_cpu(*local);
        if (const auto* beside = std::get_if<BesideWork>(&work)) {
            const std::string why = cannot_collect_over_gloo(beside->collective);
            return why.empty() ? cannot_run_on_cpu(beside->local) : why;
        }
        return "";
    }

    std::unique_ptr<Communicator> join(const GroupSpec& group, Rendezvous& rendezvous) override
    {
        if (std::ranges::find(gloo_algorithms, group.algorithm) == gloo_algorithms.end())
            throw MeasureFailure{FailureKind::refused,
                                 fmt::format("Gloo has no algorithm \"{}\"", group.algorithm),
                                 fmt::format("one of {}", fmt::join(gloo_algorithms, ", "))};
        if (group.protocol != "auto")
            throw MeasureFailure{FailureKind::refused, "Gloo has no protocols to choose from",
                                 "leave the protocol \"auto\""};
        const auto self = std::ranges::find(group.members, place_.rank);
        if (self == group.members.end())
            throw MeasureFailure{FailureKind::refused, "this rank is no member of the group", ""};

        auto context = std::make_shared<gloo::rendezvous::Context>(
            static_cast<int>(self - group.members.begin()), static_cast<int>(group.members.size()));
        context->setTimeout(meeting_limit);
        RendezvousStore store(rendezvous, meeting_limit);
        try {
            context->connectFullMesh(store, device_.device);
        } catch (const std::exception& error) {
            throw MeasureFailure{FailureKind::broken,
                                 fmt::format("Gloo cannot connect the ranks: {}", error.what()),
                                 "name a network interface that all hosts reach in "
                                 "GLOO_SOCKET_IFNAME"};
        }
        context->setTimeout(operation_limit);
        return std::make_unique<GlooCommunicator>(
            context, group.algorithm,
            MemoryLimits{.last_cache = cpu_.last_cache, .sharers = place_.local_ranks});
    }

private:
    LaunchPlace place_;
    CpuFacts cpu_;
    GlooDevice device_;
};

} // namespace
} // namespace trainyard

extern "C" [[gnu::visibility("default")]] std::unique_ptr<trainyard::RankBackend>
trainyard_open_backend(const trainyard::LaunchPlace& place)
{
    return std::make_unique<trainyard::GlooBackend>(place);
}
