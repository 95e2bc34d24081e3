#include "sim/study/jobs/starting_point.h"

#include "sim/base/units.h"
#include "sim/strategy/misfits.h"
#include "sim/study/inputs.h"
#include "sim/study/jobs/first_training.h"
#include "sim/study/jobs/layout_text.h"
#include "sim/study/problems.h"
#include "sim/study/search/nearest_batches.h"
#include "sim/study/search/points.h"
#include "sim/study/session.h"
#include "sim/topology/used_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr double roomy = 0.1; // of the memory, that a first scenario should leave free
// A quicker layout may save this share of a step. Larger ones are hardly looked for any sooner.
constexpr double near_enough = 0.05;

constexpr int most_chunks = 8; // of a stage: more save little

// What layouts are searched with: a framework and the devices of a domain that it runs on.
struct StartFramework {
    std::string name;
    const char* described;
    int zero;
    const char* gradients = ""; // in which format they are summed, where that is a choice
};
const std::array frameworks{
    StartFramework{"megatron-core", "Megatron-Core with its distributed optimizer", 1,
                   "gradients in 16 bit, as in NVIDIA's recipes; true for fp32, Megatron-LM's own "
                   "default"},
    StartFramework{"torch-fsdp", "FSDP", 3}, StartFramework{"torch-ddp", "DDP", 0}};

struct Start {
    const StartFramework* framework;
    int gpus_per_domain = 0; // 0: all
    SearchBase base;
    SearchSpace space;
};

// The space of a framework: Megatron-Core has TP, CP, PP and EP, the others replicas alone.
SearchSpace space_of(const SearchBase& base, const StartFramework& framework)
{
    SearchSpace space = usual_space(base.file.scenario, base.facts);
    space.schedules = {find_schedule(Strategy{}.schedule)};
    space.zero = {framework.zero};
    space.etp = {1};
    std::erase_if(space.vpp, [](int chunks) { return chunks > most_chunks; });
    if (framework.name != frameworks[0].name) {
        for (std::vector<int>* sizes :
             {&space.tp, &space.cp, &space.pp, &space.vpp, &space.ep, &space.etp})
            *sizes = {1};
        std::erase_if(space.recompute, [](const RecomputeChoice& choice) {
            return choice.kind == Recompute::selective || choice.layers.has_value();
        });
    }
    return space;
}

class Starts {
public:
    Starts(const StartRequest& request, const FirstTraining& first)
        : request_(request), first_(first)
    {}

    // Problems are those of the first one; all of them share model and cluster.
    Problems add_all(const Transformer* model, int domain)
    {
        for (const StartFramework& framework : frameworks) {
            const bool three_dimensions = framework.name == frameworks[0].name;
            if (model == nullptr && framework.zero != 0)
                continue;
            if (Problems problems = add(framework, 0); !problems.empty())
                return problems;
            const int whole = even_part(domain);
            if (three_dimensions && whole != domain)
                add(framework, whole); // may leave too few
        }
        return {};
    }

    const std::vector<Start>& all() const { return all_; }

private:
    Problems add(const StartFramework& framework, int gpus_per_domain)
    {
        Scenario scenario = first_.scenario;
        scenario.software.framework = framework.name;
        scenario.strategy.zero = framework.zero;
        scenario.strategy.dp = 1;
        scenario.strategy.gpus_per_domain = gpus_per_domain;
        Checked<SearchBase> base =
            search_base(scenario_in_memory(scenario, request_.folder, "the new scenario"));
        if (!base)
            return base.error();
        if (std::int64_t& batch = base->file.scenario.training.global_batch; first_.fits_batch)
            batch = fitted_batch(batch, base->facts.devices);
        SearchSpace space = space_of(*base, framework);
        all_.push_back({&framework, gpus_per_domain, std::move(*base), std::move(space)});
        return {};
    }

    const StartRequest& request_;
    const FirstTraining& first_;
    std::vector<Start> all_;
};

// The layouts with the sizes of one.
SearchSpace of_same_sizes(SearchSpace space, const LayoutChoice& choice)
{
    space.tp = {choice.tp};
    space.cp = {choice.cp};
    space.pp = {choice.pp};
    space.ep = {choice.ep};
    return space;
}

// The best of all starts, and how they were found.
struct Found {
    const Start* start = nullptr;
    RankedLayout best;
    MemoryEstimate memory;                                     // of the best
    PeakPrediction peak;                                       // likewise
    std::optional<std::pair<const Start*, RankedLayout>> next; // of other sizes
    std::uint64_t possible = 0;
    std::uint64_t simulated = 0;
};

