#include "calibrate/fit/fit_input.h"
#include "calibrate/fit/fit_profile.h"
#include "calibrate/fit/fit_report.h"
#include "calibrate/fit/reference.h"
#include "calibrate/fit/shipped_constants.h"
#include "calibrate/fit/shipped_fabrics.h"
#include "calibrate/fit/shipped_networks.h"
#include "calibrate/fit/table_text.h"
#include "calibrate/fit/tuner.h"
#include "sim/base/files.h"
#include "sim/base/progress.h"
#include "sim/base/units.h"
#include "sim/cli/command.h"
#include "sim/cli/fit_steps.h"
#include "sim/cli/fit_trace.h"
#include "sim/cli/terminal.h"
#include "sim/cost/device_catalogue.h"
#include "sim/report/fit/fit_html.h"
#include "sim/report/fit/fit_text.h"
#include "sim/report/fit/standing_text.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace trainyard {
namespace {

namespace fs = std::filesystem;

struct FitCommand {
    std::vector<std::string> files;
    std::string output;
    std::string html;
    std::string tuner;
    std::string remake;
    std::string nic_rate;
    FitRequest request;
    bool steps = false; // the files are records of steps
    bool trace = false; // the files are traces of a job's ranks
    std::string base;
    std::string target;
    bool report = false;
    bool compare = false;
    bool json = false;
};

// Ctrl-C before a result is written leaves none.
void stop_if_interrupted()
{
    WorkControl{&interrupt_flag(), {}}.check();
}

int write_profile(const FitCommand& command, const FitInput& input)
{
    const FitRequest request = completed(command.request, input, command.output);
    const Checked<FittedProfile> fitted = fit_profile(input.sweeps, request);
    if (!fitted)
        return refuse(fitted.error(), "nothing was written.");
    stop_if_interrupted();
    write_file(command.output, table_text(fitted->profile));
    print_talk(describe(input.notes));
    for (const std::string& flag : further_flags(input))
        print_talk(fmt::format("flagged: {}\n", flag));
    for (const std::string& text : fitted->assumed)
        print_talk(fmt::format("assumed: {}\n", text));
    for (const std::string& text : fitted->found)
        print_talk(fmt::format("found: {}\n", text));
    print_talk(fmt::format("wrote {}: {} tables; name it as a scenario's \"profile\"\n",
                           command.output, fitted->tables.size()));
    return exit_ok;
}

// The devices of the sweeps; one where the command says it.
std::set<std::string> devices_of(const FitCommand& command, const FitInput& input)
{
    std::set<std::string> out;
    const auto add = [&out](const std::string& words) {
        if (const KnownDevice* const known = shipped_devices().named_in(words))
            out.insert(known->device.name);
    };
    if (!command.request.device.empty()) {
        add(command.request.device);
        return out;
    }
    for (const Sweep& sweep : input.sweeps)
        add(sweep.device.empty() ? sweep.hardware : sweep.device);
    if (out.empty())
        add(input.topology_device);
    return out;
}

std::vector<KnotTable> tables_for(const FitInput& input, const std::string& device)
{
    MeasuredOn on;
    on.rack_domain = shipped_devices().nvlink_domain_of(device);
    return tables_of(input.sweeps, on);
}

int compare(const FitCommand& command, const FitInput& input)
{
    const std::set<std::string> devices = devices_of(command, input);
    if (devices.size() > 1)
        return refuse(
            {{"", 0, "",
              fmt::format("the input is of several devices: {}", fmt::join(devices, ", ")),
              "compare each machine's apart", Severity::error}},
            "nothing was compared.");
    if (devices.empty())
        return refuse(
            {{"", 0, "",
              command.request.device.empty()
                  ? "the input does not say which GPU it was measured on"
                  : fmt::format("unknown device \"{}\"", command.request.device),
              fmt::format("say it: --device NAME, one of {}", fmt::join(known_devices(), ", ")),
              Severity::error}},
            "nothing was compared.");
    const Checked<std::vector<ReferenceGroup>> reference = shipped_reference();
    if (!reference)
        return refuse(reference.error(), "nothing was compared.");
    const std::string& device = *devices.begin();
    const std::vector<KnotTable> tables = tables_for(input, device);
    const std::vector<TableStanding> standings = compare_with(tables, device, *reference);
    print_data(command.json ? to_text(to_json(standings, device)) + "\n"
                            : standing_text(standings, device));
    return exit_ok;
}

void write_tuner(const FitCommand& command, const FitInput& input)
{
    const std::set<std::string> devices = devices_of(command, input);
    const std::vector<KnotTable> tables =
        tables_for(input, devices.size() == 1 ? *devices.begin() : std::string());
    const TunerAdvice advice = tuner_advice(tables);
    for (const std::string& note : advice.notes)
        print_talk(note + "\n");
    for (const TunerLine& line : advice.lines)
        print_talk(fmt::format("{} among {} ranks, {} to {}: {} {} is {:.0f} % faster than NCCL's "
                               "choice\n",
                               to_name(line.collective), line.ranks, to_text(line.min_size),
                               to_text(line.max_size), line.algorithm, line.protocol,
                               100 * (line.gain - 1)));
    if (advice.lines.empty())
        print_talk("no forced algorithm beats NCCL's own choice, or none was measured\n");
    write_file(command.tuner, tuner_csv(advice.lines));
    print_talk(fmt::format("wrote {}\n", command.tuner));
}

// Writes the sourced constants into the files of a folder of profiles that have others.
Problems write_constants(const fs::path& folder)
{
    const Checked<Json> constants =
        read_json_file((folder.parent_path() / "constants" / "sourced.json").string());
    if (!constants)
        return constants.error();
    const auto files = shipped_constants(*constants, folder);
    if (!files)
        return files.error();
    for (const auto& [name, json] : *files)
        if (const auto now = read_json_file((folder / name).string()); !now || *now != json) {
            write_file(folder / name, table_text(json));
            print_talk(fmt::format("wrote {}\n", (folder / name).string()));
        }
    return {};
}

// Constants of fabrics and networks, knots and published figures of a folder of profiles, made
// again of the sweeps.
int remake_profiles(const FitCommand& command, const FitInput& input)
{
    const fs::path folder(command.remake);
    const Checked<KnotPlan> plan =
        read_knot_plan((folder.parent_path() / "sweeps" / "shipped.json").string());
    if (!plan)
        return refuse(plan.error(), "nothing was written.");
    const Checked<std::map<std::string, Json>> knots = shipped_knots(*plan, input.sweeps);
    if (!knots)
        return refuse(knots.error(), "nothing was written.");
    const auto write = [](const fs::path& path, const Json& json) {
        write_file(path, table_text(json));
        print_talk(fmt::format("wrote {}\n", path.string()));
    };
    if (const Problems problems = write_constants(folder); !problems.empty())
        return refuse(problems, "nothing was written.");
    std::map<fs::path, Json> fabrics;
    for (const FabricRule& rule : plan->fabrics) {
        const fs::path path = folder / "fabrics" / (rule.fabric + ".json");
        const Checked<Json> file = read_json_file(path.string());
        if (!file)
            return refuse(file.error(), "nothing was written.");
        Checked<Json> fabric = remade_fabric(*file, *plan, rule, input.sweeps);
        if (!fabric)
            return refuse(fabric.error(), "nothing was written.");
        fabrics.emplace(path, std::move(*fabric));
    }
    for (const auto& [path, json] : fabrics)
        write(path, json);
    const auto networks = shipped_networks(*plan, input.sweeps, folder);
    if (!networks)
        return refuse(networks.error(), "only fabrics were written.");
    for (const auto& [name, json] : *networks)
        write(folder / name, json);
    for (const auto& [name, json] : *knots)
        write(folder / "knots" / (name + ".json"), json);
    write(folder.parent_path() / "reference" / "collectives.json",
          to_json(reference_of(input.sweeps)));
    return exit_ok;
}

int run_fit(const FitCommand& command)
{
    if (command.steps)
        return run_fit_steps({command.files, command.base, command.target, command.output,
                              command.request.name, command.json});
    if (command.trace)
        return run_fit_trace({command.files, command.target, command.base, command.output,
                              command.request.name, command.json});
    const Checked<FitInput> input = read_fit_input(command.files, {&interrupt_flag(), {}});
    if (!input)
        return refuse(input.error(), "nothing was fitted.");
    if (!command.remake.empty())
        return remake_profiles(command, *input);
    if (!command.output.empty())
        if (const int code = write_profile(command, *input); code != exit_ok)
            return code;
    if (!command.tuner.empty())
        write_tuner(command, *input);
    if (command.compare)
        return compare(command, *input);
    const bool wants_report = command.report || command.json || !command.html.empty() ||
                              (command.output.empty() && command.tuner.empty());
    if (!wants_report)
        return exit_ok;
    const FitReport report = report_on(input->sweeps);
    stop_if_interrupted();
    if (!command.html.empty()) {
        write_file(command.html, fit_html(report));
        print_talk(fmt::format("wrote {}\n", command.html));
    }
    print_data(command.json ? to_text(to_json(report)) + "\n" : fit_text(report));
    return exit_ok;
}

void add_options(CLI::App& sub, FitCommand& command)
{
    sub.add_option(
           "files", command.files,
           "logs of nccl-tests, with the node's topology if there is a file, or a profile that "
           "fit wrote; with --steps records of steps, with --trace traces of a job's ranks")
        ->required()
        ->type_name("FILE");
    sub.add_option("-o,--output", command.output, "write a profile")->type_name("FILE");
    CLI::Option* const steps = sub.add_flag(
        "--steps", command.steps,
        "the files are records of one to ten own training steps, which solve the profile's rates");
    CLI::Option* const trace =
        sub.add_flag("--trace", command.trace,
                     "the files are a recorded step (PyTorch's profiler, one file of each rank), "
                     "which tells the profile's rates")
            ->excludes(steps);
    sub.add_option("--profile", command.base,
                   "of --steps and --trace: whose rates are believed before; else what the records "
                   "or the scenario name, or shipped ones")
        ->type_name("NAME");
    sub.add_option("--for", command.target,
                   "of --trace: scenario of the recorded job; of --steps: scenario whose step a "
                   "further run should tell of, else the rates")
        ->type_name("SCENARIO");
    sub.add_flag("--report", command.report, "print errors by collective and size")
        ->excludes(steps)
        ->excludes(trace);
    sub.add_flag("--compare", command.compare, "print how it stands against published figures")
        ->excludes(steps)
        ->excludes(trace);
    sub.add_flag("--json", command.json, "print the report or the comparison as JSON");
    sub.add_option("--html", command.html, "write the report as one page with plots")
        ->type_name("FILE")
        ->excludes(steps)
        ->excludes(trace);
    sub.add_option("--tuner", command.tuner,
                   "write a CSV for NCCL's tuner plugin, from forced algorithms")
        ->type_name("FILE")
        ->excludes(steps)
        ->excludes(trace);
    sub.add_option("--device", command.request.device, "the GPU, where logs do not say")
        ->type_name("NAME")
        ->excludes(steps)
        ->excludes(trace);
    sub.add_option("--network", command.request.network, "class of the network between nodes")
        ->type_name("NAME")
        ->excludes(steps)
        ->excludes(trace);
    sub.add_option("--nics", command.request.nics_per_node, "NICs of a node")
        ->type_name("COUNT")
        ->check(CLI::Range(1, 1024))
        ->excludes(steps)
        ->excludes(trace);
    sub.add_option("--nic-rate", command.nic_rate, "line rate of one, as \"400 Gb/s\"")
        ->type_name("RATE")
        ->excludes(steps)
        ->excludes(trace);
    sub.add_option("--name", command.request.name, "of the profile; else that of its file")
        ->type_name("NAME");
    sub.add_option("--date", command.request.date, "of the measurement, kept in the profile")
        ->type_name("DATE")
        ->excludes(steps)
        ->excludes(trace);
    sub.add_option("--host", command.request.host, "machine, kept in the profile")
        ->type_name("NAME")
        ->excludes(steps)
        ->excludes(trace);
    sub.add_option("--remake-profiles", command.remake,
                   "make this folder of profiles and ../reference again, by ../sweeps/shipped.json")
        ->type_name("FOLDER");
}

// What --profile and --for belong to, and what --trace needs.
void check_recorded(const FitCommand& command)
{
    if (!command.steps && !command.trace && !command.base.empty())
        throw CLI::ValidationError("--profile", "is for --steps and --trace");
    if (!command.steps && !command.trace && !command.target.empty())
        throw CLI::ValidationError("--for", "is for --steps and --trace");
    if (command.trace && command.target.empty())
        throw CLI::ValidationError("--trace", "needs --for SCENARIO, of the job that was recorded");
}

// Takes the rate's text; a usage error when it is none.
void take_nic_rate(FitCommand& command)
{
    if (command.nic_rate.empty())
        return;
    const auto rate = parse_bandwidth(command.nic_rate);
    if (!rate)
        throw CLI::ValidationError("--nic-rate", "write it with its unit: \"400 Gb/s\"");
    command.request.nic_rate = *rate;
}

} // namespace

void add_fit(CLI::App& program, Command& chosen)
{
    CLI::App* const sub = program.add_subcommand(
        "fit", "A profile from logs of nccl-tests, own steps or traces, and how well it fits them");
    auto command = std::make_shared<FitCommand>();
    add_options(*sub, *command);
    sub->footer("Example: trainyard fit all_reduce.log all_gather.json -o my-node.json\n"
                "         trainyard fit --steps my-steps.json -o my-profile.json\n"
                "         trainyard fit --trace rank*.json.gz --for mine.json -o my-profile.json");
    sub->callback([&chosen, command] {
        take_nic_rate(*command);
        check_recorded(*command);
        chosen = [command] { return run_fit(*command); };
    });
}

} // namespace trainyard
