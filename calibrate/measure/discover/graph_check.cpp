#include "calibrate/measure/discover/graph_check.h"

#include "calibrate/fit/order_statistics.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

namespace trainyard {
namespace {

constexpr double tolerance = 1.1; // above the line rate: rounding of rates, GB against GiB
constexpr double lowest = 0.5;    // of the line rate that a single copy still reaches when sound

struct ClassRates {
    std::vector<double> measured;
    std::vector<double> ratios; // measured / the narrowest link's
    Bandwidth narrowest;
    std::string link; // its name, of the first pair
};

// Nearest first; what is no such word has no place.
int rank_of(const std::string& word)
{
    static constexpr std::array<std::string_view, 5> order{"PIX", "PXB", "PHB", "NODE", "SYS"};
    const auto found = std::find(order.begin(), order.end(), word);
    return found == order.end() ? -1 : static_cast<int>(found - order.begin());
}

std::map<std::string, ClassRates> rates_by_class(const PairStudy& study, const Topology& topology)
{
    std::map<std::string, ClassRates> out;
    const auto devices = static_cast<std::size_t>(topology.device_count());
    for (std::size_t a = 0; a < std::min(devices, study.rates.size()); ++a)
        for (std::size_t b = 0; b < std::min(devices, study.rates[a].size()); ++b) {
            const std::optional<double>& rate = study.rates[a][b];
            if (a == b || !rate || !(*rate > 0) || a >= study.classes.size() ||
                b >= study.classes[a].size())
                continue;
            const std::vector<LinkId> path = topology.path(DeviceId{static_cast<std::uint32_t>(a)},
                                                           DeviceId{static_cast<std::uint32_t>(b)});
            const auto narrowest =
                std::min_element(path.begin(), path.end(), [&topology](LinkId x, LinkId y) {
                    return topology.link(x).capacity < topology.link(y).capacity;
                });
            ClassRates& cls = out[study.classes[a][b]];
            if (cls.measured.empty()) {
                cls.narrowest = topology.link(*narrowest).capacity;
                cls.link = topology.link_name(*narrowest);
            }
            cls.measured.push_back(*rate);
            cls.ratios.push_back(*rate / topology.link(*narrowest).capacity.value());
        }
    return out;
}

} // namespace

std::vector<std::string> graph_doubts(const PairStudy& study, const Topology& topology)
{
    const std::map<std::string, ClassRates> classes = rates_by_class(study, topology);
    std::vector<std::string> out;
    for (const auto& [word, cls] : classes) {
        const double ratio = median(cls.ratios);
        const std::string numbers =
            fmt::format("{} pairs reach {:.3g} GB/s (median); the topology says {:.3g} GB/s ({})",
                        word, median(cls.measured) / 1e9, cls.narrowest.value() / 1e9, cls.link);
        if (ratio > tolerance)
            out.push_back(numbers + ": it lacks a link, or lanes of one");
        else if (ratio < lowest)
            out.push_back(numbers + ": messages go another way (host memory, no peer access), or "
                                    "a link is worse than it says");
    }
    for (const auto& [near, rates] : classes)
        for (const auto& [far, others] : classes)
            if (rank_of(near) >= 0 && rank_of(near) < rank_of(far) &&
                median(rates.measured) < 0.9 * median(others.measured))
                out.push_back(fmt::format(
                    "{} pairs reach {:.3g} GB/s, {} pairs, which are farther apart, {:.3g}: access "
                    "control on PCIe switches (ACS) may send the former over the CPU",
                    near, median(rates.measured) / 1e9, far, median(others.measured) / 1e9));
    return out;
}

} // namespace trainyard
