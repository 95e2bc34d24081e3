#include "calibrate/measure/output/jumps.h"

#include "calibrate/measure/design/next_sizes.h"
#include "sim/base/units.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

struct CurveJumps {
    const UnresolvedJump* any = nullptr;
    std::vector<SizeGap> places;
};

bool same_curve(const UnresolvedJump& a, const UnresolvedJump& b)
{
    return a.group == b.group && a.curve == b.curve;
}

// Two halves of a gap miss by as much: the jump is in one of them, nobody knows which.
std::vector<UnresolvedJump> halves_joined(const std::vector<UnresolvedJump>& jumps)
{
    std::vector<UnresolvedJump> out;
    for (const UnresolvedJump& jump : jumps)
        if (!out.empty() && same_curve(out.back(), jump) && out.back().launch == jump.launch &&
            out.back().to == jump.from && out.back().miss == jump.miss)
            out.back().to = jump.to;
        else
            out.push_back(jump);
    return out;
}

} // namespace

std::vector<std::string> jumps_of(const MeasuredRun& run)
{
    const std::vector<UnresolvedJump> jumps = halves_joined(run.jumps);
    std::vector<CurveJumps> curves;
    for (const UnresolvedJump& jump : jumps) {
        auto curve = std::find_if(curves.begin(), curves.end(), [&](const CurveJumps& one) {
            return same_curve(*one.any, jump);
        });
        if (curve == curves.end())
            curve = curves.insert(curve, {&jump, {}});
        const auto same =
            std::find_if(curve->places.begin(), curve->places.end(), [&](const SizeGap& one) {
                return one.from == jump.from && one.to == jump.to;
            });
        if (same == curve->places.end())
            curve->places.push_back({jump.from, jump.to, jump.miss});
        else
            same->miss = std::max(same->miss, jump.miss);
    }
    std::vector<std::string> out;
    for (const CurveJumps& curve : curves) {
        const SizeGap& worst =
            *std::max_element(curve.places.begin(), curve.places.end(),
                              [](const SizeGap& a, const SizeGap& b) { return a.miss < b.miss; });
        out.push_back(fmt::format("{} of {}, {}: its fit misses by {:.0f} % between {} and {}{}",
                                  to_name(curve.any->curve.collective), curve.any->group.name,
                                  to_name(curve.any->curve.type), 100 * worst.miss,
                                  to_text(worst.from), to_text(worst.to),
                                  curve.places.size() > 1
                                      ? fmt::format(", by no more in {} other place{}",
                                                    curve.places.size() - 1,
                                                    curve.places.size() == 2 ? "" : "s")
                                      : ""));
    }
    return out;
}

} // namespace trainyard
