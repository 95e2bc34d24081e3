#include "sim/engine/replay/replay.h"

#include "sim/engine/interference.h"
#include "sim/engine/replay/compose.h"
#include "sim/engine/replay/leaper.h"
#include "sim/engine/replay/link_log.h"
#include "sim/engine/replay/place.h"
#include "sim/engine/replay/premises.h"
#include "sim/engine/replay/scribe.h"
#include "sim/engine/replay/step_mix.h"
#include "sim/engine/replay/tally.h"
#include "sim/engine/standstill.h"
#include "sim/engine/totals.h"

#include <algorithm>
#include <numeric>

namespace trainyard::engine {

namespace {

using namespace replay;

constexpr std::size_t instrs_between_checks = 1U << 12;
constexpr std::size_t most_kept = std::size_t{1} << 28;   // bytes
constexpr std::size_t most_logged = std::size_t{1} << 31; // likewise

class Replay {
public:
    Replay(const Program& program, const Binding& binding, const RunControl& control,
           const Kernels& kernels, Charging charging)
        : program_(program),
          binding_(binding),
          control_(control),
          kernels_(kernels),
          charging_(charging),
          compiled_(compile(program, binding))
    {}

    tl::expected<StepResult, Refusal> run()
    {
        if (auto refused = prepare())
            return tl::unexpected(std::move(*refused));
        play();
        if (charging_ == Charging::by_tape && !player_->fits())
            return Replay(program_, binding_, control_, kernels_, Charging::by_lane).run();
        return result();
    }

private:
    std::optional<Refusal> prepare();
    std::optional<Refusal> order_ops();
    std::optional<Refusal> steps_mix() const;
    bool keeps_too_much(const std::vector<Value>& kept) const;
    void play();
    Time latest_end();
    void start_lanes();
    void begin_step(std::uint32_t step);
    void play_step(int step);
    void play_run(const Run& run, int step);
    void play_instrs(const Run& run, int step);
    bool plays_all(int step) const;
    tl::expected<StepResult, Refusal> result();

