#include "sim/study/search/points.h"

#include "sim/study/search/search.h"
#include "sim/study/session.h"

namespace trainyard {

namespace {

struct InVain {};

PointFacts simulated(const ScenarioFile& file, Session& session, const CancelFlag* cancel,
                     const PointLimits& limits)
{
    PointFacts facts;
    SimulateRequest simulate;
    simulate.work.cancel = cancel;
    simulate.unfit = Unfit::refuse;
    simulate.memory = AllocatorView::nobody;
    bool too_large = false;
    simulate.weighed = [&](const MemoryEstimate& memory) {
        too_large = !memory.fits();
        facts.peak = memory.peak();
        facts.capacity = memory.capacity;
        if (!too_large && limits.least > Seconds(0) && limits.least > limits.limit(facts.peak))
            throw InVain{}; // of the step, which is the longest part
    };
    Checked<Outcome> outcome = tl::unexpected(Problems{});
    try {
        outcome = session.simulate(file, simulate);
    } catch (const InVain&) {
        facts.kind = PointFacts::Kind::beaten;
        return facts;
    }
    if (!outcome) {
        facts.kind = too_large ? PointFacts::Kind::too_large : PointFacts::Kind::refused;
        facts.pointer = too_large ? "" : outcome.error().front().pointer;
        return facts;
    }
    facts.step_time = to_seconds(outcome->result->step_time);
    facts.peak = outcome->memory.peak();
    facts.capacity = outcome->memory.capacity;
    return facts;
}

} // namespace

Seconds per_sequence(Seconds step, const LayoutChoice& choice)
{
    return step / static_cast<double>(choice.global_batch);
}

bool PointLimits::may_be_best(const LayoutChoice& choice, const PointFacts& facts) const
{
    return facts.kind == PointFacts::Kind::timed && facts.peak <= room &&
           per_sequence(facts.step_time, choice) <= limit(facts.peak);
}

PointFacts EnginePoints::facts(const LayoutChoice& choice, const PointLimits& limits,
                               const std::optional<PointFacts>& known)
{
    const ScenarioFile file = scenario_of(choice, base_);
    PointFacts facts = known ? *known : simulated(file, session_, cancel_, limits);
    if (facts.reserved || !limits.may_be_best(choice, facts))
        return facts;
    const Checked<MemoryEstimate> memory =
        session_.memory(file, {.view = AllocatorView::every_stage});
    if (memory) {
        facts.reserved = memory->peak();
    } else {
        facts.kind = PointFacts::Kind::refused;
        facts.pointer = memory.error().front().pointer;
    }
    return facts;
}

} // namespace trainyard
