#include "sim/base/files.h"
#include "sim/cli/command.h"
#include "sim/cli/job_files.h"
#include "sim/cli/terminal.h"
#include "sim/study/jobs/job_context.h"
#include "sim/study/jobs/starting_point.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <iostream>

namespace trainyard {
namespace {

struct InitOptions {
    JobOptions job;
    std::string output = "scenario.json";
    int gpus = 0;
    std::int64_t sequence_length = 0;
    std::int64_t global_batch = 0;
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
        const std::string answer = asked(question, std::to_string(otherwise));
        int out = 0;
        const char* const last = answer.data() + answer.size();
        const auto [end, error] = std::from_chars(answer.data(), last, out);
        if (error == std::errc() && end == last && out >= 1 && out <= 1'000'000)
            return out;
        print_talk("a whole number from 1 to 1000000, please\n");
        if (!std::cin)
            return otherwise;
    }
}

// Asks for what the options leave open.
void ask_for_the_rest(InitOptions& options, bool output_given)
{
    JobOptions& job = options.job;
    if (job.model.empty())
        job.model = asked("Model (a config.json, or a shipped one)", "llama-3.1-8b");
    if (job.topology.empty() && job.gpu.empty())
        job.gpu = asked("GPU (h100, a100, b200, gb200, ...)", "h100");
    if (job.topology.empty() && options.gpus == 0 && job.nodes == 0)
        options.gpus = asked_number("GPUs in all", 8);
    if (!output_given)
        options.output = asked("Write the scenario to", options.output);
}

struct Cluster {
    Source topology;
    std::vector<std::string> reasons; // for what is unusual about it
};

// So many GPUs of a kind.
Checked<Cluster> cluster(const InitOptions& options, const std::filesystem::path& folder)
{
    const JobOptions& job = options.job;
    if (!job.topology.empty())
        return Cluster{source_from(job.topology, folder), {}};
    const int usual = usual_gpus_per_node(job.gpu);
    if (usual == 0)
        return tl::unexpected(one_problem(
            fmt::format("GPU \"{}\" is not among the known devices", job.gpu), known_gpus()));
    int per_node = job.gpus_per_node > 0 ? job.gpus_per_node : usual;
    if (options.gpus > 0 && job.gpus_per_node == 0 && job.nodes == 0)
        per_node = std::min(per_node, options.gpus);
    int nodes = job.nodes > 0 ? job.nodes : 1;
    if (options.gpus > 0) {
        if (job.nodes > 0 && options.gpus != job.nodes * per_node)
            return tl::unexpected(one_problem(
                fmt::format("{} GPUs are not {} nodes of {}", options.gpus, job.nodes, per_node),
                fmt::format("--gpus {}, or another --nodes or --gpus-per-node",
                            static_cast<std::int64_t>(job.nodes) * per_node)));
        if (options.gpus % per_node != 0)
            return tl::unexpected(one_problem(
                fmt::format("{} GPUs are no whole number of nodes of {}", options.gpus, per_node),
                fmt::format("{} or {}", std::max(per_node, options.gpus / per_node * per_node),
                            (options.gpus / per_node + 1) * per_node)));
        nodes = options.gpus / per_node;
    }
    const auto machine = usual_machine(job.gpu, nodes, per_node);
    if (!machine)
        return tl::unexpected(one_problem(machine.error(), "give --topology FILE"));
    Cluster out{{{}, machine->topology}, {}};
    if (!machine->widened.empty())
        out.reasons.push_back("topology." + machine->widened);
    return out;
}

void report(const InitOptions& options, const StartingPoint& start)
{
    const Json scenario = to_json(start.scenario);
    write_file(options.output, to_text(scenario) + "\n");
    if (options.json) {
        Json out = Json::object();
        out["file"] = options.output;
        out["scenario"] = scenario;
        out["reasons"] = Json::array();
        for (const std::string& reason : start.reasons)
            out["reasons"].push_back(reason);
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
    const bool machines = !options.job.topology.empty() ||
                          (!options.job.gpu.empty() && (options.gpus > 0 || options.job.nodes > 0));
    const bool complete = !options.job.model.empty() && machines;
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
    StartRequest request;
    request.folder = folder_of(options.output);
    request.model = source_from(options.job.model, request.folder);
    const Checked<Cluster> chosen = cluster(options, request.folder);
    if (!chosen)
        return refuse(chosen.error(), "nothing was written.");
    request.topology = chosen->topology;
    if (options.sequence_length > 0)
        request.sequence_length = options.sequence_length;
    if (options.global_batch > 0)
        request.global_batch = options.global_batch;
    Session session;
    ProgressBar bar;
    request.work = bar.control();
    auto start = starting_point(request, session);
    if (!start)
        return refuse(start.error().problems, "nothing was written.",
                      start.error().too_large ? exit_no : exit_invalid_input);
    start->reasons.insert(start->reasons.begin(), chosen->reasons.begin(), chosen->reasons.end());
    report(options, *start);
    return exit_ok;
}

} // namespace

void add_init(CLI::App& program, Command& chosen)
{
    CLI::App* const sub =
        program.add_subcommand("init", "A first scenario from a model and a cluster");
    auto options = std::make_shared<InitOptions>();
    add_job_options(*sub, options->job);
    sub->add_option("--gpus", options->gpus, "GPUs in all")->check(CLI::Range(1, 1'000'000));
    sub->add_option("--nodes", options->job.nodes, "or nodes")->check(CLI::Range(1, 1'000'000));
    sub->add_option("--sequence-length", options->sequence_length, "tokens per sequence")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
    sub->add_option("--global-batch", options->global_batch, "sequences per step")
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
