#include "sim/cli/plan_export.h"

#include "sim/base/files.h"
#include "sim/cli/job_files.h"
#include "sim/cli/terminal.h"
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

struct JobText {
    std::filesystem::path file;
    std::string text;
};

// What could not be said, by kind and sentence: the layouts it is about.
using Unsaid = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

void tell(const Unsaid& unsaid)
{
    for (const auto& [what, layouts] : unsaid)
        print_talk(fmt::format("settings of {} do not say ({}): {}\n", what.first,
                               fmt::join(layouts, ", "), what.second));
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

void require_writable(const PlanExportOptions& options)
{
    const std::filesystem::path folder(options.folder);
    std::error_code ignored;
    if (options.is_used())
        require_writable(std::filesystem::exists(folder, ignored) ? folder / "1.json" : folder);
}

void export_plan(const PlanExportOptions& options, const std::vector<PlannedScenario>& planned)
{
    std::vector<JobText> jobs;
    Unsaid unsaid;
    StageMemos memos;
    for (const PlannedScenario& layout : planned)
        for (const std::string& name : options.kinds) {
            const JobKind kind = *from_name<JobKind>(name);
            const Checked<JobExport> job = export_job(
                kind, scenario_in_memory(layout.scenario, layout.base, layout.name), memos);
            if (!job) {
                const Diagnostic& first = job.error().front();
                unsaid[{name, "it has no such layout: " + first.message}].push_back(layout.name);
                continue;
            }
            jobs.push_back({std::filesystem::path(options.folder) /
                                fmt::format("{}-{}.{}", layout.name, name, ending_of(kind)),
                            job->text});
            for (const std::string& sentence : job->left_out)
                unsaid[{name, sentence}].push_back(layout.name);
        }
    std::error_code error;
    std::filesystem::create_directory(options.folder, error);
    if (error)
        throw WorldError{fmt::format("{} cannot be made: {}", options.folder, error.message())};
    for (const PlannedScenario& layout : planned)
        write_scenario(layout.scenario, layout.base,
                       (std::filesystem::path(options.folder) / (layout.name + ".json")).string());
    for (const JobText& job : jobs)
        write_file(job.file.string(), job.text);
    tell(unsaid);
}

} // namespace trainyard
