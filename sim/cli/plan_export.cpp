#include "sim/cli/plan_export.h"

#include "sim/api/scenarios.h"
#include "sim/cli/job_files.h"
#include "sim/study/jobs/job_export.h"

#include <CLI/CLI.hpp>
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

void add_plan_export_options(CLI::App& app, PlanExportOptions& options)
{
    CLI::Option* const folder =
        app.add_option("--export", options.folder,
                       "write each layout that is shown into this folder, as a scenario")
            ->type_name("FOLDER");
    app.add_option("--export-as", options.kinds,
                   "with --export, also settings of frameworks: megatron, deepspeed, torchtitan or "
                   "torchrun")
        ->delimiter(',')
        ->check(check_job_kind)
        ->needs(folder)
        ->type_name("KIND,...");
}

ExportedPlan exported_plan(const PlanExportOptions& options,
                           const std::vector<PlannedScenario>& planned)
{
    ExportedPlan out;
    Unsaid unsaid;
    StageMemos memos;
    const std::filesystem::path folder(options.folder);
    for (const PlannedScenario& layout : planned) {
        const std::string scenario = layout.name + ".json";
        out.files.push_back(
            {scenario, scenario_text(layout.scenario, layout.base, (folder / scenario).string())});
        for (const std::string& name : options.kinds) {
            const JobKind kind = *from_name<JobKind>(name);
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
