// What there is to sweep of the scenario, and what of it is chosen.

#include "gui/explore/explore_panel.h"
#include "gui/explore/ranges_view.h"

#include <QTabWidget>
#include <QTimer>
#include <utility>

namespace trainyard::gui {

namespace {

// What is wrong, and the way out.
QString words_of(const Diagnostic& problem)
{
    return QString::fromStdString(problem.hint.empty() ? problem.message
                                                       : problem.message + ": " + problem.hint);
}

} // namespace

void ExplorePanel::follow_document()
{
    follow_origin();
    follow_here();
    if (in_sight()) {
        facts_timer_->start();
        emit busyChanged();
    }
    tell_plan();
}

// After a cancel the next run reads again what there is to sweep.
void ExplorePanel::follow_run()
{
    follow_here();
    if (!facts_ && workspace_.current() && !finding_facts())
        follow_document();
    else
        tell_plan();
}

void ExplorePanel::follow_sight()
{
    compare_->set_in_sight(in_sight());
    follow_document();
}

void ExplorePanel::find_facts()
{
    facts_timer_->stop();
    facts_task_.cancel();
    const Json& json = workspace_.document().json();
    if (json.is_object() && !json.members().empty()) {
        Checked<ScenarioFile> file = workspace_.document().read();
        if (file)
            facts_task_.start([this, file = std::make_shared<const ScenarioFile>(std::move(*file))](
                                  const WorkControl&) -> BackgroundTask::Answer {
                return [this, facts = sweep_facts(*file), cluster = cluster_of(*file)] {
                    cluster_ = cluster;
                    follow_origin();
                    follow_here();
                    take_facts(facts);
                };
            });
        else
            take_facts(tl::unexpected(std::move(file.error())));
    }
    emit busyChanged();
}

bool ExplorePanel::finding_facts() const
{
    return facts_task_.busy() || facts_timer_->isActive();
}

void ExplorePanel::cancel_facts()
{
    if (!finding_facts())
        return;
    facts_timer_->stop();
    facts_task_.cancel();
    refuse_facts(tr("Cancelled. Run > Simulate again (F5) reads what there is to sweep."));
    emit busyChanged();
}

void ExplorePanel::refuse_facts(const QString& why)
{
    facts_.reset();
    plan_.reset();
    refusal_ = why;
    tell_plan();
    show_page();
}

void ExplorePanel::take_facts(const Checked<SweepFacts>& facts)
{
    if (!facts) {
        refuse_facts(facts.error().empty() ? QString() : words_of(facts.error().front()));
        return;
    }
    const std::vector<SweptField> old = swept_fields(ranges_->ranges());
    facts_ = *facts;
    std::vector<AxisRange> ranges = ranges_of(*facts_, workspace_.document(), cluster());
    choose(ranges, Preset::parallel, *facts_);
    if (!awaited_.empty())
        choose_as(ranges, std::exchange(awaited_, {}));
    else if (!old.empty())
        choose_as(ranges, old);
    set_ranges(std::move(ranges));
    if (picture_wanted_)
        prepare_picture();
}

ExploreState ExplorePanel::state() const
{
    ExploreState out{awaited_,
                     scatter_->choice(),
                     parallel_->model().choice(),
                     importance_->choice(),
                     static_cast<const Panel*>(pictures_->currentWidget())->key(),
                     compare_->pins(),
                     file_};
    if (awaited_.empty())
        out.swept = swept_fields(ranges_->ranges());
    for (Pin& pin : out.pins)
        pin.index.reset();
    return out;
}

void ExplorePanel::restore(const ExploreState& state)
{
    awaited_ = state.swept;
    scatter_->set_choice(state.axes);
    follow_colour();
    parallel_->set_choice(state.parallel);
    importance_->set_choice(state.explained);
    show_part(state.picture);
    compare_->set_pins(state.pins);
    if (!state.file.empty() && state.file != file_)
        read_again(state.file);
    follow_document();
}

void ExplorePanel::apply_preset(int preset)
{
    if (!facts_ || preset < 0)
        return;
    std::vector<AxisRange> ranges = ranges_of(*facts_, workspace_.document(), cluster());
    const QStringList left_out = choose(ranges, static_cast<Preset>(preset), *facts_);
    set_ranges(std::move(ranges));
    if (left_out.isEmpty())
        return;
    left_out_ = tr("; left as they are: %1 (with them there would be more than %L2 combinations)")
                    .arg(left_out.join(QStringLiteral(", ")))
                    .arg(most_points);
    tell_plan();
}

void ExplorePanel::follow_ranges()
{
    if (!facts_)
        return;
    Checked<SweepPlan> plan = plan_sweep(ranges_->ranges(), *facts_, workspace_.document());
    plan_.reset();
    refusal_.clear();
    left_out_.clear();
    if (plan)
        plan_ = std::move(*plan);
    else
        refusal_ = words_of(plan.error().front());
    tell_plan();
    show_page();
}

} // namespace trainyard::gui