    const Program& program_;
    const Binding& binding_;
    const RunControl& control_;
    const Kernels& kernels_;
    Charging charging_;
    CompiledProgram compiled_;
    Cohorts cohorts_;
    std::vector<Known> known_;
    IsEager eager_;
    SlowsCompute slows_;
    JoinsStages stages_;
    std::optional<Tables> tables_;
    std::optional<Composed> composed_;
    Regions regions_;
    Slices slices_;
    std::optional<Player> player_;
    std::optional<Leaper> leaper_;
    std::optional<Scribe> scribe_;
    std::optional<LinkLog> link_log_; // where links may be shared
    bool some_late_ = false;
    double latest_start_ = 0;   // ps, what lanes are late included
    std::size_t unchecked_ = 0; // instructions since the last look whether to go on
    std::vector<SimTime> step_ends_;
};

std::optional<Refusal> Replay::prepare()
{
    if (auto refused = refused_outright(binding_, control_))
        return refused;
    for (const Lane& lane : binding_.lanes) {
        some_late_ |= !lane.late.empty();
        const auto later = [](double sum, SimTime time) {
            return sum + static_cast<double>(time.value());
        };
        latest_start_ = std::max(latest_start_,
                                 std::accumulate(lane.late.begin(), lane.late.end(),
                                                 static_cast<double>(lane.start.value()), later));
    }
    auto cohorts = gather_cohorts(program_, binding_, compiled_);
    if (!cohorts)
        return Refusal{"some rank never comes to a transfer of its group or neighbour"};
    cohorts_ = std::move(*cohorts);
    if (auto refused = order_ops())
        return refused;
    if (could_overflow(cohorts_, composed_->tape, control_.steps, latest_start_))
        return Refusal{"the steps may take longer than the clock counts"};
    const std::vector<Value> kept = tallied_values(cohorts_, composed_->tape, composed_->charges);
    if (keeps_too_much(kept))
        return Refusal{"the times of all ops are more than it holds"};
    for (const Value value : kept)
        keep(composed_->tape, value);
    scribe_.emplace(program_, binding_, cohorts_, known_, composed_->tape, control_.record);
    if (control_.fidelity == Fidelity::bundle) {
        link_log_.emplace(binding_, cohorts_, composed_->tape);
        if (link_log_->size_of_step() * static_cast<std::size_t>(control_.steps) > most_logged)
            return Refusal{"the times of all transfers are more than it holds"};
    }
    if (!link_log_ && control_.mechanisms.has(Mechanism::stretches))
        regions_ =
            find_regions(cohorts_, composed_->tape, static_cast<std::uint32_t>(control_.steps));
    slices_ = scribe_->wants_any() || link_log_ || !control_.mechanisms.has(Mechanism::slices)
                  ? without_slices(composed_->tape)
                  : find_slices(cohorts_, composed_->tape, regions_);
    place_values(composed_->tape, cohorts_, slices_);
    player_.emplace(cohorts_, *composed_, *tables_, kernels_);
    leaper_.emplace(*player_, cohorts_, composed_->tape, regions_, slices_);
    return std::nullopt;
}

std::optional<Refusal> Replay::order_ops()
{
    tables_.emplace(program_, binding_, cohorts_);
    auto stages = find_stages(binding_, cohorts_);
    if (!stages)
        return Refusal{"groups of one kind join stages and others do not"};
    stages_ = std::move(*stages);
    auto eager = find_eager(cohorts_, *tables_);
    if (!eager)
        return Refusal{"some messages of an op are eager and others are not"};
    eager_ = std::move(*eager);
    slows_ = find_slowing(binding_, cohorts_, *tables_);
    known_.reserve(cohorts_.all.size());
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c)
        known_.emplace_back(*cohorts_.all[c].kind, slows_[c].empty() ? Known::StepBefore::ignored
                                                                     : Known::StepBefore::matters);
    if (auto refused = steps_mix())
        return refused;
    const OrderRequest request{cohorts_, known_, eager_, slows_};
    const std::vector<Act> acts = order_of(request);
    const bool empty = std::all_of(cohorts_.all.begin(), cohorts_.all.end(),
                                   [](const Cohort& cohort) { return cohort.kind->op_count == 0; });
    if (acts.empty() && !empty)
        return Refusal{
            slows_.empty() || slows_.front().empty()
                ? "ops of different ranks wait for each other in a circle"
                : "what slows compute on one rank depends on what slows it on another, and back"};
    composed_ = compose({program_, request, stages_, charging_}, acts, *tables_);
    if (!composed_)
        return Refusal{"ranks do not agree about a transfer"};
    return std::nullopt;
}

// Only the transfers of a step and of the one before are known when compute starts.
std::optional<Refusal> Replay::steps_mix() const
{
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c) {
        const LaneKind& kind = *cohorts_.all[c].kind;
        if (slows_[c].empty())
            continue;
        if (control_.steps > 1 && steps_interfere(kind, known_[c], slows_[c]))
            return Refusal{"a step may begin to communicate while the one before computes"};
        if (control_.steps > 2 && outlasts_a_step(kind, known_[c], slows_[c]))
            return Refusal{"a transfer may last until the step after the next computes"};
    }
    return std::nullopt;
}

// Lanes that are charged one at a time need the times of all their ops.
bool Replay::keeps_too_much(const std::vector<Value>& kept) const
{
    std::size_t bytes = 0;
    for (const Value value : kept) {
        const std::uint32_t c = composed_->tape.values[value].cohort;
        if (!composed_->charges[c].on_tape)
            bytes += cohorts_.all[c].lanes.size() * sizeof(Time);
    }
    return bytes > most_kept;
}

void Replay::play()
{
    start_lanes();
    control_.work.check();
    for (int step = 0; step < control_.steps; ++step) {
        play_step(step);
        step_ends_.emplace_back(latest_end());
        if (step + 1 < control_.steps)
            player_->carry();
    }
}

// Of this step and those before.
Time Replay::latest_end()
{
    Time latest = step_ends_.empty() ? 0 : step_ends_.back().value();
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c)
        if (cohorts_.all[c].kind->op_count > 0)
            latest =
                std::max(latest, kernels_.greatest(player_->column(composed_->tape.lane_ends[c]),
                                                   cohorts_.all[c].lanes.size()));
    return latest;
}

void Replay::start_lanes()
{
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c) {
        const Inputs& in = composed_->tape.inputs[c];
        const std::size_t lanes = cohorts_.all[c].lanes.size();
        for_each_value(in, [&](Value value) { std::fill_n(player_->column(value), lanes, 0); });
        Time* start = player_->column(in.lane_start);
        for (std::uint32_t i = 0; i < lanes; ++i)
            start[i] = binding_.lanes[cohorts_.all[c].lanes[i]].start.value();
        std::copy_n(start, lanes, player_->column(in.opened));
        std::copy_n(start, lanes, player_->column(in.base));
    }
}

