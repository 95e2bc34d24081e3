#include "sim/cli/plan_output.h"

#include "sim/cli/job_files.h"
#include "sim/cli/terminal.h"
#include "sim/study/problems.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace trainyard {

namespace fs = std::filesystem;

namespace {

fs::path whole_path(const std::string& path)
{
    std::error_code ignored;
    const fs::path whole = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
    return whole.has_filename() ? whole : whole.parent_path();
}

Problems shared_files(const std::vector<std::pair<std::string, std::string>>& files)
{
    Problems problems;
    for (auto one = files.begin(); one != files.end(); ++one)
        for (auto other = std::next(one); other != files.end(); ++other)
            if (whole_path(one->second) == whole_path(other->second))
                append(problems, one_problem(fmt::format("{} and {} are one file, \"{}\"",
                                                         one->first, other->first, other->second),
                                             "give each a file of its own"));
    return problems;
}

// Something of another run in the folder would be taken for this one's.
Problems used_folder(const std::string& folder)
{
    std::error_code error;
    const fs::directory_iterator held(folder, error);
    if (error || held == fs::directory_iterator())
        return {};
    return one_problem(
        fmt::format("--export: the folder \"{}\" holds {} already; files of two runs "
                    "would be mixed",
                    folder, held->path().filename().string()),
        "a folder that is new or empty");
}

std::vector<JobKind> kinds_of(const PlanExportOptions& options)
{
    std::vector<JobKind> kinds;
    for (const std::string& name : options.kinds)
        kinds.push_back(*from_name<JobKind>(name));
    return kinds;
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

Problems problems_of(const PlanOutput& output,
                     const std::vector<std::pair<std::string, std::string>>& read)
{
    std::vector<std::pair<std::string, std::string>> files = read;
    files.emplace_back("-o", output.scenario);
    files.emplace_back("--csv", output.csv);
    files.emplace_back("--html", output.html);
    std::erase_if(files, [](const auto& file) {
        return file.second.empty() || file.second.starts_with("/dev/");
    });
    Problems problems = shared_files(files);
    if (!output.exports.is_used())
        return problems;
    const std::string& folder = output.exports.folder;
    append(problems, used_folder(folder));
    for (const auto& [option, path] : files)
        if (whole_path(path).parent_path() == whole_path(folder))
            append(problems,
                   one_problem(
                       fmt::format("{} lies in the folder of --export, \"{}\"", option, folder),
                       "another folder: what is exported has this one to itself"));
    return problems;
}

void require_writable(const PlanOutput& output)
{
    for (const std::string* const file : {&output.scenario, &output.csv, &output.html})
        if (!file->empty())
            require_writable(fs::path(*file));
    if (!output.exports.is_used())
        return;
    const fs::path folder(output.exports.folder);
    std::error_code ignored;
    require_writable(fs::exists(folder, ignored) ? folder / "1.json" : whole_path(folder.string()));
}

void deliver(const PlanOutput& output, const PlanTexts& texts)
{
    FilesTogether files;
    std::string talk;
    const auto add = [&](const std::string& path, const std::string& content) {
        if (path.empty())
            return;
        files.add(path, content);
        if (!path.starts_with("/dev/"))
            talk += fmt::format("wrote {}\n", path);
    };
    if (output.exports.is_used() && !texts.planned.empty()) {
        const fs::path folder(output.exports.folder);
        const ExportedPlan plan = exported_plan(texts.planned, kinds_of(output.exports), folder);
        std::error_code ignored;
        if (!fs::exists(folder, ignored))
            files.add_folder(folder, plan.files);
        else
            for (const FilesTogether::Named& file : plan.files)
                files.add(folder / file.name, file.content);
        for (const FilesTogether::Named& file : plan.files)
            talk += fmt::format("wrote {}\n", (folder / file.name).string());
        talk += plan.talk;
    }
    if (texts.best && !output.scenario.empty())
        add(output.scenario,
            scenario_text(texts.best->scenario, texts.best->base, output.scenario));
    add(output.csv, texts.csv);
    add(output.html, texts.html);
    print_data_and_go_on(texts.data);
    files.publish();
    print_talk(talk);
}

} // namespace trainyard
