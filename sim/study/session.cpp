#include "sim/study/session.h"

#include "sim/base/files.h"
#include "sim/base/random.h"
#include "sim/base/units.h"
#include "sim/strategy/bind/trunks.h"
#include "sim/study/idle_settings.h"
#include "sim/study/memo.h"
#include "sim/study/own_steps/own_profile.h"
#include "sim/study/problems.h"
#include "sim/study/run_setup.h"
#include "sim/study/sampling.h"
#include "sim/study/stages.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <unordered_map>

namespace trainyard {

namespace {

// Ranks that wait for one that waits in the next step wait a step later, and so on.
constexpr int most_steps_after = 3;

// A binding, the key that it is known by, how it was made, and its run.
struct Bound {
    std::shared_ptr<const Binding> binding;
    std::uint64_t key = 0;
    BindOptions options;
    std::shared_ptr<const Run> run;
};

// What the job's stages hold.
std::shared_ptr<const MemoryEstimate> find_memory(Memo<MemoryEstimate>& memo, const Parts& parts,
                                                  AllocatorView view)
{
    const DeviceMemory device = device_memory(parts.cost->profile());
    const std::uint64_t key =
        hash_key(hash_key(parts.job_hash, device.capacity.value(), device.context.value()),
                 device.per_communicator.value(), device.matrix_library.value(),
                 static_cast<std::uint64_t>(view));
    const auto live =
        view == AllocatorView::nobody ? nullptr : find_memory(memo, parts, AllocatorView::nobody);
    return memo.find_or_make(key, [&] {
        return std::optional<MemoryEstimate>(
            estimate_memory(parts.job, parts.plan->program, device, {.view = view}, live.get()));
    });
}

std::shared_ptr<const Binding> find_binding(Memo<Binding>& memo, std::uint64_t key,
                                            const Parts& parts, const BindOptions& options)
{
    return memo.find_or_make(key, [&] {
        return std::optional<Binding>(
            bind(*parts.plan, parts.job, *parts.topology, *parts.cost, options));
    });
}

// The engine counts what is on links that stand for others alike, and on the carriers of trunks,
// each of whose links carries its part.
void spread_totals(std::vector<LinkTotals>& totals, const Binding& binding,
                   const Topology& topology)
{
    for (std::size_t i = 0; i < binding.link_of.size(); ++i) {
        const LinkTotals& of = totals[binding.link_of[i].value];
        totals[i] = {make_id<LinkId>(i), of.bytes, of.busiest_share};
    }
    const Trunks trunks(topology);
    if (!trunks.any())
        return;
    std::unordered_map<LinkId, LinkTotals> carried;
    for (const LinkTotals& link : totals)
        if (trunks.links(link.link).size() > 1)
            carried.emplace(link.link, link);
    for (LinkTotals& link : totals)
        if (const auto of = carried.find(trunks.carrier(link.link)); of != carried.end()) {
            link.bytes = of->second.bytes / static_cast<double>(trunks.links(of->first).size());
            link.busiest_share = of->second.busiest_share;
        }
}

// Runs the program; a run without a record is kept under `key`.
Checked<std::shared_ptr<const Run>> find_run(Memo<Run>& memo, std::uint64_t key, const Parts& parts,
                                             const Binding& binding, const RunControl& control)
{
    Problems problems;
    const auto make = [&]() -> std::optional<Run> {
        Checked<Run> made = run(parts.plan->program, binding, control);
        if (made) {
            if (!made->result.links.empty())
                spread_totals(made->result.links, binding, *parts.topology);
            return std::move(*made);
        }
        problems = std::move(made.error());
        return std::nullopt;
    };
    if (!control.record.lane) {
        if (auto kept = memo.find_or_make(key, make))
            return kept;
    } else if (std::optional<Run> made = make())
        return std::make_shared<const Run>(std::move(*made));
    return tl::unexpected(std::move(problems));
}

// In a report of several jobs; `trainyard simulate` has a page for one.
Problems stuck_problem(const Stuck& stuck)
{
    const Culprit& first = stuck.standstill.culprits.front();
    const Lane& lane = stuck.binding->lanes[first.lane.value];
    return {{"", 0, "/perturbations",
             fmt::format("no step comes to its end: rank {} {} {} into the step", lane.rank.value,
                         first.stop.kind == StopKind::hangs ? "hangs" : "dies",
                         to_display(to_seconds(first.stop.at - stuck.measured_from))),
             "`trainyard simulate` shows who waits for whom", Severity::error}};
}

EngineReport engine_report(const Outcome& outcome, const TierUse& use,
                           const FidelityChoice& network)
{
    EngineReport report;
    report.use = use;
    report.network = network;
    report.ranks = outcome.job.world();
    report.lanes = static_cast<int>(outcome.binding->lanes.size());
    report.ops = outcome.result->ops;
    report.events = outcome.result->events;
    return report;
}

// In the fidelity that was chosen.
Scenario settled(Scenario scenario, const Parts& parts)
{
    scenario.run.fidelity = parts.network.fidelity;
    return scenario;
}

// What the parts know, before the run.
Outcome outcome_of(const Scenario& scenario, const Parts& parts)
{
    Outcome out;
    out.scenario = scenario;
    out.job = parts.job;
    out.topology = parts.topology;
    out.sound = parts.sound;
    out.cluster_devices = parts.cluster_devices;
    out.cost = parts.cost;
    out.plan = parts.plan;
    out.warnings = parts.warnings;
    return out;
}

} // namespace

struct Session::State {
    // Windows of slowness begin at `origin`.
    Checked<Bound> bind_and_run(const Parts& parts, const Scenario& scenario, SimTime origin,
                                const RunControl& control)
    {
        Bound out;
        out.key = binding_hash(parts, scenario, origin);
        out.options = bind_options(scenario, parts, origin);
        out.binding = find_binding(bindings, out.key, parts, out.options);
        const std::uint64_t run_key =
            hash_key(out.key, static_cast<std::uint64_t>(scenario.run.steps),
                     static_cast<std::uint64_t>(scenario.run.engine));
        Checked<std::shared_ptr<const Run>> made =
            find_run(runs, run_key, parts, *out.binding, control);
        if (!made)
            return tl::unexpected(std::move(made.error()));
        out.run = std::move(*made);
        return out;
    }

