#include "calibrate/fit/fit_profile.h"
#include "calibrate/fit/fit_report.h"
#include "calibrate/import/read_sweeps.h"
#include "sim/base/files.h"
#include "sim/cli/command.h"
#include "sim/cli/terminal.h"
#include "sim/report/fit/fit_text.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <filesystem>

namespace trainyard {
namespace {

struct FitCommand {
    std::vector<std::string> files;
    std::string output;
    std::string html;
    FitRequest request;
    bool report = false;
    bool json = false;
};

struct FitInput {
    std::vector<Sweep> sweeps;
    ImportNotes notes;
};

bool is_profile(const std::string& path)
{
    const std::filesystem::path file(path);
    if (file.extension() != ".json")
        return false;
    const Checked<Json> json = read_json_file(path);
    return json && json->find("hardware") != nullptr && json->find("hardware")->is_object();
}

// Logs give their sweeps, profiles those that they were made of.
Checked<FitInput> read_input(const FitCommand& command)
{
    FitInput out;
    Problems problems;
    for (const std::string& path : command.files) {
        if (is_profile(path)) {
            const Checked<ProfileFile> file = load_profile(path);
            if (!file) {
                problems.insert(problems.end(), file.error().begin(), file.error().end());
                continue;
            }
            std::vector<Sweep> sweeps = measured_sweeps(file->profile);
            if (sweeps.empty())
                problems.push_back({path, 0, "/hardware/knots", "no raw samples in this profile",
                                    "profiles that `trainyard fit` writes have them",
                                    Severity::error});
            std::move(sweeps.begin(), sweeps.end(), std::back_inserter(out.sweeps));
            continue;
        }
        Checked<ImportedSweeps> file = read_sweeps_file(path);
        if (!file) {
            problems.insert(problems.end(), file.error().begin(), file.error().end());
            continue;
        }
        std::move(file->sweeps.begin(), file->sweeps.end(), std::back_inserter(out.sweeps));
        append(out.notes, file->notes);
    }
    if (!problems.empty())
        return tl::unexpected(problems);
    return out;
}

int write_profile(const FitCommand& command, const FitInput& input)
{
    FitRequest request = command.request;
    if (request.name.empty())
        request.name = std::filesystem::path(command.output).stem().string();
    Checked<FittedProfile> fitted = fit_profile(input.sweeps, request);
    if (!fitted) {
        print_problems(fitted.error(), "nothing was written.");
        return exit_invalid_input;
    }
    write_file(command.output, to_text(fitted->profile) + "\n");
    print_talk(describe(input.notes));
    for (const std::string& text : fitted->assumed)
        print_talk(fmt::format("assumed: {}\n", text));
    for (const std::string& text : fitted->found)
        print_talk(fmt::format("found: {}\n", text));
    print_talk(fmt::format("wrote {}: {} tables of measured times\n", command.output,
                           fitted->tables.size()));
    return exit_ok;
}

int run_fit(const FitCommand& command)
{
    const Checked<FitInput> input = read_input(command);
    if (!input) {
        print_problems(input.error(), "nothing was fitted.");
        return exit_invalid_input;
    }
    if (!command.output.empty())
        if (const int code = write_profile(command, *input); code != exit_ok)
            return code;
    const FitReport report = report_on(input->sweeps);
    if (command.json)
        print_data(to_text(to_json(report)) + "\n");
    else if (command.report || command.output.empty())
        print_data(fit_text(report));
    return exit_ok;
}

} // namespace

void add_fit(CLI::App& program, Command& chosen)
{
    CLI::App* const sub = program.add_subcommand(
        "fit", "A profile from logs of nccl-tests, and how well it fits them");
    auto command = std::make_shared<FitCommand>();
    sub->add_option("files", command->files,
                    "logs of nccl-tests (text, JSON, collections) or a profile that fit wrote")
        ->required()
        ->type_name("FILE");
    sub->add_option("-o,--output", command->output, "write a profile")->type_name("FILE");
    sub->add_flag("--report", command->report, "print errors by collective and size");
    sub->add_flag("--json", command->json, "print the report as JSON");
    sub->add_option("--html", command->html, "write the report as one page with plots")
        ->type_name("FILE");
    sub->add_option("--device", command->request.device, "the GPU, where logs do not say")
        ->type_name("NAME");
    sub->add_option("--network", command->request.network, "class of network between nodes")
        ->type_name("NAME");
    sub->add_option("--name", command->request.name, "of the profile; else that of its file")
        ->type_name("NAME");
    sub->footer("Example: trainyard fit all_reduce.log all_gather.json -o my-node.json");
    sub->callback([&chosen, command] { chosen = [command] { return run_fit(*command); }; });
}

} // namespace trainyard
