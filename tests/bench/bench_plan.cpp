// What the search for the best layout costs: bounds per second, how near they are to the engine,
// and whole searches. Run in the root of the source tree; `bench_plan ratios` prints one table,
// `bench_plan bounds Mixtral` that of the cases named so.

#include "sim/base/freed_memory.h"
#include "sim/base/random.h"
#include "sim/study/search/search.h"
#include "sim/study/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <ctime>

using namespace trainyard;

namespace {

struct Case {
    const char* name;
    const char* scenario;
    std::vector<Override> changes;
};

const std::vector<Override> deepseek = {
    {"model", "deepseek-v3"},
    {"training.sequence_length", "4096"},
    {"training.global_batch", "15360"},
    {"training.precision", "fp8_block"},
    {"strategy.overlap", R"({"ep": true})"},
    {"strategy.dp", "null"},
    {"strategy.ep", "64"},
    {"strategy.pp", "16"},
    {"strategy.zero", "1"},
    {"strategy.schedule", "dualpipe"},
    {"strategy.experts", R"({"dispatcher": "one_copy_per_node"})"}};

std::vector<Override> with(std::vector<Override> changes, std::initializer_list<Override> more)
{
    changes.insert(changes.end(), more);
    return changes;
}

std::vector<Case> cases = {
    {"Llama 3.1 70B, 64 H100", "llama3-70b-h100-64", {}},
    {"Mixtral 8x7B, 64 H100", "mixtral-8x7b-ep8-h100-64", {}},
    {"GPT-3 175B, 4,096 A100",
     "llama3-70b-h100-64",
     {{"model", "gpt-3-175b"},
      {"topology", "dgx-a100-8x8"},
      {"topology.nodes", "512"},
      {"training.sequence_length", "2048"},
      {"training.global_batch", "1536"},
      {"strategy.dp", "null"},
      {"strategy.cp", "1"},
      {"strategy.tp", "8"},
      {"strategy.pp", "16"},
      {"strategy.vpp", "1"},
      {"strategy.schedule", "null"}}},
    {"Llama 3.1 405B, 16,384 H100", "llama3-405b-h100-16k", {}},
    {"DeepSeek-V3, 2,048 H800", "mixtral-8x7b-ep8-h100-64",
     with(deepseek, {{"topology.nodes", "256"}, {"topology.node", "hgx-h800"}})},
    {"DeepSeek-V3, 8 GB200 racks", "mixtral-8x7b-ep8-h100-64",
     with(deepseek, {{"topology", "gb200-nvl72-8racks"},
                     {"strategy.gpus_per_domain", "64"},
                     {"strategy.pp", "8"}})},
};

double wall_s()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double cpu_s()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

SearchBase base_of(const Case& one)
{
    const Checked<ScenarioFile> file =
        read_scenario_file(fmt::format("scenarios/{}.json", one.scenario), one.changes);
    if (!file)
        fmt::print("{}", render(file.error(), ""));
    const Checked<SearchBase> base = search_base(file.value());
    if (!base)
        fmt::print("{}", render(base.error(), ""));
    return base.value();
}

Bytes room_of(const SearchBase& base)
{
    return scaled(device_memory(base.parts.cost->profile()).capacity, 0.95);
}

// Bounds of time and memory, all of a space.
void print_bounds(const Case& one)
{
    const SearchBase base = base_of(one);
    const SearchSpace space = usual_space(base.file.scenario, base.facts);
    const double before = cpu_s();
    const PossibleLayouts found = possible_layouts(space, base, room_of(base), {});
    const double took = cpu_s() - before;
    const auto memory = found.excluded.find({Exclusion::memory, ""});
    const std::uint64_t bounds =
        found.layouts.size() + (memory == found.excluded.end() ? 0 : memory->second.points);
    fmt::print("| {} | {:.2f} | {:.2f} | {} | {:.0f} |\n", one.name,
               1e-6 * static_cast<double>(space.points()), took, bounds,
               1e-3 * static_cast<double>(space.points()) / took);
}

// Of random layouts that are possible: the bound over the engine, and what a simulation costs.
void print_ratios(const Case& one, Random& random)
{
    constexpr std::size_t draws = 200;
    const SearchBase base = base_of(one);
    const SearchSpace space = usual_space(base.file.scenario, base.facts);
    const PossibleLayouts found = possible_layouts(space, base, room_of(base), {});
    Session session;
    std::vector<double> ratios;
    std::vector<double> times;
    for (std::size_t i = 0; i < draws; ++i) {
        const PossibleLayout& layout = found.layouts[random.bits() % found.layouts.size()];
        SimulateRequest request;
        request.unfit = Unfit::refuse;
        request.memory = AllocatorView::nobody;
        const double before = cpu_s();
        const Checked<Outcome> outcome =
            session.simulate(scenario_of(layout.choice, base), request);
        if (!outcome)
            continue;
        times.push_back(cpu_s() - before);
        ratios.push_back(layout.least.time / to_seconds(outcome->result->step_time));
    }
    std::ranges::sort(ratios);
    const auto above = std::ranges::count_if(ratios, [](double ratio) { return ratio > 1; });
    std::ranges::sort(times);
    fmt::print("| {} | {} | {:.3f} | {:.3f} | {} | {:.1f} |\n", one.name, ratios.size(),
               ratios[ratios.size() / 2], ratios[ratios.size() / 10], above,
               1e3 * times[times.size() / 2]);
}

void print_search(const Case& one, std::size_t top)
{
    const SearchBase base = base_of(one);
    SearchRequest request;
    request.space = usual_space(base.file.scenario, base.facts);
    request.top = top;
    Session session;
    const double wall = wall_s();
    const double cpu = cpu_s();
    const SearchResult result = search(base, request, session);
    fmt::print("| {} | {} | {:.1f} | {:.1f} | {} | {} | {:.4g} |\n", one.name, top, wall_s() - wall,
               cpu_s() - cpu, result.possible, result.simulated,
               result.best.front().step_time.value());
    std::fflush(stdout);
}

} // namespace

int main(int count, char** arguments)
{
    keep_freed_memory(); // as the program does
    const std::vector<std::string_view> wanted(arguments + std::min(count, 1),
                                               arguments + std::min(count, 2));
    const std::vector<std::string_view> named(arguments + std::min(count, 2), arguments + count);
    std::erase_if(cases, [&](const Case& one) {
        return !named.empty() && std::ranges::none_of(named, [&](std::string_view part) {
            return std::string_view(one.name).find(part) != std::string_view::npos;
        });
    });
    const auto prints = [&](std::string_view table) {
        return wanted.empty() || std::ranges::find(wanted, table) != wanted.end();
    };
    if (prints("bounds")) {
        fmt::print("| space | million points | CPU s | bounds | thousand points/s |\n"
                   "|---|---|---|---|---|\n");
        for (const Case& one : cases)
            print_bounds(one);
    }
    if (prints("ratios")) {
        fmt::print(
            "\n| random possible layouts | simulated | bound / engine, median | lowest tenth "
            "| above the engine | CPU ms of a simulation, median |\n"
            "|---|---|---|---|---|---|\n");
        Random random(1);
        for (const Case& one : cases)
            print_ratios(one, random);
    }
    if (!prints("searches"))
        return 0;
    fmt::print("\n| search | best shown | wall s | CPU s | possible | simulated | best step s |\n"
               "|---|---|---|---|---|---|---|\n");
    for (const Case& one : cases)
        for (const std::size_t top : {1, 10})
            print_search(one, top);
}
