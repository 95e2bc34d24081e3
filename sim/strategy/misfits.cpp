#include "sim/strategy/misfits.h"

#include <fmt/format.h>

#include <vector>

namespace trainyard {

Diagnostic refusal(std::string pointer, std::string message, std::string hint)
{
    Diagnostic problem;
    problem.pointer = std::move(pointer);
    problem.message = std::move(message);
    problem.hint = std::move(hint);
    return problem;
}

std::string sizes_that_work(std::string_view what, int limit, const std::function<bool(int)>& works)
{
    constexpr std::size_t most_listed = 12;
    std::vector<int> sizes;
    for (int size = 1; size <= limit; ++size)
        if (works(size))
            sizes.push_back(size);
    if (sizes.empty())
        return {};
    std::string text = fmt::format("{} that work here: ", what);
    if (sizes.size() <= most_listed)
        return text + fmt::format("{}", fmt::join(sizes, ", "));
    const int last = sizes.back();
    sizes.resize(most_listed - 1);
    return text + fmt::format("{}, ..., {}", fmt::join(sizes, ", "), last);
}

Problems place_on_devices(Job& job, int devices)
{
    Strategy& s = job.strategy;
    // A double holds the product of any four ints well enough to compare it.
    const double replica = 1.0 * s.tp * s.cp * s.pp;
    const std::string there =
        s.gpus_per_domain > 0
            ? fmt::format("strategy.gpus_per_domain {} leaves {}", s.gpus_per_domain, devices)
            : fmt::format("the topology has {}", devices);
    const std::string sizes = fmt::format("tp x cp x pp = {} x {} x {}", s.tp, s.cp, s.pp);
    if (replica * s.dp.value_or(1) > devices) {
        const bool replicas_too_many = s.dp && replica <= devices;
        const std::string needed = fmt::format("{:.0f}", replica * s.dp.value_or(1));
        Diagnostic problem = refusal(
            replicas_too_many ? "/strategy/dp" : "/strategy",
            s.dp ? fmt::format("tp x cp x pp x dp = {} x {} x {} x {} needs {} devices; {}", s.tp,
                               s.cp, s.pp, *s.dp, needed, there)
                 : fmt::format("one replica, {}, needs {} devices; {}", sizes, needed, there),
            replicas_too_many ? fmt::format("leave dp out to use all devices, or give at most {}",
                                            devices / static_cast<int>(replica))
                              : fmt::format("use sizes whose product is at most {}", devices));
        s.dp = 1;
        return {problem};
    }
    const int ranks = static_cast<int>(replica);
    if (!s.dp && devices % ranks != 0) {
        s.dp = devices / ranks;
        return {refusal("/strategy/dp",
                        fmt::format("{}, {} devices, do not divide the {} of the topology", sizes,
                                    ranks, devices),
                        fmt::format("give dp (1 to {}) to leave devices idle: dp = {} uses {}",
                                    *s.dp, *s.dp, *s.dp * ranks))};
    }
    if (!s.dp)
        s.dp = devices / ranks;
    return {};
}

} // namespace trainyard