// The host of a late lane begins a step later.
void Replay::begin_step(std::uint32_t step)
{
    tables_->begin_step(step);
    for (std::uint32_t c = 0; c < cohorts_.all.size() && some_late_; ++c) {
        Time* base = player_->column(composed_->tape.inputs[c].base);
        for (const std::uint32_t l : cohorts_.all[c].lanes) {
            const std::vector<SimTime>& late = binding_.lanes[l].late;
            *base++ += step < late.size() ? late[step].value() : 0;
        }
    }
}

void Replay::play_step(int step)
{
    begin_step(static_cast<std::uint32_t>(step));
    const bool recorded = scribe_->wants(step);
    if (recorded)
        scribe_->begin_step(*player_);
    player_->take_all();
    player_->measure(step + 1 == control_.steps);
    if (plays_all(step))
        play_instrs({0, static_cast<std::uint32_t>(composed_->tape.instrs.size()), false}, step);
    else
        for (const Run& run : slices_.runs)
            play_run(run, step);
    player_->take_all();
    if (recorded)
        scribe_->end_step(step);
    if (step + 1 == control_.steps)
        leaper_->settle(*player_);
}

// One instruction after the other on all lanes: somebody looks at what each leaves behind.
bool Replay::plays_all(int step) const
{
    return scribe_->wants(step) || link_log_;
}

void Replay::play_run(const Run& run, int step)
{
    if (!run.sliced) {
        player_->take_all();
        return play_instrs(run, step);
    }
    for (const Slice& slice : slices_.slices) {
        player_->take_slice(slice);
        play_instrs(run, step);
    }
}

void Replay::play_instrs(const Run& run, int step)
{
    const bool measured = step + 1 == control_.steps;
    const bool recorded = scribe_->wants(step);
    const auto& instrs = composed_->tape.instrs;
    for (std::uint32_t i = run.first; i < run.end; ++i) {
        if (++unchecked_ > instrs_between_checks) {
            control_.work.check();
            unchecked_ = 0;
        }
        const Stretch* stretch = leaper_->at(i);
        if (stretch != nullptr && !plays_all(step) && leaper_->leap(*player_, *stretch, measured)) {
            i += stretch->instr_count - 1;
            continue;
        }
        if (instrs[i].measured && !measured)
            continue;
        player_->play(instrs[i]);
        if (recorded)
            scribe_->note(*player_, instrs[i]);
        if (link_log_)
            link_log_->note(*player_, instrs[i]);
    }
}

tl::expected<StepResult, Refusal> Replay::result()
{
    StepResult result;
    set_steps(result, step_ends_);
    for (const Cohort& cohort : cohorts_.all)
        result.ops += std::uint64_t{cohort.kind->op_count} * cohort.lanes.size() *
                      static_cast<std::uint64_t>(control_.steps);
    tally({program_, binding_, cohorts_, known_, stages_, slows_, *composed_}, *tables_, *player_,
          result);
    result.records = scribe_->take();
    if (link_log_) {
        auto links = link_log_->totals((result.step_ends.back() - result.step_time).value());
        if (!links)
            return tl::unexpected(Refusal{"transfers want more of a link than it carries"});
        result.links = std::move(*links);
    }
    return result;
}

} // namespace

std::optional<Refusal> refused_outright(const Binding& binding, const RunControl& control)
{
    if (knows_steps(control.fidelity))
        return Refusal{"collectives may go step by step"};
    if (has_windows(binding))
        return Refusal{"some rank is slow for a time"};
    if (control.fidelity != Fidelity::alpha_beta && !binding.link_windows.empty())
        return Refusal{"some link changes for a time"};
    if (any_stops(binding))
        return Refusal{"a rank hangs or dies"};
    return std::nullopt;
}

tl::expected<StepResult, Refusal> run_replay(const Program& program, const Binding& binding,
                                             const RunControl& control, const Kernels& kernels)
{
    return Replay(program, binding, control, kernels, Charging::by_tape).run();
}

tl::expected<StepResult, Refusal> run_replay(const Program& program, const Binding& binding,
                                             const RunControl& control)
{
    const bool vectors = control.mechanisms.has(Mechanism::vector_code);
    return run_replay(program, binding, control,
                      vectors ? fastest_kernels() : *usable_kernels().front());
}

} // namespace trainyard::engine
