#include "calibrate/fit/nccl_prior.h"

#include "sim/cost/device_catalogue.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {
namespace {

enum TunedProtocol : std::size_t { ll, ll128, simple };
constexpr std::array<TunedProtocol, 3> protocols{ll, ll128, simple};

// Seconds, by protocol: kernel and protocol start, and each hop over NVLink.
constexpr std::array<double, 3> ring_base{6.6e-6, 14e-6, 8.4e-6};
constexpr std::array<double, 3> tree_base{6.8e-6, 14e-6, 8.4e-6};
constexpr std::array<double, 3> ring_hop{0.6e-6, 1.9e-6, 3.4e-6};
constexpr std::array<double, 3> tree_hop{0.6e-6, 1.25e-6, 4.0e-6};
constexpr double nvls_latency = 25e-6;

// Share of a tree's bandwidth by log2(size / 64 B), as NCCL corrects its pipelining.
constexpr std::array<std::array<double, 23>, 3> tree_correction{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};

double protocol_rate(const NcclMachine& machine, TunedProtocol protocol)
{
    const double links = machine.links.value();
    switch (protocol) {
    case ll:
        return std::min(machine.low_latency_cap.value(), links / 2);
    case ll128:
        return 0.92 * links;
    case simple:
        break;
    }
    return links;
}

// A reduction in the switch keeps NVLink's number formats.
bool is_floating_point(const std::string& data_type)
{
    return data_type.empty() || data_type == "float" || data_type == "half" ||
           data_type == "bfloat16" || data_type == "double" || data_type.starts_with("f8");
}

} // namespace

std::optional<NcclMachine> nccl_machine(const std::string& hardware)
{
    const KnownDevice* const known = shipped_devices().named_in(hardware);
    if (known == nullptr || !(known->device.nccl.link_rate.value() > 0))
        return std::nullopt;
    const NcclTuning& tuning = known->device.nccl;
    return NcclMachine{tuning.link_rate * known->device.nvlinks, tuning.low_latency_cap,
                       tuning.in_switch};
}

std::vector<CandidateTime> nccl_candidates(const Sweep& shape, const NcclMachine& machine,
                                           Bytes size)
{
    const bool reduces_all = shape.collective == CollectiveKind::all_reduce;
    const bool gathers = shape.collective == CollectiveKind::all_gather ||
                         shape.collective == CollectiveKind::reduce_scatter;
    if ((!reduces_all && !gathers) || shape.ranks < 2)
        return {};
    const double bytes = static_cast<double>(size.value());
    const double n = shape.ranks;
    const double steps = (reduces_all ? 2 : 1) * (n - 1);
    std::vector<CandidateTime> out;
    for (const TunedProtocol p : protocols)
        out.push_back(
            {ring_base[p] + steps * ring_hop[p], bytes * steps / n / protocol_rate(machine, p)});
    if (!reduces_all)
        return out;
    const double place = std::log2(std::max(1.0, bytes / 64));
    for (const TunedProtocol p : protocols) {
        const auto& correction = tree_correction[p];
        const std::size_t at = std::min(correction.size() - 1, static_cast<std::size_t>(place));
        const double rate = std::min(protocol_rate(machine, p), 0.92 * machine.links.value());
        out.push_back(
            {tree_base[p] + 2 * (n - 1) * tree_hop[p], bytes / (0.5 * correction[at] * rate)});
    }
    if (machine.in_switch > 0 && n > 2 && is_floating_point(shape.data_type))
        out.push_back({nvls_latency, bytes / (machine.in_switch * machine.links.value())});
    return out;
}

std::optional<PriorFit> fit_nccl_prior(const Sweep& sweep)
{
    const auto machine = nccl_machine(sweep.device.empty() ? sweep.hardware : sweep.device);
    if (!machine || sweep.nodes != 1 || sweep.backend != Backend::nccl ||
        sweep.algorithm != "auto" || sweep.protocol != "auto")
        return std::nullopt;
    std::vector<OfferedTime> points;
    for (const TimedSize& point : clean(sweep).points)
        if (auto candidates = nccl_candidates(sweep, *machine, point.size); !candidates.empty())
            points.push_back({std::move(candidates), point});
    if (points.empty())
        return std::nullopt;
    const TwoScalars scalars = fit_two_scalars(points);
    return PriorFit{scalars, mean_error(points, scalars), mean_error(points, {})};
}

} // namespace trainyard
