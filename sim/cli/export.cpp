#include "sim/base/files.h"
#include "sim/cli/command.h"
#include "sim/cli/export_chakra.h"
#include "sim/cli/job_files.h"
#include "sim/cli/scenario_options.h"
#include "sim/cli/terminal.h"
#include "sim/study/jobs/job_export.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace trainyard {
namespace {

struct ExportOptions {
    std::string kind;
    std::string path;
    std::string output;
    bool json = false;
    ScenarioOptions scenario;
};

void print_as_json(const ExportOptions& options, const JobExport& exported)
{
    Json out = Json::object();
    out["kind"] = options.kind;
    out["text"] = exported.text;
    out["left_out"] = exported.left_out;
    print_data(to_text(out) + "\n");
}

constexpr const char* chakra = "chakra";

// What is wrong with a name of a kind, or nothing.
std::string check_export_kind(const std::string& name)
{
    return name == chakra ? "" : check_job_kind(name);
}

int run_export(const ExportOptions& options)
{
    if (options.kind == chakra)
        return export_chakra(options.path, options.scenario, options.output);
    const std::optional<JobKind> kind = from_name<JobKind>(options.kind);
    const Checked<ScenarioFile> file = read_scenario(options.path, options.scenario);
    if (!file)
        return refuse(file.error(), "nothing was exported.");
    StageMemos memos;
    const Checked<JobExport> exported = export_job(*kind, *file, memos);
    if (!exported)
        return refuse(exported.error(), "nothing was exported.");
    if (!options.output.empty())
        write_file(options.output, exported->text);
    if (options.json)
        print_as_json(options, *exported);
    else if (options.output.empty())
        print_data(exported->text);
    if (!exported->left_out.empty())
        print_talk(fmt::format("what these settings of {} do not say:\n", options.kind));
    for (const std::string& sentence : exported->left_out)
        print_talk("  " + sentence + "\n");
    return exit_ok;
}

} // namespace

void add_export(CLI::App& program, Command& chosen)
{
    CLI::App* const sub =
        program.add_subcommand("export", "Settings for another framework, from a scenario");
    auto options = std::make_shared<ExportOptions>();
    sub->add_option("kind", options->kind,
                    "megatron, deepspeed, torchtitan, torchrun, or chakra: execution traces")
        ->required()
        ->check(check_export_kind)
        ->type_name("KIND");
    sub->add_option("scenario", options->path, "the scenario")->required()->type_name("FILE");
    sub->add_option("-o,--output", options->output, "write the settings; of chakra the folder")
        ->type_name("FILE");
    sub->add_flag("--json", options->json, "print settings and what is left out as JSON");
    add_scenario_options(*sub, options->scenario);
    sub->footer("Example: trainyard export megatron scenarios/llama3-70b-h100-64.json -o run.sh\n"
                "         trainyard export chakra scenarios/llama3-8b-h100-8.json -o traces\n"
                "What the format cannot say is listed on stderr; importing the export gives the "
                "rest back.");
    sub->callback([&chosen, options] {
        if (options->kind == chakra && (options->output.empty() || options->json))
            throw CLI::ValidationError("chakra", "its traces are files: -o FOLDER, without --json");
        chosen = [options] { return run_export(*options); };
    });
}

} // namespace trainyard
