#include "sim/engine/replay/replay.h"

#include "sim/engine/replay/generated_code.h"
#include "sim/engine/replay/preconditions.h"
#include "sim/engine/replay/replay_recorder.h"
#include "sim/engine/replay/slices.h"
#include "sim/engine/replay/step_totals.h"
#include "sim/engine/replay/stretch_cache.h"
#include "sim/engine/slowdown.h"
#include "sim/engine/standstill.h"
#include "sim/engine/totals.h"

#include <algorithm>
#include <numeric>

namespace trainyard::engine {

namespace {

using namespace replay;

constexpr std::size_t instrs_between_checks = 1U << 12;
constexpr std::size_t most_kept = std::size_t{1} << 28; // bytes

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
        run_steps();
        if (charging_ == Charging::vectorized && !interpreter_->fits())
            return Replay(program_, binding_, control_, kernels_, Charging::by_lane).run();
        return result();
    }

private:
    std::optional<Refusal> prepare();
    std::optional<Refusal> order_ops();
    std::optional<Refusal> check_steps() const;
    bool keeps_too_much(const std::vector<Value>& kept) const;
    void run_steps();
    Time latest_end();
    void start_lanes();
    void begin_step(std::uint32_t step);
    void execute_step(int step);
    void execute_range(const InstrRange& range, int step);
    void execute_instrs(const InstrRange& range, int step);
    StepResult result();

    const Program& program_;
    const Binding& binding_;
    const RunControl& control_;
    const Kernels& kernels_;
    Charging charging_;
    CompiledProgram compiled_;
    LaneClasses classes_;
    std::vector<Precedence> precedence_;
    IsEager eager_;
    SlowsCompute slows_;
    JoinsStages stages_;
    std::optional<Tables> tables_;
    std::optional<GeneratedCode> generated_;
    Stretches stretches_;
    Slices slices_;
    std::optional<Interpreter> interpreter_;
    std::optional<StretchCache> stretch_cache_;
    std::optional<ReplayRecorder> recorder_;
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
    auto lane_classes = classify_lanes(program_, binding_, compiled_);
    if (!lane_classes)
        return Refusal{"some rank never comes to a transfer of its group or neighbour"};
    classes_ = std::move(*lane_classes);
    if (auto refused = order_ops())
        return refused;
    if (could_overflow(classes_, generated_->code, control_.steps, latest_start_))
        return Refusal{"the steps may take longer than the clock counts"};
    const std::vector<Value> kept =
        values_for_totals(classes_, generated_->code, generated_->charge_plans);
    if (keeps_too_much(kept))
        return Refusal{"the times of all ops are more than it holds"};
    for (const Value value : kept)
        keep(generated_->code, value);
    recorder_.emplace(program_, binding_, classes_, precedence_, generated_->code, control_.record);
    if (control_.mechanisms.has(Mechanism::stretches))
        stretches_ =
            find_stretches(classes_, generated_->code, static_cast<std::uint32_t>(control_.steps));
    slices_ = recorder_->wants_any() || !control_.mechanisms.has(Mechanism::slices)
                  ? without_slices(generated_->code)
                  : find_slices(classes_, generated_->code, stretches_);
    allocate_columns(generated_->code, classes_, slices_);
    interpreter_.emplace(classes_, *generated_, *tables_, kernels_);
    stretch_cache_.emplace(*interpreter_, classes_, generated_->code, stretches_, slices_);
    return std::nullopt;
}

std::optional<Refusal> Replay::order_ops()
{
    tables_.emplace(program_, binding_, classes_);
    auto stages = find_stages(binding_, classes_);
    if (!stages)
        return Refusal{"groups of one kind join stages and others do not"};
    stages_ = std::move(*stages);
    auto eager = find_eager(classes_, *tables_);
    if (!eager)
        return Refusal{"some messages of an op are eager and others are not"};
    eager_ = std::move(*eager);
    slows_ = find_slowing(binding_, classes_, *tables_);
    precedence_.reserve(classes_.all.size());
    for (std::uint32_t c = 0; c < classes_.all.size(); ++c)
        precedence_.emplace_back(*classes_.all[c].kind, slows_[c].empty()
                                                            ? Precedence::PreviousStep::ignored
                                                            : Precedence::PreviousStep::matters);
    if (auto refused = check_steps())
        return refused;
    const OrderRequest request{classes_, precedence_, eager_, slows_};
    const std::vector<Action> actions = topological_order(request);
    const bool empty =
        std::all_of(classes_.all.begin(), classes_.all.end(),
                    [](const LaneClass& lane_class) { return lane_class.kind->op_count == 0; });
    if (actions.empty() && !empty)
        return Refusal{
            slows_.empty() || slows_.front().empty()
                ? "ops of different ranks wait for each other in a circle"
                : "what slows compute on one rank depends on what slows it on another, and back"};
    generated_ = generate_code({program_, request, stages_, charging_}, actions, *tables_);
    if (!generated_)
        return Refusal{"ranks do not agree about a transfer"};
    return std::nullopt;
}

// Only the transfers of a step and of the one before are known when compute starts.
std::optional<Refusal> Replay::check_steps() const
{
    for (std::uint32_t c = 0; c < classes_.all.size(); ++c) {
        const LaneKind& kind = *classes_.all[c].kind;
        if (slows_[c].empty())
            continue;
        if (control_.steps > 1 && steps_interfere(kind, precedence_[c], slows_[c]))
            return Refusal{"a step may begin to communicate while the one before computes"};
        if (control_.steps > 2 && outlasts_a_step(kind, precedence_[c], slows_[c]))
            return Refusal{"a transfer may last until the step after the next computes"};
    }
    return std::nullopt;
}

