// What each mechanism of the engines is worth: a fixed set of jobs with all of them, then with one
// left out at a time. Prints a line per run: job, ranks, lanes, million ops, engine, mechanism left
// out, milliseconds of CPU (the median). Run in the root of the source tree; ablation.py makes a
// table of it.

#include "sim/base/random.h"
#include "sim/study/run_setup.h"
#include "tests/support/grid_links.h"
#include "tests/support/ring_job.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <optional>

using namespace trainyard;

namespace {

struct BenchJob {
    std::string name;
    int ranks = 0;
    Program program;
    Binding binding;
    RunControl control;
};

// What is changed of a scenario's binding.
struct Case {
    std::string name;
    std::string scenario;
    std::vector<Override> changes = {};
    int slow = 0; // devices; -1: every one at its own speed
};

BenchJob job_of(const Case& one)
{
    const ScenarioFile file = read_scenario_file("scenarios/" + one.scenario, one.changes).value();
    StageMemos memos;
    const Parts parts = build_parts(file, memos).value();
    const Scenario& scenario = file.scenario;
    BindOptions options = bind_options(scenario, parts, SimTime(0));
    const int world = parts.job.world();
    Random random(1);
    for (int i = 0; i < (one.slow < 0 ? world : one.slow); ++i) {
        const int device = one.slow < 0 ? i : i * 1601 % world;
        options.conditions.slowdown.emplace_back(
            make_id<DeviceId>(static_cast<std::size_t>(device)), 1 + random.uniform() / 10);
    }
    return {one.name, world, parts.plan->program,
            bind(*parts.plan, parts.job, *parts.topology, *parts.cost, options),
            run_control(scenario, {})};
}

// TP8 PP16, every rank at its own speed.
BenchJob grid(std::uint32_t ranks)
{
    test::GridJob grid = test::grid_job(
        {.tp = 8, .pp = 16, .dp = ranks / 128, .layers = 8, .micro_batches = 25, .uneven = true});
    BenchJob job{"grid, all differ",
                 static_cast<int>(ranks),
                 std::move(grid.program),
                 std::move(grid.binding),
                 {}};
    job.control.steps = 1;
    return job;
}

// The same shape over a spine of half the leaves' width: messages and rings meet.
BenchJob crowded_grid()
{
    test::GridJob grid = test::grid_job(
        {.tp = 8, .pp = 16, .dp = 128, .layers = 1, .micro_batches = 16, .uneven = true});
    test::GridFabric(grid).bind();
    BenchJob job{
        "grid, narrow spine, flow", 16'384, std::move(grid.program), std::move(grid.binding), {}};
    job.control.steps = 1;
    job.control.fidelity = Fidelity::flow;
    return job;
}

// One sum over 4,096 members, step by step.
BenchJob wide_ring()
{
    test::RingJob ring = test::ring_job({.members = 4096});
    BenchJob job{"one ring, chunk", 4096, std::move(ring.program), std::move(ring.binding), {}};
    job.control.steps = 1;
    job.control.fidelity = Fidelity::chunk;
    return job;
}

std::vector<std::function<BenchJob()>> jobs()
{
    const std::string large = "llama3-405b-h100-16k.json";
    std::vector<std::function<BenchJob()>> all;
    for (const Case& one : std::initializer_list<Case>{
             {"Llama-3-8B, HSDP", "llama3-8b-hsdp-h100-64.json"},
             {"Llama-2-7B, zb-h1", "llama2-7b-tp2-pp2-dp2.json", {{"strategy.schedule", "zb-h1"}}},
             {"Mixtral, EP 8", "mixtral-8x7b-ep8-h100-64.json"},
             {"Llama-3-70B", "llama3-70b-h100-64.json"},
             {"Llama-3-70B, flow",
              "llama3-70b-h100-64.json",
              {{"run.fidelity", "flow"}, {"run.fold", "false"}}},
             {"405B", large},
             {"405B, ten slow", large, {}, 10},
             {"405B, all differ", large, {}, -1}})
        all.emplace_back([one] { return job_of(one); });
    all.emplace_back([] { return grid(16'384); });
    all.emplace_back([] { return grid(1'048'576); });
    all.emplace_back(crowded_grid);
    all.emplace_back(wide_ring);
    return all;
}

double cpu_ms()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Timed {
    double ms = 0;
    std::uint64_t ops = 0;
    Tier tier = Tier::automatic;
};

// Nothing where it takes longer than `limit` ms.
std::optional<Timed> run_once(const BenchJob& job, Mechanisms mechanisms, double limit)
{
    CancelFlag flag;
    const double began = cpu_ms();
    RunControl control = job.control;
    control.mechanisms = mechanisms;
    control.work.cancel = &flag;
    control.work.progress = [&](std::string_view, double, double) {
        if (cpu_ms() - began > limit)
            flag.cancel();
    };
    try {
        const Checked<Run> made = run(job.program, job.binding, control);
        return Timed{cpu_ms() - began, made.value().result.ops, made.value().use.tier};
    } catch (const Cancelled&) {
        return std::nullopt;
    }
}

// The median of runs that fill half a second, or of one that is longer.
std::optional<Timed> run_often(const BenchJob& job, Mechanisms mechanisms, double limit)
{
    constexpr double enough = 500; // ms
    constexpr std::size_t most = 15;
    std::vector<Timed> runs;
    for (double sum = 0; sum < enough && runs.size() < most; sum += runs.back().ms) {
        const std::optional<Timed> one = run_once(job, mechanisms, limit);
        if (!one)
            return std::nullopt;
        runs.push_back(*one);
    }
    std::ranges::sort(runs, {}, &Timed::ms);
    return runs[runs.size() / 2];
}

void print(const BenchJob& job, std::string_view without, const std::optional<Timed>& timed)
{
    fmt::print("{};{};{};", job.name, job.ranks, job.binding.lanes.size());
    if (timed)
        fmt::print("{:.2f};{};{};{:.3f}\n", static_cast<double>(timed->ops) / 1e6,
                   to_name(timed->tier), without, timed->ms);
    else
        fmt::print(";;{};\n", without);
    std::fflush(stdout);
}

} // namespace

int main()
{
    constexpr double longest = 30; // times as long as with all of them
    for (const auto& make : jobs()) {
        const BenchJob job = make();
        run_once(job, Mechanisms::all(), 1e9); // the first one asks the system for its memory
        const std::optional<Timed> whole = run_often(job, Mechanisms::all(), 1e9);
        print(job, "", whole);
        for (const EnumName<Mechanism>& one : enum_names<Mechanism>())
            print(job, one.name,
                  run_often(job, Mechanisms::all().without(one.value), longest * whole->ms));
    }
}
