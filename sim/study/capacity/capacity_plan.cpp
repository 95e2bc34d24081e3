#include "sim/study/capacity/capacity_plan.h"

#include "sim/cost/device.h"
#include "sim/study/capacity/sized_cluster.h"
#include "sim/study/capacity/smallest_cluster.h"
#include "sim/study/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr int fine_steps = 32; // sizes between two are looked at in steps of such a part

class ClusterSearch {
public:
    ClusterSearch(const CapacityRequest& request, ClusterKind kind, Session& session)
        : request_(request), session_(session)
    {
        answer_.kind = std::move(kind);
    }

    ClusterAnswer run()
    {
        try {
            look_around();
        } catch (const Cancelled&) { // what was found is kept
            interrupted_ = true;
        }
        for (std::size_t i = 0; i < answer_.sizes.size() && !answer_.chosen; ++i)
            if (request_.training.tokens > 0 && answer_.sizes[i].meets_goal())
                answer_.chosen = i;
        return std::move(answer_);
    }

    bool interrupted() const { return interrupted_; }

private:
    void look_around()
    {
        if (answer_.kind.nodes)
            look_at(*answer_.kind.nodes);
        else if (request_.training.tokens > 0)
            fewest();
        if (request_.training.tokens == 0)
            most_learned();
        for (const ClusterSize& size : sizes_within(request_.scaling, answer_.kind))
            if (!answer_.kind.nodes && size.kind.gpus_per_node == answer_.kind.gpus_per_node)
                look_at(size.nodes);
        const auto runs = [](const SizedCluster& sized) { return sized.outcome.has_value(); };
        if (answer_.kind.nodes && std::ranges::none_of(answer_.sizes, runs))
            answer_.smallest = smallest_cluster(request_, answer_.kind,
                                                answer_.sizes.front().least_memory, session_);
    }

    int most_nodes() const { return std::max(1, request_.most_gpus / answer_.kind.gpus_per_node); }

    // Keeps them by size.
    const SizedCluster& look_at(int nodes)
    {
        request_.work.check();
        const auto place = std::ranges::lower_bound(answer_.sizes, nodes, {}, &SizedCluster::nodes);
        if (place != answer_.sizes.end() && place->nodes == nodes)
            return *place;
        const CapacityListener& listener = request_.listener;
        if (listener.begun)
            listener.begun(answer_.kind, nodes);
        const SizedCluster& sized =
            *answer_.sizes.insert(place, sized_cluster(request_, answer_.kind, nodes, session_));
        interrupted_ = interrupted_ || sized.unproven;
        if (listener.ended)
            listener.ended(answer_.kind, sized);
        return sized;
    }

    // No cluster of fewer can train in time, whatever it does.
    int least_nodes()
    {
        if (!request_.training.deadline)
            return 1;
        const double nodes = least_devices(request_, answer_.kind) / answer_.kind.gpus_per_node;
        return std::clamp(static_cast<int>(std::floor(std::min(nodes, 1e9))), 1, most_nodes());
    }

    void fewest()
    {
        const int least = least_nodes();
        int nodes = 1;
        while (nodes < least)
            nodes = next_size(nodes);
        nodes = std::min(nodes, most_nodes());
        double cost = std::numeric_limits<double>::infinity();
        while (true) {
            const SizedCluster& sized = look_at(nodes);
            if (sized.meets_goal()) {
                refine(nodes);
                cheaper(nodes);
                return;
            }
            // Larger ones may be cheaper, too: the leanest layout is rarely the quickest.
            const bool in_time = sized.meets_deadline();
            const bool dearer = in_time && *sized.training->cost.money >= cost;
            if (in_time)
                cost = *sized.training->cost.money;
            if (nodes == most_nodes() || dearer)
                return;
            nodes = std::min(next_size(nodes), most_nodes());
        }
    }

    // Between the last that does not meet the goal and `nodes`, which does.
    void refine(int nodes)
    {
        const auto found = std::ranges::find(answer_.sizes, nodes, &SizedCluster::nodes);
        int low = found == answer_.sizes.begin() ? 0 : std::prev(found)->nodes;
        int high = nodes;
        const int step = std::max(1, low / fine_steps);
        while (high - low > step) {
            const int middle = low + std::max(1, (high - low) / 2 / step) * step;
            (look_at(middle).meets_goal() ? high : low) = middle;
        }
    }

    // Beyond `nodes`, which meets the goal: the leanest layout is rarely the quickest.
    void cheaper(int nodes)
    {
        double least = std::numeric_limits<double>::infinity();
        while (answer_.kind.has_price()) {
            const SizedCluster& sized = look_at(nodes);
            if (!sized.training || *sized.training->cost.money >= least || nodes == most_nodes())
                return;
            least = *sized.training->cost.money;
            nodes = std::min(next_size(nodes), most_nodes());
        }
    }

    // Larger clusters learn more until the budget is spent sooner than the time.
    void most_learned()
    {
        double most = 0;
        int worse = 0;
        const int first = answer_.kind.nodes.value_or(1);
        const int last = answer_.kind.nodes.value_or(most_nodes());
        for (int nodes = first; nodes <= last && worse < 2; nodes = next_size(nodes)) {
            const SizedCluster& sized = look_at(nodes);
            const double tokens = sized.training ? sized.training->request.tokens : 0;
            worse = most > 0 && tokens <= most ? worse + 1 : 0;
            most = std::max(most, tokens);
        }
        for (std::size_t i = 0; i < answer_.sizes.size(); ++i)
            if (most > 0 && answer_.sizes[i].training &&
                answer_.sizes[i].training->request.tokens == most)
                answer_.chosen = i;
    }

    const CapacityRequest& request_;
    Session& session_;
    ClusterAnswer answer_;
    bool interrupted_ = false;
};

// Smaller is better: cost where all have prices, else GPUs; of goals without tokens, what is not
// learned.
double rank_of(const CapacityRequest& request, const SizedCluster& sized, bool priced)
{
    if (request.training.tokens == 0)
        return -sized.training->request.tokens;
    return priced ? *sized.training->cost.money : sized.gpus;
}

} // namespace

Checked<CapacityPlan> capacity_plan(const CapacityRequest& request, Session& session)
{
    if (Problems problems = problems_of(request); !problems.empty())
        return tl::unexpected(std::move(problems));
    CapacityPlan plan;
    if (const std::optional<Model> model = model_of(request, request.clusters.front()))
        plan.model = model->name;
    if (std::ranges::any_of(request.clusters, &ClusterKind::has_price))
        plan.unpriced = unpriced_text(request);
    if (!request.has_goal())
        return plan;
    for (const ClusterKind& kind : request.clusters) {
        ClusterSearch search(request, kind, session);
        plan.clusters.push_back(search.run());
        plan.interrupted = plan.interrupted || search.interrupted();
    }
    const auto chosen = [&](const ClusterAnswer& answer) {
        return answer.chosen ? &answer.sizes[*answer.chosen] : nullptr;
    };
    const bool priced = std::ranges::all_of(plan.clusters, [&](const ClusterAnswer& answer) {
        return chosen(answer) == nullptr || chosen(answer)->training->cost.money.has_value();
    });
    std::optional<double> best;
    for (std::size_t i = 0; i < plan.clusters.size(); ++i)
        if (const SizedCluster* sized = chosen(plan.clusters[i]))
            if (const double rank = rank_of(request, *sized, priced); !best || rank < *best) {
                best = rank;
                plan.best = i;
            }
    return plan;
}

} // namespace trainyard
