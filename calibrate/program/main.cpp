#include "calibrate/import/smi_matrix.h"
#include "calibrate/measure/control/connection.h"
#include "calibrate/measure/discover/launch.h"
#include "calibrate/measure/discover/nvidia_smi.h"
#include "calibrate/measure/discover/nvml.h"
#include "calibrate/measure/discover/visible_gpus.h"
#include "calibrate/measure/run/journal.h"
#include "calibrate/program/modules.h"
#include "calibrate/program/options.h"
#include "calibrate/program/outputs.h"
#include "calibrate/program/session.h"
#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/base/json.h"
#include "sim/cli/terminal.h"
#include "sim/cost/profile_library.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

namespace trainyard {
namespace {

std::string backend_of(const CalibrateOptions& options)
{
    return options.backend.empty() ? "nccl" : options.backend;
}

int say_failure(const MeasureFailure& failure, const CalibrateOptions& options)
{
    print_talk(fmt::format("error: {}\n", failure.message));
    if (!failure.fix.empty())
        print_talk(fmt::format("      {}\n", failure.fix));
    if (failure.kind == FailureKind::missing && backend_of(options) == "nccl")
        print_talk("      without GPUs: --backend gloo or --backend mpi measures this machine's "
                   "CPUs, and trainyard fit makes a profile of logs of nccl-tests\n");
    return failure.kind == FailureKind::missing ? exit_missing_hardware : exit_input_output;
}

int gpus_by_smi(const std::string& text)
{
    const std::vector<SmiMatrix> matrices = read_smi_matrices(text);
    const std::vector<std::string> names =
        matrices.empty() ? std::vector<std::string>() : matrices.front().names;
    return static_cast<int>(std::count_if(names.begin(), names.end(), is_gpu_name));
}

// GPUs of this machine that jobs may use: as NVML counts them, where that cannot be opened as
// nvidia-smi does. Throws what is missing.
int usable_gpus()
{
    const auto library = NvmlLibrary::open(usual_nvml_files());
    const Found<NvmlNode> node =
        library ? read_nvml((*library)->functions()) : tl::make_unexpected(library.error());
    const int gpus =
        node ? static_cast<int>(node->gpus.size()) : gpus_by_smi(ask_nvidia_smi().matrix);
    if (gpus == 0)
        throw node.error();
    const Variables variables = own_variables();
    const auto visible = variables.find("CUDA_VISIBLE_DEVICES");
    if (visible == variables.end())
        return gpus;
    const int seen = visible_gpus(visible->second, gpus);
    if (seen == 0)
        throw MeasureFailure{
            FailureKind::missing,
            fmt::format("CUDA_VISIBLE_DEVICES is \"{}\": it hides every GPU of {}", visible->second,
                        gpus),
            "unset it, or name GPUs by their numbers from 0 on, with commas between"};
    return seen;
}

// Where nothing is said: NCCL, a rank on every GPU; of CPUs a rank on every core.
CalibrateOptions settled(CalibrateOptions options)
{
    constexpr int most_cores = 8; // one host's collectives on CPUs say little beyond
    options.backend = backend_of(options);
    if (options.ranks == 0 && options.backend != "nccl")
        options.ranks =
            std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 2, most_cores);
    if (options.ranks == 0)
        options.ranks = usable_gpus();
    return options;
}

int calibrate(const CalibrateOptions& options, const std::optional<JobLaunch>& job)
{
    // Read before anything is measured, and before -o may write over it.
    std::optional<Profile> earlier;
    if (!options.check.empty()) {
        const Checked<ProfileFile> file = load_profile(options.check);
        if (!file)
            return refuse(file.error(), "nothing was measured.");
        earlier = file->profile;
    }
    const Profile* const check = earlier ? &*earlier : nullptr;
    if (!options.from.empty()) {
        SessionResult result;
        const Checked<MeasuredRun> run = read_journal(options.from);
        if (!run)
            return refuse(run.error(), "nothing was written.");
        result.run = *run;
        if (!run->nodes.empty())
            if (Checked<DiscoveredCluster> machine = cluster_of(run->nodes))
                result.machine = std::move(*machine);
        return write_outputs(options, result, check);
    }
    for (const std::string& file : output_files(options))
        require_writable(file);
    const CalibrateOptions complete = settled(options);
    return write_outputs(complete, measure_here(complete, job), check);
}

// Empty: it can measure on this host.
std::string why_not(const std::string& backend)
{
    if (module_of(backend).empty())
        return "this build has no such back end";
    if (backend != "nccl")
        return "";
    try {
        usable_gpus();
        return "";
    } catch (const MeasureFailure& failure) {
        return failure.message;
    }
}

int say_backends()
{
    Json backends = Json::array();
    for (const std::string name : {"nccl", "gloo", "mpi"}) {
        const std::string why = why_not(name);
        backends.push_back(Json::Object{{"name", name}, {"usable", why.empty()}, {"why", why}});
    }
    Json out = Json::object();
    out["backends"] = std::move(backends);
    print_data(to_text(out) + "\n");
    return exit_ok;
}

// Of several ranks of a launched job only the first speaks of what all of them see; the others let
// it finish, for launchers end all ranks when one has failed.
int say_end(const ParsedEnd& end, bool is_other)
{
    if (is_other)
        std::this_thread::sleep_for(std::chrono::seconds(1));
    else if (end.exit == exit_ok)
        print_data(end.text);
    else
        print_talk(end.text);
    return end.exit;
}

int run_with(const CalibrateOptions& options, const std::optional<JobLaunch>& job)
{
    const bool is_other = job && job->launch.place.rank > 0;
    if (is_other && !options.from.empty())
        return exit_ok; // rank 0 needs nobody for it
    if (job && !options.is_rank && options.from.empty())
        if (const auto end = misfit(options, job->launch.place.ranks))
            return say_end(*end, is_other);
    try {
        if (options.say_backends)
            return say_backends();
        if (options.is_rank || is_other)
            return serve(backend_of(options), job);
        listen_for_interrupts();
        const KeepsWhatIsDone keeps; // samples, and a profile of them
        return calibrate(options, job);
    } catch (const UnfitRequest& unfit) {
        print_talk(fmt::format("error: {}\n", unfit.message));
        if (!unfit.fix.empty())
            print_talk(fmt::format("      {}\n", unfit.fix));
        return exit_usage;
    } catch (const MeasureFailure& failure) {
        return say_failure(failure, options);
    }
}

int run_calibrate(int argc, char** argv)
{
    try {
        const auto options = parse_options(argc, argv);
        const Checked<std::optional<JobLaunch>> job = job_launch(own_variables());
        if (!options)
            return say_end(options.error(), job && *job && (*job)->launch.place.rank > 0);
        if (!job)
            return refuse(job.error(), "nothing was measured.");
        return run_with(*options, *job);
    } catch (const ConnectionLost& lost) {
        print_talk(fmt::format("error: the coordinator: {}\n", lost.why));
        return exit_input_output;
    } catch (const WorldError& error) {
        print_talk(fmt::format("error: {}\n", error.message));
        return exit_input_output;
    } catch (const Cancelled&) {
        const ExitCode code = interrupted_exit();
        print_talk("interrupted; nothing was written\n");
        return code;
    } catch (const std::exception& error) {
        print_talk(fmt::format("internal error: {}\n      this is a bug of trainyard {}; please "
                               "report it with the command\n",
                               error.what(), version()));
        return exit_our_bug;
    }
}

} // namespace
} // namespace trainyard

int main(int argc, char** argv)
{
    return trainyard::run_calibrate(argc, argv);
}
