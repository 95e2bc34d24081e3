#include "sim/api/first_scenario.h"
#include "sim/base/files.h"
#include "sim/base/words.h"
#include "sim/cli/command.h"
#include "sim/cli/job_files.h"
#include "sim/cli/terminal.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include <iostream>

namespace trainyard {
namespace {

struct InitOptions {
    FirstQuestion question;
    std::string output = "scenario.json";
    bool ask = false;
    bool force = false;
    bool json = false;
};

// One question on stderr, the answer from stdin; the default for an empty line or the end.
std::string asked(std::string_view question, const std::string& otherwise)
{
    print_talk(fmt::format("{} [{}]: ", question, otherwise));
    std::string line;
    std::getline(std::cin, line);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos)
        return otherwise;
    return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

int asked_number(std::string_view question, int otherwise)
{
    while (true) {
        const auto out = to_number<int>(asked(question, std::to_string(otherwise)));
        if (out && *out >= 1 && *out <= 1'000'000)
            return *out;
        print_talk("a whole number from 1 to 1000000, please\n");
        if (!std::cin)
            return otherwise;
    }
}

// Asks for what the options leave open.
void ask_for_the_rest(InitOptions& options, bool output_given)
{
    JobQuestion& job = options.question.job;
    if (job.model.empty())
        job.model = asked("Model (a config.json, or a shipped one)", "llama-3.1-8b");
    if (job.topology.empty() && job.gpu.empty())
        job.gpu = asked("GPU (h100, a100, b200, gb200, ...)", "h100");
    if (job.topology.empty() && options.question.gpus == 0 && job.nodes == 0)
        options.question.gpus = asked_number("GPUs in all", 8);
    if (!output_given)
        options.output = asked("Write the scenario to", options.output);
}

void report(const InitOptions& options, const StartingPoint& start)
{
    const Json scenario = to_json(start.scenario);
    write_file(options.output, to_text(scenario) + "\n");
    if (options.json) {
        Json out = Json::object();
        out["file"] = options.output;
        out["scenario"] = scenario;
        out["reasons"] = start.reasons;
        print_data(to_text(out) + "\n");
        return;
    }
    std::string text = fmt::format("{}\n", options.output);
    for (const std::string& reason : start.reasons)
        text += "  " + reason + "\n";
    print_data(text);
    print_talk(fmt::format("next: trainyard simulate {}\n", options.output));
}

int run_init(InitOptions options, bool output_given)
{
    const bool machines = !options.question.job.topology.empty() ||
                          (!options.question.job.gpu.empty() &&
                           (options.question.gpus > 0 || options.question.job.nodes > 0));
    const bool complete = !options.question.job.model.empty() && machines;
    if (options.ask || (!complete && isatty(STDIN_FILENO) != 0))
        ask_for_the_rest(options, output_given);
    else if (!complete) {
        print_talk("error: --model and a cluster (--gpu with --gpus, or --topology) are needed "
                   "where stdin is no terminal to ask on\n      --ask reads the answers from "
                   "stdin all the same\n");
        return exit_usage;
    }
    if (std::filesystem::exists(options.output) && !options.force)
        return refuse(one_problem(fmt::format("{} exists", options.output),
                                  "--force overwrites it, -o FILE names another"),
                      "nothing was written.", exit_input_output);
    require_writable(options.output);
    Session session;
    ProgressBar bar;
    const auto start =
        first_scenario(options.question, folder_of(options.output), session, bar.control());
    if (!start)
        return refuse(start.error().problems, "nothing was written.",
                      start.error().too_large ? exit_no : exit_invalid_input);
    report(options, *start);
    return exit_ok;
}

} // namespace

void add_init(CLI::App& program, Command& chosen)
{
    CLI::App* const sub =
        program.add_subcommand("init", "A first scenario from a model and a cluster");
    auto options = std::make_shared<InitOptions>();
    add_job_options(*sub, options->question.job);
    sub->add_option("--gpus", options->question.gpus, "GPUs in all")
        ->check(CLI::Range(1, 1'000'000));
    sub->add_option("--nodes", options->question.job.nodes, "or nodes")
        ->check(CLI::Range(1, 1'000'000));
    sub->add_option("--sequence-length", options->question.sequence_length, "tokens per sequence")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
    sub->add_option("--global-batch", options->question.global_batch, "sequences per step")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
    CLI::Option* const output = sub->add_option("-o,--output", options->output, "where to write it")
                                    ->type_name("FILE")
                                    ->capture_default_str();
    sub->add_flag("--force", options->force, "overwrite it");
    sub->add_flag("--ask", options->ask,
                  "ask for what the options leave open, without a terminal too");
    sub->add_flag("--json", options->json, "print scenario and reasons as JSON");
    sub->footer("Example: trainyard init --model llama-2-70b --gpu h100 --gpus 64 -o mine.json\n"
                "Asks for what is left open where stdin is a terminal.");
    sub->callback([&chosen, options, output] {
        chosen = [options, given = output->count() > 0] { return run_init(*options, given); };
    });
}

} // namespace trainyard