// Without a `start`: none of the possible layouts fits.
Found search_all(const std::vector<Start>& starts, double headroom, const StartRequest& request,
                 Session& session)
{
    Found found;
    std::vector<std::pair<const Start*, RankedLayout>> ranked;
    SearchRequest one;
    one.top = 2;
    one.headroom = headroom;
    one.tolerance = near_enough;
    one.work = request.work;
    for (const Start& start : starts) {
        one.space = start.space;
        SearchResult result = search(start.base, one, session);
        request.work.check();
        found.possible += result.possible;
        found.simulated += result.simulated;
        for (RankedLayout& layout : result.best)
            ranked.emplace_back(&start, std::move(layout));
    }
    if (ranked.empty())
        return found;
    std::ranges::stable_sort(ranked, {}, [](const auto& entry) {
        return per_sequence(entry.second.step_time, entry.second.choice);
    });
    found.start = ranked.front().first;
    found.best = std::move(ranked.front().second);
    if (ranked.size() > 1)
        found.next = std::move(ranked[1]);
    // Micro-batches, virtual stages and recompute are worth the last per cent.
    one.space = of_same_sizes(found.start->space, found.best.choice);
    one.top = 1;
    one.tolerance = 0;
    SearchResult result = search(found.start->base, one, session);
    request.work.check();
    found.simulated += result.simulated;
    found.best = std::move(result.best.front());
    const ScenarioFile best = scenario_of(found.best.choice, found.start->base);
    found.memory =
        session.memory(best, {.view = AllocatorView::every_stage}).value(); // the search had it too
    found.peak = session.predicted_peak(best, found.memory.peak()).value();
    return found;
}

// Why this layout, a sentence each.
std::vector<std::string> reasons_for(const Found& found)
{
    const Start& start = *found.start;
    const Scenario scenario = scenario_of(found.best.choice, start.base).scenario;
    const Training& training = scenario.training;
    const Strategy& s = scenario.strategy;
    std::vector<std::string> out;
    out.push_back(fmt::format("strategy {}: {}, a step in {}", described(scenario),
                              start.framework->described, to_display(found.best.step_time)));
    out.push_back(fmt::format(
        "of {} layouts that may fit none is more than {:.0f} % quicker ({} were simulated){}",
        found.possible, 100 * near_enough, found.simulated,
        found.next
            ? fmt::format(
                  "; next: {} with {}",
                  described(
                      scenario_of(found.next->second.choice, found.next->first->base).scenario),
                  to_display(found.next->second.step_time))
            : ""));
    if (!s.stage_layers.empty())
        out.push_back("strategy.stage_layers: the layers over the stages, as evenly as they can");
    if (start.gpus_per_domain > 0)
        out.push_back(fmt::format("strategy.gpus_per_domain {}: groups stay inside NVLink domains, "
                                  "the other devices of each are left idle",
                                  start.gpus_per_domain));
    if (training.recompute != Recompute::none)
        out.push_back(
            fmt::format("training.recompute {}{}: the activations of quicker layouts do not fit",
                        to_name(training.recompute),
                        training.recompute_layers
                            ? fmt::format(" of {} layers a stage", *training.recompute_layers)
                            : ""));
    if (const std::string_view gradients = start.framework->gradients;
        !gradients.empty() && !training.fp32_gradients && training.precision != Precision::fp32)
        out.push_back(fmt::format("training.fp32_gradients false: {}", gradients));
    out.push_back(
        fmt::format("training.micro_batch {}: quickest of those that fit", training.micro_batch));
    out.push_back(fmt::format("it {}: {} of {} on the fullest device",
                              to_name(fit_of(found.peak, found.memory.capacity)),
                              to_display(found.memory.peak()), to_display(found.memory.capacity)));
    return out;
}

Problems batch_problem(std::int64_t batch, int gpus, const std::vector<std::int64_t>& nearest)
{
    return one_problem(
        fmt::format("a global batch of {} makes no whole micro-batches, or more than {} of them, "
                    "in every layout that fits on {} GPUs",
                    batch, most_micro_batches, gpus),
        fmt::format("nearest {}: {}",
                    nearest.size() == 1 ? "batch that works" : "batches that work",
                    fmt::join(nearest, " or ")));
}

// What a layout needs does not hang on the batch where that is fitted.
struct LeanestLayout {
    const Start* start = nullptr; // null: no layout can be
    LargeLayout layout;
    Bytes needed; // with what comes and goes in the step
};

LeanestLayout leanest_of(const std::vector<Start>& starts, Session& session)
{
    LeanestLayout out;
    for (const Start& start : starts) {
        SearchSpace fitted = start.space;
        fitted.global_batches = {std::int64_t{64} * start.base.facts.devices};
        const std::optional<LargeLayout> nearest =
            possible_layouts(fitted, start.base, Bytes(0), {}).nearest;
        if (nearest && (out.start == nullptr || nearest->memory < out.layout.memory)) {
            out.layout = *nearest;
            out.start = &start;
        }
    }
    if (out.start == nullptr)
        return out;
    const Checked<MemoryEstimate> memory = session.memory(
        scenario_of(out.layout.choice, out.start->base), {.view = AllocatorView::every_stage});
    out.needed = memory ? std::max(memory->peak(), out.layout.memory) : out.layout.memory;
    return out;
}

