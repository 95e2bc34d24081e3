#include "sim/study/jobs/layout_trials.h"

#include <algorithm>

namespace trainyard {
namespace {

// Micro-batches x layers that are simulated in all: 30,000 a second or more.
constexpr std::int64_t most_passes = 100'000;
// One layout takes no more than this part of those that are left.
constexpr std::int64_t most_of_left = 6;
constexpr double usual_trials = 20;

} // namespace

LayoutTrials::LayoutTrials(const StartRequest& request, Session& session, const LayoutFacts& facts,
                           Scenario base)
    : request_(request), session_(session), facts_(facts), base_(std::move(base))
{}

Scenario LayoutTrials::scenario_of(const Layout& layout) const
{
    Scenario out = base_;
    out.strategy = layout.strategy;
    out.software.framework = layout.framework;
    out.training.recompute = layout.recompute;
    out.training.micro_batch = layout.micro_batch;
    return out;
}

ScenarioFile LayoutTrials::file_of(const Scenario& scenario) const
{
    return scenario_in_memory(scenario, request_.folder, "the new scenario");
}

bool LayoutTrials::within_share(const MemoryEstimate& memory) const
{
    return static_cast<double>(memory.peak().value()) <=
           share_ * static_cast<double>(memory.capacity.value());
}

std::optional<MemoryEstimate> LayoutTrials::fitting(const Layout& layout)
{
    ++memory_checks_;
    return fitting(scenario_of(layout));
}

std::optional<MemoryEstimate> LayoutTrials::fitting(const Scenario& scenario)
{
    request_.work.check();
    Checked<MemoryEstimate> memory = session_.memory(file_of(scenario));
    if (!memory) {
        if (problems_.empty())
            problems_ = memory.error();
        return std::nullopt;
    }
    if (!leanest_ || memory->peak() < leanest_->memory.peak())
        leanest_ = WeighedScenario{scenario, *memory};
    if (!within_share(*memory))
        return std::nullopt;
    return std::move(*memory);
}

std::int64_t LayoutTrials::passes_of(const Layout& layout) const
{
    const Transformer* model = facts_.transformer();
    return facts_.global_batch / (layout.micro_batch * *layout.strategy.dp) *
           (model != nullptr ? model->layers : 1);
}

bool LayoutTrials::affords(const Layout& layout) const
{
    return most_of_left * passes_of(layout) <= most_passes - passes_;
}

std::optional<Seconds> LayoutTrials::simulate(const Layout& layout, MemoryEstimate memory)
{
    Scenario scenario = scenario_of(layout);
    const std::optional<Seconds> time = step_time(scenario);
    if (!time)
        return time;
    passes_ += passes_of(layout);
    trials_.push_back({layout, std::move(scenario), std::move(memory), *time});
    request_.work.report("layouts", std::min(usual_trials, static_cast<double>(trials_.size())),
                         usual_trials);
    return time;
}

std::optional<Seconds> LayoutTrials::step_time(const Scenario& scenario)
{
    Checked<Outcome> outcome = session_.simulate(
        file_of(scenario),
        {.record = {}, .work = {request_.work.cancel, {}}, .memory = AllocatorView::fullest_stage});
    if (!outcome) {
        if (problems_.empty())
            problems_ = outcome.error();
        return std::nullopt;
    }
    return outcome->step_time.value;
}

const LayoutTrial& LayoutTrials::best() const
{
    return *std::ranges::min_element(trials_, {}, &LayoutTrial::step_time);
}

} // namespace trainyard