// Lanes that are charged one at a time need the times of all their ops.
bool Replay::keeps_too_much(const std::vector<Value>& kept) const
{
    std::size_t bytes = 0;
    for (const Value value : kept) {
        const std::uint32_t c = generated_->code.values[value].lane_class;
        if (!generated_->charge_plans[c].vectorized)
            bytes += classes_.all[c].lanes.size() * sizeof(Time);
    }
    return bytes > most_kept;
}

void Replay::run_steps()
{
    start_lanes();
    control_.work.check();
    for (int step = 0; step < control_.steps; ++step) {
        execute_step(step);
        step_ends_.emplace_back(latest_end());
        if (step + 1 < control_.steps)
            interpreter_->carry();
    }
}

// The latest end of this step and those before.
Time Replay::latest_end()
{
    Time latest = step_ends_.empty() ? 0 : step_ends_.back().value();
    for (std::uint32_t c = 0; c < classes_.all.size(); ++c)
        if (classes_.all[c].kind->op_count > 0)
            latest = std::max(latest,
                              kernels_.greatest(interpreter_->column(generated_->code.lane_ends[c]),
                                                classes_.all[c].lanes.size()));
    return latest;
}

void Replay::start_lanes()
{
    for (std::uint32_t c = 0; c < classes_.all.size(); ++c) {
        const Inputs& in = generated_->code.inputs[c];
        const std::size_t lanes = classes_.all[c].lanes.size();
        for_each_value(in,
                       [&](Value value) { std::fill_n(interpreter_->column(value), lanes, 0); });
        Time* start = interpreter_->column(in.lane_start);
        for (std::uint32_t i = 0; i < lanes; ++i)
            start[i] = binding_.lanes[classes_.all[c].lanes[i]].start.value();
        std::copy_n(start, lanes, interpreter_->column(in.opened));
        std::copy_n(start, lanes, interpreter_->column(in.base));
    }
}

// The host of a late lane begins a step later.
void Replay::begin_step(std::uint32_t step)
{
    tables_->begin_step(step);
    for (std::uint32_t c = 0; c < classes_.all.size() && some_late_; ++c) {
        Time* base = interpreter_->column(generated_->code.inputs[c].base);
        for (const std::uint32_t l : classes_.all[c].lanes) {
            const std::vector<SimTime>& late = binding_.lanes[l].late;
            *base++ += step < late.size() ? late[step].value() : 0;
        }
    }
}

void Replay::execute_step(int step)
{
    begin_step(static_cast<std::uint32_t>(step));
    const bool recorded = recorder_->wants(step);
    if (recorded)
        recorder_->begin_step(*interpreter_);
    interpreter_->select_all();
    interpreter_->measure(step + 1 == control_.steps);
    if (recorder_->wants(step))
        execute_instrs({0, static_cast<std::uint32_t>(generated_->code.instrs.size()), false},
                       step);
    else
        for (const InstrRange& range : slices_.ranges)
            execute_range(range, step);
    interpreter_->select_all();
    if (recorded)
        recorder_->end_step(step);
    if (step + 1 == control_.steps)
        stretch_cache_->add_sums(*interpreter_);
}

void Replay::execute_range(const InstrRange& range, int step)
{
    if (!range.sliced) {
        interpreter_->select_all();
        return execute_instrs(range, step);
    }
    for (const Slice& slice : slices_.slices) {
        interpreter_->select_slice(slice);
        execute_instrs(range, step);
    }
}

void Replay::execute_instrs(const InstrRange& range, int step)
{
    const bool measured = step + 1 == control_.steps;
    const bool recorded = recorder_->wants(step);
    const auto& instrs = generated_->code.instrs;
    for (std::uint32_t i = range.first; i < range.end; ++i) {
        if (++unchecked_ > instrs_between_checks) {
            control_.work.check();
            unchecked_ = 0;
        }
        const Stretch* stretch = stretch_cache_->at(i);
        if (stretch != nullptr && !recorder_->wants(step) &&
            stretch_cache_->apply(*interpreter_, *stretch, measured))
        {
            i += stretch->instr_count - 1;
            continue;
        }
        if (instrs[i].measured && !measured)
            continue;
        interpreter_->execute(instrs[i]);
        if (recorded)
            recorder_->note(*interpreter_, instrs[i]);
    }
}

StepResult Replay::result()
{
    StepResult result;
    set_steps(result, step_ends_);
    for (const LaneClass& lane_class : classes_.all)
        result.ops += std::uint64_t{lane_class.kind->op_count} * lane_class.lanes.size() *
                      static_cast<std::uint64_t>(control_.steps);
    fill_totals({program_, binding_, classes_, precedence_, stages_, slows_, *generated_,
                 kind_at_the_end(binding_.lanes)},
                *tables_, *interpreter_, result);
    result.records = recorder_->take();
    return result;
}

} // namespace

std::optional<Refusal> refused_outright(const Binding& binding, const RunControl& control)
{
    if (shares_links(control.fidelity))
        return Refusal{"transfers may slow each other on a link"};
    if (has_windows(binding))
        return Refusal{"some rank is slow for a time"};
    if (any_stops(binding))
        return Refusal{"a rank hangs or dies"};
    return std::nullopt;
}

tl::expected<StepResult, Refusal> run_replay(const Program& program, const Binding& binding,
                                             const RunControl& control, const Kernels& kernels)
{
    return Replay(program, binding, control, kernels, Charging::vectorized).run();
}

tl::expected<StepResult, Refusal> run_replay(const Program& program, const Binding& binding,
                                             const RunControl& control)
{
    const bool vectors = control.mechanisms.has(Mechanism::vector_code);
    return run_replay(program, binding, control,
                      vectors ? fastest_kernels() : *usable_kernels().front());
}

} // namespace trainyard::engine