    // When the measured step begins, for conditions that count from there.
    Checked<SimTime> origin(const Parts& parts, const Scenario& scenario, const RunControl& control)
    {
        if (!has_windows(scenario.perturbations))
            return SimTime(0);
        Checked<Bound> before = bind_and_run(parts, before_windows(scenario), SimTime(0), control);
        if (!before)
            return tl::unexpected(std::move(before.error()));
        return measured_from(before->run->result);
    }

    // What `request` has against the ranks and ops that would be simulated, conditions aside.
    Problems laid_out(const Parts& parts, const Scenario& scenario, const SimulateRequest& request)
    {
        if (!request.laid_out)
            return {};
        const Scenario before =
            has_windows(scenario.perturbations) ? before_windows(scenario) : scenario;
        Outcome out = outcome_of(before, parts);
        out.binding = find_binding(bindings, binding_hash(parts, before, SimTime(0)), parts,
                                   bind_options(before, parts, SimTime(0)));
        return request.laid_out(out);
    }

    // Where `stuck` comes to rest; false where the measured step ends before anybody stops. Hosts
    // run ahead of their devices: who stops late in the step may leave it whole, and others wait in
    // one of the next. Hence steps after it are unrolled, until they hold everyone or say no more.
    Checked<bool> come_to_rest(const Parts& parts, Stuck& stuck, const WorkControl& work)
    {
        const Scenario& scenario = stuck.scenario;
        bool found = false;
        for (int after = 0; after <= most_steps_after; ++after) {
            Scenario longer = scenario;
            longer.run.steps = stuck.measured_step + after;
            const RunControl control = run_control(longer, work);
            std::shared_ptr<const Binding> binding =
                find_binding(bindings, binding_hash(parts, longer, stuck.measured_from), parts,
                             bind_options(longer, parts, stuck.measured_from));
            Checked<std::optional<Standstill>> rest =
                find_standstill(parts.plan->program, *binding, control);
            if (!rest)
                return tl::unexpected(std::move(rest.error()));
            if (*rest) {
                stuck.standstill = std::move(**rest);
                stuck.binding = std::move(binding);
                found = true;
                if (after > 0 && holds_everyone(stuck))
                    break;
            } else if (after == 0) {
                const Checked<Bound> whole =
                    bind_and_run(parts, scenario, stuck.measured_from, control);
                if (!whole)
                    return tl::unexpected(whole.error());
                if (!any_stops_before(*binding, whole->run->result.step_ends.back()))
                    return false;
            }
        }
        return found;
    }

