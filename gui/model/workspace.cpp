#include "gui/model/workspace.h"

#include "sim/study/inputs.h"

#include <algorithm>
#include <utility>

namespace trainyard::gui {

namespace {

// What the pictures span: the last step.
TimeRange span_of(const StepResult& result)
{
    const std::vector<SimTime>& ends = result.step_ends;
    const SimTime from = ends.size() > 1 ? ends[ends.size() - 2] : SimTime(0);
    const SimTime to = ends.empty() ? result.step_time : ends.back();
    return {from, std::max(to, from + SimTime(1))};
}

} // namespace

Workspace::Workspace(QObject* parent) : QObject(parent)
{
    connect(&document_, &Document::changed, this, &Workspace::simulate);
    connect(&document_, &Document::loaded, this, [this] { fresh_ = true; });
    connect(&live_, &LiveRun::finished, this, &Workspace::take);
    // Cancelled: the same scenario may be asked for again.
    connect(&live_, &LiveRun::stopped, this, [this] {
        simulated_ = Json();
        cancelled_ = true;
        emit runChanged();
    });
}

void Workspace::simulate_again()
{
    if (!document_.json().is_object() || document_.json().members().empty())
        return; // there is none yet
    simulated_ = Json();
    simulate();
}

void Workspace::simulate()
{
    if (document_.json() == simulated_ && !simulated_.is_null())
        return; // saved, or named
    simulated_ = document_.json();
    current_ = cancelled_ = false;
    lookahead_.drop();
    Checked<ScenarioFile> file = document_.read();
    if (!file) {
        live_.cancel();
        problems_ = std::move(file.error());
        emit problemsChanged();
        emit runChanged();
        return;
    }
    const bool all = all_lanes_wanted_ && lanes_ == LaneChoice{};
    live_.request(std::move(*file), ops_wanted_ ? Detail::ops : Detail::headline,
                  all ? LaneChoice{LanesOf::all} : lanes_);
}

void Workspace::take(const std::shared_ptr<const RunView>& run)
{
    problems_ = run->problems;
    emit problemsChanged();
    current_ = run->outcome != nullptr;
    std::shared_ptr<const RunView> before; // freed when all have seen the new one
    if (current_) {
        before = std::exchange(run_, run);
        keep_before(before);
        view_.begin_run(span_of(*run->outcome->result));
        view_.keep_within(static_cast<std::size_t>(run->outcome->engine.ranks),
                          run->outcome->topology->link_count());
    }
    emit runChanged();
    if (run->recorded) {
        recorded_ = run;
        emit recordedChanged();
    }
}

// The second answer of the same request, and the next of the same gesture, change nothing.
void Workspace::keep_before(const std::shared_ptr<const RunView>& before)
{
    const int step = document_.undo_stack().index();
    if (before != nullptr && before->file == run_->file)
        return;
    if (std::exchange(fresh_, false))
        before_.reset();
    else if (step != run_step_)
        before_ = before;
    run_step_ = step;
}

void Workspace::pin_baseline()
{
    baseline_live_.reset();
    baseline_ = run_;
    emit baselineChanged();
}

void Workspace::pin_baseline_of(Json scenario, const std::string& file)
{
    clear_baseline();
    Checked<ScenarioFile> read = scenario_from(std::move(scenario), file);
    if (!read) {
        refuse_baseline(std::move(read.error()));
        return;
    }
    baseline_live_ = std::make_unique<LiveRun>();
    connect(baseline_live_.get(), &LiveRun::finished, this,
            [this](const std::shared_ptr<const RunView>& run) {
                if (run->outcome == nullptr) {
                    refuse_baseline(run->problems);
                    return;
                }
                baseline_ = run;
                emit baselineChanged();
            });
    baseline_live_->request(std::move(*read), Detail::headline);
}

// A place in the baseline is no place in the scenario's form: nothing points to it.
void Workspace::refuse_baseline(Problems problems)
{
    for (Diagnostic& problem : problems) {
        problem.message = "the baseline cannot run: " + problem.message;
        problem.pointer.clear();
    }
    emit baselineRefused(problems);
}

void Workspace::clear_baseline()
{
    baseline_live_.reset();
    baseline_.reset();
    emit baselineChanged();
}

void Workspace::set_price(const Price& price)
{
    if (price == price_)
        return;
    price_ = price;
    emit priceChanged();
}

void Workspace::set_lanes(const LaneChoice& lanes)
{
    if (lanes == lanes_)
        return;
    lanes_ = lanes;
    simulate_again();
}

void Workspace::want_all_lanes(bool wanted)
{
    const bool more = wanted && !all_lanes_wanted_;
    all_lanes_wanted_ = wanted;
    if (more && lanes_ == LaneChoice{} && (!recorded_ || recorded_->lanes == lanes_))
        simulate_again();
}

void Workspace::want_ops(bool wanted)
{
    const bool more = wanted && !ops_wanted_;
    ops_wanted_ = wanted;
    const bool stale = recorded_ == nullptr || run_ == nullptr || recorded_->file != run_->file;
    if (!more || !stale || simulated_.is_null())
        return;
    simulated_ = Json(); // again, with records
    simulate();
}

} // namespace trainyard::gui