Problems memory_problem(const LeanestLayout& leanest, const SearchBase& base, const Device& device)
{
    return one_problem(
        fmt::format("{} does not fit on {} x {}",
                    base.facts.model.name.empty() ? "the model" : base.facts.model.name,
                    base.facts.devices, device.name),
        leanest.start == nullptr
            ? "no layout of it can be"
            : fmt::format(
                  "the leanest layout ({}) needs at least {} of {} on the fullest device: "
                  "more GPUs, larger ones or shorter sequences",
                  described(scenario_of(leanest.layout.choice, leanest.start->base).scenario),
                  to_display(leanest.needed), to_display(device.memory)));
}

struct NoLayout {
    StartRefusal refusal;
    std::vector<std::int64_t> batches; // that some layout would divide
    StartRefusal too_large;            // what there is to say where these do not help either
};

// Whether any layout fits, found by the first that does.
bool some_layout_fits(const StartRequest& request, Session& session, const Parts& parts,
                      const FirstTraining& first)
{
    Starts starts(request, first);
    const auto* model = std::get_if<Transformer>(&parts.model->architecture);
    if (!starts.add_all(model, largest_domain(*parts.topology)).empty())
        return false;
    SearchRequest any;
    any.top = 1;
    any.headroom = 0;
    any.tolerance = 0.99;
    any.work = request.work;
    return std::ranges::any_of(starts.all(), [&](const Start& start) {
        any.space = start.space;
        const bool fits = !search(start.base, any, session).best.empty();
        request.work.check();
        return fits;
    });
}

tl::expected<StartingPoint, NoLayout> quickest(const StartRequest& request, Session& session,
                                               const Parts& parts, const FirstTraining& first)
{
    Starts starts(request, first);
    const auto* model = std::get_if<Transformer>(&parts.model->architecture);
    Problems problems = starts.add_all(model, largest_domain(*parts.topology));
    if (!problems.empty())
        return tl::unexpected(NoLayout{{std::move(problems), false, {}}, {}, {}});
    for (const double headroom : {roomy, 0.0}) {
        const Found found = search_all(starts.all(), headroom, request, session);
        if (found.start == nullptr)
            continue;
        std::vector<std::string> reasons = first.reasons;
        const SearchBase& base = found.start->base;
        if (first.fits_batch)
            reasons.push_back(batch_reason(base.facts.model, base.file.scenario.training));
        for (std::string& reason : reasons_for(found))
            reasons.push_back(std::move(reason));
        if (headroom < roomy)
            reasons.push_back(fmt::format(
                "less than {:.0f} % of the memory stays free: no layout that leaves more fits",
                100 * roomy));
        return StartingPoint{kept_scenario(found.best.choice, found.start->base), found.memory,
                             found.best.step_time, std::move(reasons)};
    }
    const Device& device = parts.cost->profile().hardware.device;
    const LeanestLayout leanest = leanest_of(starts.all(), session);
    std::vector<std::int64_t> batches;
    for (const Start& start : starts.all())
        if (batches.empty() && leanest.needed <= device.memory) // else it is not the batch
            batches = nearest_batches(start.space, start.base,
                                      device_memory(parts.cost->profile()).capacity, request.work);
    const StartRefusal too_large{memory_problem(leanest, starts.all().front().base, device), true,
                                 leanest.start != nullptr ? leanest.needed : Bytes(0)};
    if (batches.empty())
        return tl::unexpected(NoLayout{too_large, {}, {}});
    const SearchBase& base = starts.all().front().base;
    return tl::unexpected(NoLayout{
        {batch_problem(base.file.scenario.training.global_batch, base.facts.devices, batches),
         false,
         {}},
        batches,
        too_large});
}

} // namespace

tl::expected<StartingPoint, StartRefusal> starting_point(const StartRequest& request,
                                                         Session& session)
{
    const Checked<Parts> parts = start_parts(request);
    if (!parts)
        return tl::unexpected(StartRefusal{parts.error(), false, {}});
    tl::expected<StartingPoint, NoLayout> start =
        quickest(request, session, *parts, first_training(request, *parts));
    if (!start && !start.error().batches.empty()) {
        // A batch that layouts divide may still fit on none of them.
        StartRequest other = request;
        other.global_batch.reset();
        const FirstTraining first = first_training(other, *parts, start.error().batches.back());
        if (request.global_batch) {
            if (!some_layout_fits(other, session, *parts, first))
                return tl::unexpected(std::move(start.error().too_large));
        } else if (auto instead = quickest(other, session, *parts, first)) {
            start = std::move(instead);
        } else {
            return tl::unexpected(std::move(start.error().too_large));
        }
    }
    if (!start)
        return tl::unexpected(std::move(start.error().refusal));
    return std::move(*start);
}

} // namespace trainyard
