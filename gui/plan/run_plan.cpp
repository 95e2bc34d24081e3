// Asks the library, and puts what it tells meanwhile into words.

#include "gui/model/qt_text.h"
#include "gui/plan/plan_job.h"
#include "gui/plan/plan_words.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/training/training_text.h"
#include "sim/study/search/search.h"
#include "sim/study/session.h"

#include <functional>
#include <mutex>

namespace trainyard::gui {

namespace {

// Several threads tell; what is known is told whole each time.
class PlanTeller {
public:
    explicit PlanTeller(const std::function<void(const PlanProgress&)>& tell) : tell_(tell) {}

    template <class Change>
    void change(Change change)
    {
        const std::lock_guard lock(mutex_);
        change(now_);
        tell_(now_);
    }

private:
    const std::function<void(const PlanProgress&)>& tell_;
    std::mutex mutex_;
    PlanProgress now_;
};

WorkControl told_work(const WorkControl& work, PlanTeller& teller)
{
    return {work.cancel, [&teller](std::string_view stage, double done, double total) {
                teller.change([&](PlanProgress& now) {
                    now.done = done;
                    now.total = total;
                    if (now.sizes == 0 && now.stage.isEmpty())
                        now.stage = text_of(stage);
                });
            }};
}

QString layout_words(const LayoutNews& news)
{
    return plan_words("%1: %2 a step, %3/s, MFU %4")
        .arg(text_of(news.layout), text_of(to_display(news.step_time)),
             text_of(to_display_count(news.work_per_s)), text_of(percent(news.mfu)));
}

Checked<ShownPlan> run_layouts(LayoutTask task, const WorkControl& work, PlanTeller& teller)
{
    task.request.work = told_work(work, teller);
    task.request.listener = [&](const SearchNews& news) {
        teller.change([&](PlanProgress& now) {
            now.points = news.points;
            now.possible = news.possible;
            now.simulated = news.simulated;
            if (news.best)
                now.best = layout_words(news_of(*news.best, task.base));
        });
    };
    Session session;
    const Checked<LayoutAnswer> answer = plan_layouts(task, {}, session);
    if (!answer)
        return tl::unexpected(answer.error());
    return shown_layouts(*answer);
}

// The one that is told as the best so far: of those that meet the goal the cheapest or smallest.
class BestCluster {
public:
    explicit BestCluster(const CapacityRequest& request) : request_(request) {}

    // Its words where it is the best so far, else nothing.
    std::optional<QString> take(const ClusterKind& kind, const SizedCluster& sized)
    {
        if (!sized.meets_goal())
            return std::nullopt;
        const double rank = rank_of_size(sized);
        if (best_ && rank >= *best_)
            return std::nullopt;
        best_ = rank;
        return QStringLiteral("%1 × %2: ").arg(sized.gpus).arg(text_of(kind.name)) +
               training_words(*sized.training);
    }

private:
    double rank_of_size(const SizedCluster& sized) const
    {
        if (request_.training.tokens == 0)
            return -sized.training->request.tokens;
        return sized.training->cost.money.value_or(sized.gpus);
    }

    const CapacityRequest& request_;
    std::optional<double> best_;
};

Checked<ShownPlan> run_clusters(CapacityRequest request, std::optional<double> now,
                                const WorkControl& work, PlanTeller& teller)
{
    request.work = told_work(work, teller);
    BestCluster best(request);
    std::uint64_t points = 0;
    std::uint64_t simulated = 0;
    request.listener.begun = [&](const ClusterKind& kind, int nodes) {
        teller.change([&](PlanProgress& told) {
            told.stage =
                QStringLiteral("%1 × %2").arg(nodes * kind.gpus_per_node).arg(text_of(kind.name));
        });
    };
    request.listener.ended = [&](const ClusterKind& kind, const SizedCluster& sized) {
        const std::optional<QString> better = best.take(kind, sized);
        teller.change([&](PlanProgress& told) {
            ++told.sizes;
            told.points = points += sized.points;
            told.simulated = simulated += sized.simulated;
            if (better)
                told.best = *better;
        });
    };
    request.listener.search = [&](const SearchNews& news) {
        teller.change([&](PlanProgress& told) {
            told.points = points + news.points;
            told.possible = news.possible;
            told.simulated = simulated + news.simulated;
        });
    };
    Session session;
    const Checked<CapacityAnswer> answer = plan_clusters(request, session);
    if (!answer)
        return tl::unexpected(answer.error());
    return shown_clusters(request, *answer, now);
}

} // namespace

Checked<ShownPlan> run_plan(PlanTask task, std::optional<double> now, const WorkControl& work,
                            const std::function<void(const PlanProgress&)>& tell)
{
    PlanTeller teller(tell);
    if (auto* const layouts = std::get_if<LayoutTask>(&task))
        return run_layouts(std::move(*layouts), work, teller);
    return run_clusters(std::move(std::get<CapacityRequest>(task)), now, work, teller);
}

} // namespace trainyard::gui
