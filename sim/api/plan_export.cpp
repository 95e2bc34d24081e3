#include "sim/api/plan_export.h"

#include "sim/api/scenarios.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <map>

namespace trainyard {

namespace {

std::string_view ending_of(JobKind kind)
{
    switch (kind) {
    case JobKind::deepspeed:
        return "json";
    case JobKind::torchtitan:
        return "toml";
    case JobKind::megatron:
    case JobKind::torchrun:
        break;
    }
    return "sh";
}

// Settings that are not written, by kind and reason: the layouts they are of.
using Unsaid = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

std::string told(const Unsaid& unsaid)
{
    std::string out;
    for (const auto& [what, layouts] : unsaid)
        out += fmt::format("settings of {} are not written ({}): {}\n", what.first,
                           fmt::join(layouts, ", "), what.second);
    return out;
}

std::string why_not(const JobExport& job)
{
    return fmt::format("they cannot say {}", fmt::join(job.other_layout, ", "));
}

} // namespace

ExportedPlan exported_plan(const std::vector<PlannedScenario>& planned,
                           const std::vector<JobKind>& kinds, const std::filesystem::path& folder)
{
    ExportedPlan out;
    Unsaid unsaid;
    StageMemos memos;
    for (const PlannedScenario& layout : planned) {
        const std::string scenario = layout.name + ".json";
        out.files.push_back(
            {scenario, scenario_text(layout.scenario, layout.base, (folder / scenario).string())});
        for (const JobKind kind : kinds) {
            const std::string name(to_name(kind));
            const Checked<JobExport> job = export_job(
                kind, scenario_in_memory(layout.scenario, layout.base, layout.name), memos);
            if (!job)
                unsaid[{name, job.error().front().message}].push_back(layout.name);
            else if (!job->other_layout.empty())
                unsaid[{name, why_not(*job)}].push_back(layout.name);
            else
                out.files.push_back(
                    {fmt::format("{}-{}.{}", layout.name, name, ending_of(kind)), job->text});
        }
    }
    out.talk = told(unsaid);
    return out;
}

} // namespace trainyard