    StageMemos memos;
    Memo<MemoryEstimate> memories{16};
    Memo<Binding> bindings{4};
    Memo<Run> runs{16};
};

Session::Session() : state_(std::make_unique<State>()) {}
Session::~Session() = default;

Checked<Outcome> Session::simulate(const ScenarioFile& file, const SimulateRequest& request)
{
    const auto began = std::chrono::steady_clock::now();
    Checked<Parts> parts = build_job_parts(file, state_->memos);
    if (!parts)
        return tl::unexpected(parts.error());
    const auto refused = [&](const MemoryEstimate& memory) {
        if (request.unfit != Unfit::refuse || memory.fits())
            return false;
        if (request.weighed)
            request.weighed(memory);
        return true;
    };
    if (request.unfit == Unfit::refuse) {
        // The least first: a plan adds what lives for a moment only, and takes longer.
        const MemoryEstimate least =
            estimate_least(parts->job, device_memory(parts->cost->profile()));
        if (refused(least))
            return tl::unexpected(fit_problems(least));
    }
    add_plan(*parts, file, state_->memos);
    const Scenario scenario = settled(file.scenario, *parts);
    request.work.check();
    if (Problems problems = state_->laid_out(*parts, scenario, request); !problems.empty())
        return tl::unexpected(std::move(problems));
    if (has_stops(scenario.perturbations)) {
        const Checked<std::optional<Stuck>> found = stuck(file, request.work);
        if (!found)
            return tl::unexpected(found.error());
        if (*found && !(*found)->standstill.culprits.empty())
            return tl::unexpected(stuck_problem(**found));
    }

    Outcome out = outcome_of(scenario, *parts);
    if (request.unfit == Unfit::refuse) {
        // What lives at once is quickly counted, and an allocator only adds to it.
        const auto live = find_memory(state_->memories, *parts, AllocatorView::nobody);
        if (refused(*live))
            return tl::unexpected(fit_problems(*live));
    }
    // Beside the run, unless it decides whether there is one.
    const bool first = request.unfit == Unfit::refuse || request.weighed;
    std::future<std::shared_ptr<const MemoryEstimate>> memory =
        std::async(first ? std::launch::deferred : std::launch::async | std::launch::deferred,
                   [&] { return find_memory(state_->memories, *parts, request.memory); });
    if (first) {
        out.memory = *memory.get();
        if (refused(out.memory))
            return tl::unexpected(fit_problems(out.memory));
        if (request.weighed)
            request.weighed(out.memory);
    }
    RunControl control = run_control(scenario, request.work);
    const Checked<SimTime> origin = state_->origin(*parts, scenario, control);
    if (!origin)
        return tl::unexpected(origin.error());
    if (request.record)
        control.record = *request.record;
    Checked<Bound> bound = state_->bind_and_run(*parts, scenario, *origin, control);
    if (!bound)
        return tl::unexpected(std::move(bound.error()));
    if (has_stops(scenario.perturbations))
        return tl::unexpected(stops_too_late(scenario, bound->run->result, *origin));
    append(out.warnings, idle_windows(scenario, bound->run->result, *origin));
    if (memory.valid())
        out.memory = *memory.get();
    out.binding = bound->binding;
    out.bound = std::move(bound->options);
    const std::shared_ptr<const Run> made = bound->run;
    out.result = std::shared_ptr<const StepResult>(made, &made->result);
    std::optional<OwnEvidence> own;
    if (const auto& mark = parts->cost->profile().own_steps)
        own = own_evidence(*mark, job_class(scenario, out.job));
    const JobTraits traits =
        traits_of(scenario, parts->job, parts->model_hash, parts->cost->profile());
    out.step_time =
        predict_step_time(to_seconds(out.result->step_time),
                          {.traits = traits,
                           .grade = grade_of(*parts->cost, parts->job, *parts->topology),
                           .constants = product_doubt_of(*parts->cost, parts->job),
                           .own = own});
    out.peak_memory = predict_peak(out.memory.peak(), traits);
    out.input_hash =
        hash_key(bound->key, json_hash(without_fidelity(file.json)), parts->model_hash);
    out.engine = engine_report(out, made->use, parts->network);
    out.engine.wall_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    return out;
}

Checked<std::optional<Stuck>> Session::stuck(const ScenarioFile& file, const WorkControl& work)
{
    Checked<Parts> parts = build_parts(file, state_->memos);
    if (!parts)
        return tl::unexpected(parts.error());
    const Scenario scenario = settled(file.scenario, *parts);
    work.check();
    const Checked<SimTime> origin = state_->origin(*parts, scenario, run_control(scenario, work));
    if (!origin)
        return tl::unexpected(origin.error());

    Stuck out{.scenario = scenario,
              .job = parts->job,
              .topology = parts->topology,
              .plan = parts->plan,
              .binding = nullptr,
              .standstill = {},
              .measured_from = *origin,
              .measured_step = steps_of(scenario),
              .warnings = parts->warnings};
    const Checked<bool> stops = state_->come_to_rest(*parts, out, work);
    if (!stops)
        return tl::unexpected(stops.error());
    if (!*stops)
        return std::nullopt;
    if (Problems problems = time_out_problems(out); !problems.empty())
        return tl::unexpected(std::move(problems));
    return out;
}

Checked<Samples> Session::samples(const ScenarioFile& file, int count, const WorkControl& work)
{
    Checked<Parts> parts = build_parts(file, state_->memos);
    if (!parts)
        return tl::unexpected(parts.error());
    return sample_steps(*parts, settled(file.scenario, *parts), count, work);
}

Checked<FidelityChoice> Session::fidelity(const ScenarioFile& file)
{
    Checked<Parts> parts = build_parts(file, state_->memos);
    if (!parts)
        return tl::unexpected(std::move(parts.error()));
    return parts->network;
}

Problems Session::check(const ScenarioFile& file)
{
    Checked<Parts> parts = build_parts(file, state_->memos);
    return parts ? parts->warnings : parts.error();
}

Problems Session::check_job(const ScenarioFile& file)
{
    Checked<Parts> parts = build_job_parts(file, state_->memos);
    return parts ? parts->warnings : parts.error();
}

Checked<MemoryEstimate> Session::memory(const ScenarioFile& file, const MemoryOptions& options)
{
    Checked<Parts> parts = build_job_parts(file, state_->memos);
    if (!parts)
        return tl::unexpected(parts.error());
    parts->plan = plan_of(*parts, state_->memos);
    // Others than the view are asked for by nobody else.
    if (options == MemoryOptions{.view = options.view})
        return *find_memory(state_->memories, *parts, options.view);
    return estimate_memory(parts->job, parts->plan->program, device_memory(parts->cost->profile()),
                           options);
}

Checked<PeakPrediction> Session::predicted_peak(const ScenarioFile& file, Bytes value)
{
    const Checked<Parts> parts = build_job_parts(file, state_->memos);
    if (!parts)
        return tl::unexpected(parts.error());
    return predict_peak(
        value, traits_of(file.scenario, parts->job, parts->model_hash, parts->cost->profile()));
}

Session::StageCounts Session::counts() const
{
    const StageMemos& memos = state_->memos;
    return {memos.topologies.built(), memos.models.built(),     memos.costs.models.built(),
            memos.plans.built(),      state_->memories.built(), state_->bindings.built(),
            state_->runs.built()};
}

} // namespace trainyard
