#include "calibrate/program/session.h"

#include "calibrate/import/log_text.h"
#include "calibrate/measure/control/local_ranks.h"
#include "calibrate/measure/discover/record.h"
#include "calibrate/measure/host_kernels/own_cores.h"
#include "calibrate/measure/output/machine_study.h"
#include "calibrate/measure/run/nodes.h"
#include "calibrate/measure/run/runner.h"
#include "calibrate/program/modules.h"
#include "sim/cli/terminal.h"
#include "sim/cost/device_catalogue.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>

namespace trainyard {

namespace fs = std::filesystem;

namespace {

std::string random_token()
{
    std::random_device source;
    return fmt::format("{:08x}{:08x}{:08x}", source(), source(), source());
}

std::string utc_now()
{
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

// Beside the profile, so that it is found; without one among temporary files.
fs::path journal_path(const CalibrateOptions& options)
{
    if (!options.samples.empty())
        return options.samples;
    if (options.output.empty())
        return fs::temp_directory_path() /
               fmt::format("trainyard-calibrate-{}.samples.jsonl", ::getpid());
    fs::path out = options.output;
    return out.replace_extension(".samples.jsonl");
}

// Where the ranks of this run find it. A launched job's port follows from its variables.
Listener listener_of(const std::optional<JobLaunch>& launch)
{
    try {
        return Listener(launch ? launch->coordinator.port : 0);
    } catch (const WorldError& error) {
        if (!launch)
            throw;
        throw MeasureFailure{
            FailureKind::broken, error.message,
            fmt::format("it is {}: set MASTER_PORT to another one for all ranks",
                        launch->port_is_given
                            ? "the one after MASTER_PORT"
                            : "made of the job's number, as MASTER_PORT is unset")};
    }
}

class Session {
public:
    // `look`: at this host, before any rank used it.
    Session(const CalibrateOptions& options, const std::optional<JobLaunch>& launch, NodeLook look)
        : options_(options),
          backend_(options.backend),
          launch_(launch),
          look_(std::move(look)),
          listener_(listener_of(launch))
    {
        address_ = launch ? launch->coordinator
                          : CoordinatorAddress{"localhost", listener_.port(), random_token()};
        ranks_ = launch ? launch->launch.place.ranks : options.ranks;
        result_.run.backend = backend_;
        result_.run.started = utc_now();
        result_.run.launch_style = launch              ? std::string(to_name(launch->launch.style))
                                   : backend_ == "mpi" ? "mpirun on one host"
                                                       : "processes of one host";
        result_.run.variables = path_variables(own_variables());
        result_.journal = journal_path(options);
    }

    SessionResult run()
    {
        try {
            if (launch_)
                in_one_job();
            else
                for (int launch = 0; launch < options_.launches; ++launch)
                    with_ranks(launch, launch + 1);
        } catch (const RunEnded& ended) {
            end(ended.why, exit_input_output);
        } catch (const Cancelled&) {
            end("interrupted", interrupted_exit());
        } catch (const WorldError& error) {
            if (!journal_)
                throw;
            journal_.reset(); // it may be what failed
            end(error.message, exit_input_output);
        }
        return std::move(result_);
    }

private:
    void end(const std::string& why, ExitCode code)
    {
        result_.run.ended = why;
        result_.exit = code;
        // A launcher that ends its job may say so twice; what is kept is to be told all the same.
        if (launch_)
            std::signal(SIGTERM, SIG_IGN);
        if (journal_)
            journal_->ended(why);
    }

    // The launcher's ranks stay: a launch is a new set of communicators among them.
    void in_one_job() { with_ranks(0, options_.launches); }

    void with_ranks(int first_launch, int end_launch)
    {
        LocalRanks processes(program(), address_);
        CoordinatorSetup setup;
        setup.ranks = ranks_;
        setup.token = address_.token;
        setup.cancel = &interrupt_flag();
        setup.fate_of = [&](int rank) { return processes.fate_of(rank); };
        // A launcher that ends its job leaves no time to wait; mpirun speaks once all have ended.
        setup.until_known = Milliseconds(launch_ ? 100 : backend_ == "mpi" ? 4'000 : 1'000);
        setup.never_started = [&] { return processes.first_end(); };
        Coordinator coordinator(listener_, setup);
        if (!journal_)
            start(coordinator);
        RunnerSetup runner;
        runner.effort = options_.effort();
        runner.trials = options_.trials;
        runner.seed = options_.seed;
        runner.target = options_.target;
        runner.rounds = options_.plan.quick ? 1 : 8;
        runner.patience = Milliseconds(static_cast<std::int64_t>(1000 * options_.timeout));
        runner.control = bar_.control();
        runner.began = began_;
        runner.left = &*left_;
        for (runner.launch = first_launch; runner.launch < end_launch; ++runner.launch) {
            say_launch(runner.launch);
            measure(coordinator, plan_, runner, result_.run, *journal_);
            if (runner.launch == 0)
                ask_hosts(coordinator);
        }
        if (end_launch == options_.launches)
            measure_suspects(coordinator, runner);
        coordinator.quit();
    }

    // In the log of a job, where no bar is drawn.
    void say_launch(int launch)
    {
        if (::isatty(STDERR_FILENO) == 1 || options_.launches == 1)
            return;
        print_talk(fmt::format(
            "launch {} of {}{}\n", launch + 1, options_.launches,
            launch == 0 ? std::string()
                        : fmt::format(": about {:.0f} s left in all", left_->seconds().value())));
    }

    // Pairs that look slow once may be so by chance: three times make a verdict.
    void measure_suspects(Coordinator& coordinator, RunnerSetup runner)
    {
        constexpr int more = 2;
        runner.launch = options_.launches - 1;
        const std::vector<OrderedPair> suspects =
            to_measure_again(pair_study(result_.run, result_.machine));
        for (int i = 0; i < more && !suspects.empty(); ++i)
            measure_again(coordinator, plan_, suspects, runner, result_.run, *journal_);
    }

    // Once all ranks are there: what is planned depends on them.
    void start(Coordinator& coordinator)
    {
        MeasuredRun& run = result_.run;
        run.doubts = look_.doubts;
        const NodeSources& sources = look_.sources;
        run.kernel = sources.host.kernel;
        run.machine = machine_record(sources.host, sources.nvml ? &*sources.nvml : nullptr);
        if (Checked<NodeReport> here = report_of(look_, ""))
            keep({*here});
        run.ranks = facts_of(coordinator, ranks_);
        require_known_device();
        plan_ = plan_of(options_.plan, run.ranks);
        drop_impossible(coordinator, plan_, run.left_out);
        require_something();
        left_.emplace(plan_, options_.launches, Forecast(options_.effort(), options_.trials));
        journal_.emplace(result_.journal, run);
        if (!journal_->earlier().empty())
            print_talk(fmt::format("moved: the samples of an earlier run are now in {}\n",
                                   journal_->earlier().string()));
        if (!run.nodes.empty())
            journal_->machine(run.nodes);
        for (const std::string& what : run.left_out)
            journal_->left_out(what);
    }

    // A profile rests on a shipped device: better to ask before a long run than after it.
    void require_known_device() const
    {
        const std::string& name = result_.run.ranks.front().facts.device;
        if (backend_ == "nccl" && !options_.output.empty() && options_.device.empty() &&
            shipped_devices().named_in(name) == nullptr)
            throw UnfitRequest{fmt::format("no device is known by the name \"{}\", and a profile "
                                           "(-o) rests on one",
                                           printable(name, 100)),
                               fmt::format("say which it is most like: --device NAME, one of {}",
                                           fmt::join(known_devices(), ", "))};
    }

    void require_something() const
    {
        if (!plan_.groups.empty())
            return;
        if (!result_.run.left_out.empty())
            throw UnfitRequest{"nothing of that can be measured: " + result_.run.left_out.front(),
                               ""};
        if (ranks_ == 1)
            throw UnfitRequest{"one rank has no other to talk to",
                               "collectives and pairs need two ranks: -n 2"};
        throw UnfitRequest{fmt::format("nothing of that is measured with back end {}", backend_),
                           "--only takes collectives, pairs, gemm, memory or overlap here"};
    }

    // What cannot be found out leaves no topology: measuring goes on without.
    void keep(std::vector<NodeReport> nodes)
    {
        Checked<DiscoveredCluster> cluster = cluster_of(std::move(nodes));
        if (!cluster)
            return;
        result_.run.nodes = cluster->nodes;
        result_.machine = std::move(*cluster);
    }

    // Now that their libraries have told what they see. What makes this host doubtful was seen
    // before its ranks began.
    void ask_hosts(Coordinator& coordinator)
    {
        std::vector<std::string>& doubts = result_.run.doubts;
        const std::optional<DiscoveredCluster> found = cluster_of(coordinator, ranks_, doubts);
        if (!found)
            return;
        result_.machine = *found;
        result_.run.nodes = found->nodes;
        journal_->machine(found->nodes);
        const std::string& own = coordinator.hello(0).host;
        for (const NodeReport& node : found->nodes)
            for (const std::string& text : node.doubts)
                if (node.host != own)
                    doubts.push_back(fmt::format("host {}: {}", node.host, text));
    }

    RankProgram program() const
    {
        RankProgram out;
        out.program = fs::read_symlink("/proc/self/exe").string();
        out.arguments = {"--rank", "--backend", backend_};
        out.ranks = ranks_;
        out.start = launch_             ? RankStart::launched
                    : backend_ == "mpi" ? RankStart::mpirun
                                        : RankStart::each;
        return out;
    }

    const CalibrateOptions& options_;
    std::string backend_;
    std::optional<JobLaunch> launch_;
    NodeLook look_;
    Listener listener_;
    CoordinatorAddress address_;
    int ranks_ = 1;
    MeasurePlan plan_;
    std::optional<TimeLeft> left_; // over all launches
    std::optional<Journal> journal_;
    ProgressBar bar_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    SessionResult result_;
};

} // namespace

SessionResult measure_here(const CalibrateOptions& options, const std::optional<JobLaunch>& job)
{
    LookSettings settings;
    settings.gpus = options.backend == "nccl";
    settings.cpu_ranks = job ? job->launch.place.local_ranks : options.ranks;
    return Session(options, job, look_at_node(settings)).run();
}

int serve(const std::string& backend, const std::optional<JobLaunch>& job)
{
    std::optional<LaunchPlace> place = place_given();
    std::optional<CoordinatorAddress> address = address_given();
    if (place && !job && backend == "gloo") // launchers bind their ranks themselves, or leave it
        bind_to_own_cores(place->local_rank, place->local_ranks);
    if (!place && job)
        place = job->launch.place;
    if (!address && job)
        address = job->coordinator;
    if (!place || !address)
        throw MeasureFailure{FailureKind::refused, "nobody started this process as a rank",
                             "leave out --rank"};
    RankTasks tasks;
    tasks.open = [&] { return open_backend(backend, *place); };
    tasks.look = [&](const std::string& dump) {
        LookSettings settings;
        settings.gpus = backend == "nccl";
        settings.cpu_ranks = place->local_ranks;
        settings.while_measuring = true;
        const Checked<NodeReport> report = report_of(look_at_node(settings), dump);
        if (!report)
            throw MeasureFailure{FailureKind::refused, report.error().front().message, ""};
        return *report;
    };
    return serve_as_rank(*place, *address, tasks);
}

} // namespace trainyard
