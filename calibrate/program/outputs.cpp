#include "calibrate/program/outputs.h"

#include "calibrate/fit/table_text.h"
#include "calibrate/fit/tuner.h"
#include "calibrate/measure/output/change_check.h"
#include "calibrate/measure/output/device_measured.h"
#include "calibrate/measure/output/host_measured.h"
#include "calibrate/measure/output/jumps.h"
#include "calibrate/measure/output/measured_values.h"
#include "calibrate/measure/output/result_rows.h"
#include "calibrate/measure/output/run_environment.h"
#include "calibrate/measure/output/sweeps.h"
#include "calibrate/program/report_page.h"
#include "sim/base/files.h"
#include "sim/cli/terminal.h"

#include <fmt/core.h>

#include <filesystem>

namespace trainyard {
namespace {

namespace fs = std::filesystem;

void say_what_was_left_out(const MeasuredRun& run)
{
    constexpr std::size_t most = 10;
    for (std::size_t i = 0; i < run.left_out.size() && i < most; ++i)
        print_talk(fmt::format("left out: {}\n", run.left_out[i]));
    if (run.left_out.size() > most)
        print_talk(fmt::format("left out: {} more\n", run.left_out.size() - most));
}

// Collectives as nccl-tests does, then what it has no form for.
void print_results(const MeasuredRun& run)
{
    for (const Sweep& sweep : collective_sweeps(run))
        print_data(sweep_table(sweep) + "\n");
    for (const PairMatrix& matrix : pair_matrices(run))
        print_data(text_of(matrix) + "\n");
    print_data(text_of(result_rows(run)));
}

Checked<FittedProfile> profile_of(const CalibrateOptions& options, const MeasuredRun& run)
{
    const std::string name =
        options.name.empty() ? fs::path(options.output).stem().string() : options.name;
    if (run.backend == "nccl") {
        FitRequest request;
        request.name = name;
        request.device = options.device;
        request.network = options.network;
        return gpu_profile(run, request);
    }
    HostMeasured measured = host_measured(run);
    measured.name = name;
    return host_profile(measured);
}

int write_profile(const CalibrateOptions& options, const MeasuredRun& run)
{
    const Checked<FittedProfile> fitted = profile_of(options, run);
    if (!fitted)
        return refuse(fitted.error(), "no profile was written.");
    write_file(options.output, table_text(fitted->profile));
    for (const std::string& text : fitted->assumed)
        print_talk(fmt::format("assumed: {}\n", text));
    for (const std::string& text : fitted->found)
        print_talk(fmt::format("found: {}\n", text));
    print_talk(fmt::format("wrote {}: {} tables; name it as a scenario's \"profile\"\n",
                           options.output, fitted->tables.size()));
    return exit_ok;
}

std::string topology_path(const CalibrateOptions& options)
{
    if (!options.topology.empty() || options.output.empty())
        return options.topology;
    fs::path out = options.output;
    return out.replace_extension(".topology.json").string();
}

void write_topology(const CalibrateOptions& options,
                    const std::optional<DiscoveredCluster>& machine)
{
    const std::string path = topology_path(options);
    if (path.empty())
        return;
    if (!machine) {
        print_talk("no topology is written: what this node is made of is not known here\n");
        return;
    }
    write_file(path, table_text(machine->topology));
    for (const std::string& text : machine->told)
        print_talk(fmt::format("found: {}\n", text));
    for (const std::string& text : machine->assumed)
        print_talk(fmt::format("assumed: {}\n", text));
    const std::size_t nodes = machine->nodes.size();
    print_talk(fmt::format("wrote {}: {} as a topology\n", path,
                           nodes == 1 ? "the node" : fmt::format("the {} nodes", nodes)));
}

int write_tuner(const CalibrateOptions& options, const MeasuredRun& run)
{
    if (run.backend != "nccl")
        return refuse({{"", 0, "", fmt::format("{} has no tuner: --tuner is for NCCL", run.backend),
                        "leave it out", Severity::error}},
                      "no tuner file was written.");
    const TunerAdvice advice = tuner_advice(tables_of(collective_sweeps(run), {}));
    for (const std::string& note : advice.notes)
        print_talk(note + "\n");
    write_file(options.tuner, tuner_csv(advice.lines));
    print_talk(fmt::format("wrote {}: {} lines\n", options.tuner, advice.lines.size()));
    return exit_ok;
}

// Whether it is still the machine of the profile.
int check(const Profile& earlier, const MeasuredRun& run, const MachineStudy& study)
{
    const ChangeReport report = changes_since(earlier, collective_sweeps(run), environment_of(run));
    print_data(describe(report));
    if (report.curves.empty())
        return refuse({{"", 0, "", "the profile has none of the collectives that were measured",
                        "compare with the back end, ranks and sizes that it was measured with",
                        Severity::error}},
                      "nothing was compared.");
    const bool sound = !report.changed() && !study.finds_fault();
    print_data(sound ? "this machine measures as the profile says\n"
                     : "this machine is not what the profile says, or a part of it is slow\n");
    return sound ? exit_ok : exit_no;
}

void remove_samples(const SessionResult& result)
{
    std::error_code ignored;
    if (!result.journal.empty())
        fs::remove(result.journal, ignored);
}

// What was measured stays on disk, and it is said where.
void keep_samples(const SessionResult& result, int code)
{
    if (result.journal.empty())
        return;
    if (result.run.points.empty()) {
        remove_samples(result);
        return;
    }
    if (code == exit_ok) {
        print_talk(fmt::format("wrote {}: the samples of all {} points\n", result.journal.string(),
                               result.run.points.size()));
        return;
    }
    print_talk(fmt::format("kept: {} points in {}\n      a profile of them: trainyard "
                           "calibrate --from {} -o FILE\n",
                           result.run.points.size(), result.journal.string(),
                           result.journal.string()));
}

int write_all(const CalibrateOptions& options, const SessionResult& result, const Profile* earlier)
{
    const MeasuredRun& run = result.run;
    say_what_was_left_out(run);
    if ((options.output.empty() && earlier == nullptr) || options.table)
        print_results(run);
    if (result.exit != exit_ok) {
        print_talk(fmt::format("stopped: {}\n", run.ended));
        return result.exit;
    }
    const MachineStudy study = study_of(run, result.machine);
    print_talk(describe(study));
    for (const std::string& text : jumps_of(run))
        print_talk(fmt::format("jump: {}\n", text));
    int code = exit_ok;
    if (!options.output.empty())
        code = write_profile(options, run);
    write_topology(options, result.machine);
    if (!options.html.empty()) {
        write_file(options.html, calibrate_html(run, study));
        print_talk(fmt::format("wrote {}\n", options.html));
    }
    if (!options.tuner.empty())
        code = std::max(code, write_tuner(options, run));
    if (earlier != nullptr)
        code = std::max(code, check(*earlier, run, study));
    return code;
}

} // namespace

std::vector<std::string> output_files(const CalibrateOptions& options)
{
    std::vector<std::string> out{options.output, topology_path(options), options.html,
                                 options.tuner};
    std::erase(out, "");
    return out;
}

int write_outputs(const CalibrateOptions& options, const SessionResult& result,
                  const Profile* earlier)
{
    try {
        const int code = write_all(options, result, earlier);
        if (code != exit_ok || !options.output.empty() || !options.samples.empty())
            keep_samples(result, code); // the profile has only those of its tables
        else
            remove_samples(result);
        return code;
    } catch (const WorldError& error) {
        print_talk(fmt::format("error: {}\n", error.message));
        keep_samples(result, exit_input_output);
        return exit_input_output;
    }
}

} // namespace trainyard
