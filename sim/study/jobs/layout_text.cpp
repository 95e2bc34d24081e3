#include "sim/study/jobs/layout_text.h"

#include <fmt/core.h>

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
    size("etp", s.etp);
    out += fmt::format("dp {}", *s.dp);
    if (s.schedule != Strategy{}.schedule && s.schedule != "interleaved-1f1b")
        out += fmt::format(", {}", s.schedule);
    if (s.zero > 0)
        out += fmt::format(", zero {}", s.zero);
    if (scenario.training.recompute != Recompute::none)
        out += fmt::format(", recompute {}{}", to_name(scenario.training.recompute),
                           scenario.training.recompute_layers
                               ? fmt::format(":{}", *scenario.training.recompute_layers)
                               : "");
    return out;
}

} // namespace trainyard
