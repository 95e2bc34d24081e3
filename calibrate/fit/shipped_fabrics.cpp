#include "calibrate/fit/shipped_fabrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

struct Kin {
    std::string_view path;
    std::string_view like;
};
constexpr std::array<Kin, 4> kin{{{"efficiency.reduce_scatter", "efficiency.all_gather"},
                                  {"efficiency.broadcast", "efficiency.all_gather"},
                                  {"efficiency.reduce", "efficiency.all_gather"},
                                  {"efficiency.send_receive", "efficiency.all_to_all"}}};

bool is_latency(std::string_view path)
{
    return path.starts_with("base_") || path.starts_with("hop_") || path == "nvls_per_rank";
}

// Three digits; latencies in microseconds with their unit.
Json written(std::string_view path, double value)
{
    const std::string text = fmt::format("{:.3g}", is_latency(path) ? value * 1e6 : value);
    return is_latency(path) ? Json(text + " us") : Json(std::stod(text));
}

// The member at a dotted path, made where it is missing.
Json& at_path(Json& json, std::string_view path)
{
    const std::size_t dot = path.find('.');
    return dot == std::string_view::npos ? json[path]
                                         : at_path(json[path.substr(0, dot)], path.substr(dot + 1));
}

void set_constant(Json& file, std::string_view path, const FittedConstant& constant,
                  const std::string& source)
{
    Json out = Json::object();
    out["value"] = written(path, constant.value);
    out["low"] = written(path, constant.low);
    out["high"] = written(path, constant.high);
    out["grade"] = "published";
    out["source"] = source;
    at_path(file, path) = std::move(out);
}

bool counts(const Sweep& sweep, const KnotPlan& plan, const FabricRule& rule)
{
    const bool named =
        std::any_of(rule.hardware.begin(), rule.hardware.end(),
                    [&](const std::string& words) { return sweep.hardware.starts_with(words); });
    const bool in_part =
        std::any_of(plan.from_size.begin(), plan.from_size.end(), [&](const KnotFromSize& cut) {
            return sweep.source.find(cut.source) != std::string::npos;
        });
    return named && !in_part && sweep.nodes == 1 && sweep.algorithm == "auto" &&
           sweep.protocol == "auto" && (rule.most_ranks == 0 || sweep.ranks <= rule.most_ranks);
}

} // namespace

Checked<Json> remade_fabric(Json file, const KnotPlan& plan, const FabricRule& rule,
                            std::span<const Sweep> sweeps)
{
    std::vector<FabricSweep> chosen;
    for (const Sweep& sweep : sweeps)
        if (counts(sweep, plan, rule))
            chosen.push_back({&sweep, rule.line_rate, rule.in_switch});
    const FabricFit fit = fit_fabric(chosen);
    if (fit.sweeps == 0)
        return tl::unexpected(
            Problems{{"", 0, "", "no sweep for fabric " + rule.fabric,
                      "the plan names hardware as the sweeps word it", Severity::error}});
    const std::string source =
        fmt::format("fit of {} published nccl-tests sweeps (calibrate/sweeps), mean error {:.1f} % "
                    "in sample",
                    fit.sweeps, 100 * fit.error);
    for (const FittedConstant& constant : fit.constants) {
        set_constant(file, constant.path, constant, source);
        for (const Kin& one : kin)
            if (one.like == constant.path)
                set_constant(file, one.path, constant, source);
    }
    return file;
}

} // namespace trainyard
