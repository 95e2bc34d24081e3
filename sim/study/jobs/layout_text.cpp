#include "sim/study/jobs/layout_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

std::string described(const Scenario& scenario)
{
    const Strategy& s = scenario.strategy;
    std::string out;
    const auto size = [&](const char* name, int value) {
        if (value > 1)
            out += fmt::format("{} {}, ", name, value);
    };
    size("tp", s.tp);
    size("pp", s.pp);
    size("vpp", s.vpp);
    size("cp", s.cp);
    size("ep", s.ep);
    out += fmt::format("dp {}", *s.dp);
    if (s.zero > 0)
        out += fmt::format(", zero {}", s.zero);
    if (scenario.training.recompute != Recompute::none)
        out += fmt::format(", recompute {}", to_name(scenario.training.recompute));
    return out;
}

std::string listed(const std::set<int>& sizes)
{
    std::string out;
    for (const int size : sizes)
        out += fmt::format("{}{}", out.empty() ? "" : ", ", size);
    return out;
}

std::string nearest_batches(std::int64_t batch, const std::set<int>& replicas)
{
    const auto divides = [&](std::int64_t b) {
        return std::ranges::any_of(replicas, [b](int dp) { return b % dp == 0; });
    };
    const std::int64_t reach = *replicas.rbegin();
    std::string out;
    for (std::int64_t below = batch - 1; below >= std::max<std::int64_t>(1, batch - reach); --below)
        if (divides(below)) {
            out = fmt::format("{} or ", below);
            break;
        }
    std::int64_t above = batch + 1;
    while (!divides(above))
        ++above;
    return out + std::to_string(above);
}

} // namespace trainyard
