// What a point of a sweep costs: CPU time of one thread in sweeps of shipped scenarios, dense and
// mixtures of experts, on 8 to 16,384 GPUs. Run in the root of the source tree; a number of runs
// and names of scenarios as arguments take these only.

#include "sim/base/freed_memory.h"
#include "sim/study/session.h"
#include "sim/study/sweep.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string_view>

using namespace trainyard;

namespace {

struct Sweep {
    const char* scenario;
    std::vector<const char*> axes;
};

const std::vector<Sweep> sweeps = {
    {"llama3-70b-h100-64",
     {"strategy.tp=1,2,4,8", "strategy.pp=1,2,4,8", "training.micro_batch=1,2,4",
      "strategy.zero=0,1,2,3", "strategy.cp=1,2"}},
    {"llama3-8b-h100-8",
     {"training.micro_batch=1,2,4", "strategy.zero=1,2,3", "training.recompute=none,selective,full",
      "strategy.tp=1,2,4"}},
    {"llama3-8b-hsdp-h100-64",
     {"training.micro_batch=1,2,4", "strategy.tp=1,2", "training.recompute=none,full"}},
    {"mixtral-8x7b-ep8-h100-64",
     {"strategy.pp=1,2,4", "strategy.tp=1,2,4", "training.micro_batch=1,2,4",
      "strategy.zero=1,2,3"}},
    {"llama3-405b-h100-16k",
     {"strategy.tp=8,16", "strategy.pp=8,16", "training.micro_batch=1,2",
      "training.recompute=none,selective,full"}},
};

double cpu_ms()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    std::ranges::sort(values);
    return values[values.size() / 2];
}

// CPU times in ms of a sweep's points, of those that are possible and of the others.
struct Times {
    std::vector<double> possible;
    std::vector<double> refused;
};

// By run: one session goes through all points in order.
Times run_once(const ScenarioFile& base, const SweepGrid& grid)
{
    Times times;
    Session session;
    double before = cpu_ms();
    SweepOptions options;
    options.threads = 1;
    sweep(base, grid, session, options, [&](SweepPoint&& point) {
        const double now = cpu_ms();
        (point.feasible() ? times.possible : times.refused).push_back(now - before);
        before = now;
    });
    return times;
}

// The median of each point's runs.
std::vector<double> medians(const std::vector<Times>& all, std::vector<double> Times::*which)
{
    std::vector<double> out;
    for (std::size_t point = 0; point < (all.front().*which).size(); ++point) {
        std::vector<double> times;
        for (const Times& one : all)
            times.push_back((one.*which)[point]);
        out.push_back(median(times));
    }
    return out;
}

double sum(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0);
}

} // namespace

int main(int count, char** arguments)
{
    keep_freed_memory(); // as the program does
    const int runs = count > 1 ? std::atoi(arguments[1]) : 5;
    const std::vector<std::string_view> wanted(arguments + std::min(count, 2), arguments + count);
    std::vector<double> possible;
    fmt::print("| sweep | points | possible | ms in all | of one that is possible | of one that is "
               "refused |\n|---|---|---|---|---|---|\n");
    for (const Sweep& asked : sweeps) {
        if (!wanted.empty() && std::ranges::find(wanted, asked.scenario) == wanted.end())
            continue;
        SweepGrid grid;
        for (const char* axis : asked.axes)
            grid.axes.push_back(parse_axis(axis).value());
        ScenarioFile base =
            read_scenario_file(fmt::format("scenarios/{}.json", asked.scenario)).value();
        base = let_follow(base, following_fields(grid, base.scenario), grid).value();
        std::vector<Times> all;
        for (int run = 0; run < runs; ++run)
            all.push_back(run_once(base, grid));
        const std::vector<double> ran = medians(all, &Times::possible);
        const std::vector<double> refused = medians(all, &Times::refused);
        fmt::print("| {} | {} | {} | {:.0f} | {:.2f} | {:.2f} |\n", asked.scenario, grid.points(),
                   ran.size(), sum(ran) + sum(refused), median(ran), median(refused));
        possible.insert(possible.end(), ran.begin(), ran.end());
    }
    fmt::print("\nmedian of all {} that are possible: {:.2f} ms\n", possible.size(),
               median(possible));
}
