#include "sim/api/memory_question.h"
#include "sim/cli/command.h"
#include "sim/cli/scenario_options.h"
#include "sim/cli/terminal.h"
#include "sim/report/text/memory_text.h"
#include "sim/study/session.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace trainyard {
namespace {

struct MemoryCommand {
    std::string file;
    ScenarioOptions scenario;
    MemoryQuestion question;
    std::size_t tensors = 20;
    bool as_json = false;
};

Checked<MemoryAnswer> answer_to(const MemoryCommand& command)
{
    const Checked<ScenarioFile> file = read_scenario(command.file, command.scenario);
    if (!file)
        return tl::unexpected(file.error());
    Session session;
    return memory_of(*file, command.question, session);
}

int run_memory(const MemoryCommand& command)
{
    const Checked<MemoryAnswer> answer = answer_to(command);
    if (!answer)
        return refuse(answer.error(), "nothing was estimated.");
    if (command.as_json) {
        print_data(to_text(memory_json(answer->memory, answer->peak)) + "\n");
        return exit_ok;
    }
    const Paint paint(use_colour_on_stdout() ? Colour::ansi : Colour::none);
    print_data(memory_text(
        answer->memory, answer->peak,
        {command.question.stage, command.tensors, command.question.steps, width_of_stdout()},
        paint));
    return exit_ok;
}

} // namespace

void add_memory(CLI::App& program, Command& chosen)
{
    CLI::App* const sub = program.add_subcommand(
        "memory", "What fills a device, tensor by tensor, and what its allocator makes of it");
    auto command = std::make_shared<MemoryCommand>();
    sub->add_option("scenario", command->file, "a scenario")->required()->type_name("FILE");
    sub->add_option("--set", command->scenario.changes,
                    "change a field of the scenario, as in --set strategy.tp=8")
        ->type_name("FIELD=VALUE")
        ->take_all();
    sub->add_option("--stage", command->question.stage, "pipeline stage to show; else the fullest")
        ->check(CLI::NonNegativeNumber);
    sub->add_option("--steps", command->question.steps, "steps that the allocator lives through")
        ->check(CLI::Range(1, 1000));
    sub->add_option("--lengths", command->question.lengths,
                    "tokens per sequence of the micro-batches in turn (2048,512,4096), or "
                    "uniform:LEAST:MOST:SEED; else as the scenario says")
        ->type_name("LENGTHS");
    sub->add_flag("--expandable-segments", command->question.expandable_segments,
                  "as PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
    sub->add_option("--max-split-size", command->question.max_split_size,
                    "larger cached blocks are never cut, as max_split_size_mb does")
        ->type_name("SIZE");
    sub->add_option("--tensors", command->tensors, "tensors to list")->check(CLI::Range(1, 10000));
    sub->add_flag("--json", command->as_json, "print every stage and tensor as JSON");
    sub->footer("Example: trainyard memory scenarios/llama3-70b-h100-64.json --stage 0");
    sub->callback([&chosen, command] { chosen = [command] { return run_memory(*command); }; });
}

} // namespace trainyard
