#include "sim/study/search/search.h"

#include "sim/base/parallel.h"
#include "sim/base/units.h"
#include "sim/study/fidelity_choice.h"
#include "sim/study/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <limits>
#include <mutex>
#include <numeric>

namespace trainyard {

namespace {

constexpr Seconds endless(std::numeric_limits<double>::infinity());

Seconds pace_of(const RankedLayout& layout)
{
    return per_sequence(layout.step_time, layout.choice);
}

// What became of a layout.
struct Verdict {
    enum class Kind : std::uint8_t { open, too_large, refused, slow, found };
    Kind kind = Kind::open;
    Seconds time = endless; // per sequence, where it was simulated
    std::string pointer;    // of the field at fault
};

bool same_sizes(const LayoutChoice& a, const LayoutChoice& b)
{
    return a.tp == b.tp && a.cp == b.cp && a.pp == b.pp && a.ep == b.ep && a.etp == b.etp &&
           a.zero == b.zero && a.global_batch == b.global_batch;
}

class BestFirst {
public:
    BestFirst(const SearchRequest& request, Points& points,
              const std::vector<PossibleLayout>& layouts, Bytes room)
        : request_(request),
          points_(points),
          layouts_(layouts),
          room_(room),
          order_(layouts_.size()),
          verdicts_(layouts_.size())
    {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return bound(i); });
    }

    void run()
    {
        try {
            if (request_.tolerance == 0)
                side_by_side(order_, [&](std::size_t i) {
                    if (is_worth_a_look(i))
                        look_at(i);
                });
            else
                in_rounds();
        } catch (const Cancelled&) { // what was found is kept
        }
    }

    // Adds what became of the layouts. Those whose bound is not below the best of their sizes, or
    // the last of the best, count as slower, simulated or not: numbers do not depend on threads.
    void report(SearchResult& result)
    {
        for (const std::size_t i : order_) {
            const Verdict& verdict = verdicts_[i];
            const Seconds limit = limit_of(i);
            const bool below = bound(i) < reach_of(i);
            if (verdict.kind == Verdict::Kind::open && below) {
                ++result.open;
                if (!result.least_open)
                    result.least_open = bound(i);
                continue;
            }
            const bool found = verdict.kind == Verdict::Kind::found;
            result.simulated += found || below ? 1 : 0;
            if (found)
                continue;
            const bool timed = verdict.time < endless;
            const Exclusion why = !below || (timed && verdict.time >= limit) ? Exclusion::slower
                                  : verdict.kind == Verdict::Kind::refused   ? Exclusion::engine
                                                                             : Exclusion::memory;
            ++result.excluded[{why, why == Exclusion::engine ? verdict.pointer : ""}].points;
        }
        for (Entry& entry : best_)
            result.best.push_back(std::move(entry.layout));
    }

private:
    struct Entry {
        RankedLayout layout;
        std::size_t number; // of the layout
    };

    // Per sequence, as all times here.
    Seconds bound(std::size_t i) const
    {
        return per_sequence(layouts_[i].least.time, layouts_[i].choice);
    }

    // The first of the best with the same sizes.
    std::vector<Entry>::iterator best_of_sizes(const LayoutChoice& choice)
    {
        return std::ranges::find_if(
            best_, [&](const Entry& entry) { return same_sizes(entry.layout.choice, choice); });
    }

    // A time as long as this makes the layout none of the best. Requires the lock while layouts
    // are looked at.
    Seconds limit_of(std::size_t i)
    {
        const Seconds last = best_.size() < request_.top ? endless : pace_of(best_.back().layout);
        const auto own = best_of_sizes(layouts_[i].choice);
        return own == best_.end() ? last : std::min(last, pace_of(own->layout));
    }
    // A bound as long as this makes it not worth a simulation.
    Seconds reach_of(std::size_t i) { return limit_of(i) * (1 - request_.tolerance); }
    Seconds limit_now(std::size_t i)
    {
        const std::lock_guard lock(mutex_);
        return limit_of(i);
    }
    bool is_worth_a_look(std::size_t i)
    {
        const std::lock_guard lock(mutex_);
        return bound(i) < reach_of(i);
    }

    template <class Work>
    void side_by_side(const std::vector<std::size_t>& layouts, Work work)
    {
        for_each_index(layouts.size(), points_.at_once(), [&](std::size_t i) { work(layouts[i]); });
    }

    // Which layouts are missed must not depend on who comes first.
    void in_rounds()
    {
        constexpr std::size_t in_round = 8;
        for (std::size_t first = 0; first < order_.size();) {
            std::vector<std::size_t> round;
            for (; first < order_.size() && round.size() < in_round; ++first)
                if (is_worth_a_look(order_[first]))
                    round.push_back(order_[first]);
            side_by_side(round, [&](std::size_t i) { look_at(i); });
        }
    }

    void look_at(std::size_t i)
    {
        request_.work.check();
        Verdict verdict = verdict_of(i);
        const std::lock_guard lock(mutex_);
        simulated_ += verdict.time < endless ? 1 : 0;
        if (verdict.kind != Verdict::Kind::found)
            verdicts_[i] = std::move(verdict);
        report_progress(i);
        tell_listener();
    }

    // Requires the lock.
    void tell_listener()
    {
        using Clock = std::chrono::steady_clock;
        constexpr std::chrono::milliseconds between(1000 / 30 + 1);
        const Clock::time_point now = Clock::now();
        if (!request_.listener || (told_ != Clock::time_point() && now - told_ < between))
            return;
        told_ = now;
        request_.listener({request_.space.points(), layouts_.size(), simulated_,
                           best_.empty() ? std::nullopt : std::optional(best_.front().layout)});
    }

    // By places in the order: those whose bound is not below the last of the best cost nothing.
    // Requires the lock.
    void report_progress(std::size_t i)
    {
        if (!request_.work.progress)
            return;
        const auto places_until = [&](Seconds time) {
            const auto by_bound = [&](std::size_t layout) { return bound(layout); };
            return std::ranges::upper_bound(order_, time, {}, by_bound) - order_.begin();
        };
        furthest_ = std::max(furthest_, places_until(bound(i)));
        const bool full = best_.size() == request_.top;
        const Seconds last = full ? pace_of(best_.back().layout) : endless;
        const std::string stage = best_.empty()
                                      ? "simulating"
                                      : fmt::format("simulating, best so far {}",
                                                    to_display(best_.front().layout.step_time));
        request_.work.report(stage, static_cast<double>(furthest_),
                             static_cast<double>(std::max(places_until(last), furthest_)));
    }

    Verdict verdict_of(std::size_t i)
    {
        const LayoutChoice& choice = layouts_[i].choice;
        const PointFacts facts =
            points_.facts(choice, {room_, [&](Bytes) { return limit_now(i); }});
        if (facts.kind != PointFacts::Kind::timed)
            return {facts.kind == PointFacts::Kind::refused ? Verdict::Kind::refused
                                                            : Verdict::Kind::too_large,
                    endless, facts.pointer};
        const Seconds time = per_sequence(facts.step_time, choice);
        if (facts.peak > room_)
            return {Verdict::Kind::too_large, time, ""};
        if (time > limit_now(i)) // of equals the first in the space counts
            return {Verdict::Kind::slow, time, ""};
        assert(facts.reserved);
        if (*facts.reserved > room_)
            return {Verdict::Kind::too_large, time, ""};
        return {enter(i, facts.step_time) ? Verdict::Kind::found : Verdict::Kind::slow, time, ""};
    }

    // Whether it is among the best so far; whoever it drives out is slow.
    bool enter(std::size_t i, Seconds step)
    {
        const std::lock_guard lock(mutex_);
        const auto before = [](const Entry& a, const Entry& b) {
            return std::pair(pace_of(a.layout), a.number) < std::pair(pace_of(b.layout), b.number);
        };
        Entry entry{{layouts_[i].choice, step, layouts_[i].least.time}, i};
        if (const auto own = best_of_sizes(entry.layout.choice); own != best_.end()) {
            if (before(*own, entry))
                return false;
            drive_out(own);
        }
        verdicts_[i] = {Verdict::Kind::found, pace_of(entry.layout), ""};
        best_.insert(std::ranges::upper_bound(best_, entry, before), std::move(entry));
        if (best_.size() > request_.top)
            drive_out(std::prev(best_.end()));
        return verdicts_[i].kind == Verdict::Kind::found;
    }

    void drive_out(std::vector<Entry>::iterator entry)
    {
        verdicts_[entry->number].kind = Verdict::Kind::slow;
        best_.erase(entry);
    }

    const SearchRequest& request_;
    Points& points_;
    const std::vector<PossibleLayout>& layouts_;
    Bytes room_;
    std::vector<std::size_t> order_;
    std::vector<Verdict> verdicts_;
    std::vector<Entry> best_;
    std::ptrdiff_t furthest_ = 0; // place in the order that somebody is at
    std::uint64_t simulated_ = 0;
    std::chrono::steady_clock::time_point told_; // when the listener was
    std::mutex mutex_;
};

} // namespace

double SearchResult::gap() const
{
    if (!least_open)
        return 0;
    return best.empty() ? 1 : std::max(0.0, 1 - *least_open / pace_of(best.front()));
}

Checked<SearchBase> search_base(const ScenarioFile& file)
{
    const ScenarioFile comparable =
        in_fidelity(file, file.scenario.run.fidelity.value_or(Fidelity::alpha_beta));
    Scenario probe = comparable.scenario;
    LayoutChoice one;
    one.schedule = find_schedule(Strategy{}.schedule);
    one.zero = probe.strategy.zero;
    apply(one, {}, probe);
    probe.strategy.dp = 1;
    probe.strategy.shard_group.reset();
    probe.perturbations.clear();
    StageMemos memos;
    Checked<Parts> parts = build_job_parts(
        scenario_in_memory(std::move(probe), comparable.base, comparable.file), memos);
    if (!parts)
        return tl::unexpected(parts.error());
    SpaceFacts facts{*parts->model, parts->sound->device_count(), parts->job.gpus_per_node};
    return SearchBase{comparable, file.scenario.run.fidelity, std::move(*parts), std::move(facts)};
}

namespace {

template <class Layouts>
std::vector<Outcome> simulated_again(const Layouts& layouts, const SearchBase& base,
                                     Session& session)
{
    std::vector<Outcome> out;
    for (const auto& found : layouts) {
        Checked<Outcome> outcome = session.simulate(scenario_of(found.choice, base));
        assert(outcome); // it was simulated before
        out.push_back(std::move(*outcome));
    }
    return out;
}

} // namespace

std::vector<Outcome> outcomes_of(const SearchResult& result, const SearchBase& base,
                                 Session& session)
{
    return simulated_again(result.best, base, session);
}

std::vector<Outcome> outcomes_of(const LayoutFront& front, const SearchBase& base, Session& session)
{
    return simulated_again(front.layouts, base, session);
}

ScenarioFile scenario_of(const LayoutChoice& choice, const SearchBase& base)
{
    Scenario scenario = base.file.scenario;
    apply(choice, base.facts, scenario);
    return scenario_in_memory(std::move(scenario), base.file.base, base.file.file);
}

Scenario kept_scenario(const LayoutChoice& choice, const SearchBase& base)
{
    Scenario scenario = scenario_of(choice, base).scenario;
    scenario.run.fidelity = base.own_fidelity;
    return scenario;
}

Bytes capacity_of(const SearchBase& base)
{
    return device_memory(base.parts.cost->profile()).capacity;
}

Bytes room_of(const SearchBase& base, const SearchRequest& request)
{
    const Bytes capacity = capacity_of(base);
    return capacity == Bytes(0) ? Bytes(std::numeric_limits<std::uint64_t>::max())
                                : scaled(capacity, 1 - request.headroom);
}

int threads_of(const SearchRequest& request)
{
    return request.threads > 0 ? request.threads : usable_threads();
}

SearchResult best_of(PossibleLayouts possible, const SearchBase& base, const SearchRequest& request,
                     Points& points)
{
    SearchResult result;
    result.points = request.space.points();
    result.capacity = capacity_of(base);
    result.bounded = possible.points();
    result.possible = possible.layouts.size();
    result.excluded = std::move(possible.excluded);
    result.nearest = std::move(possible.nearest);
    BestFirst best(request, points, possible.layouts, room_of(base, request));
    if (possible.whole)
        best.run();
    best.report(result);
    if (request.listener)
        request.listener({result.points, result.possible, result.simulated,
                          result.best.empty() ? std::nullopt : std::optional(result.best.front())});
    if (request.front)
        result.front = possible.whole ? layout_front(possible.layouts, room_of(base, request),
                                                     request.work, points)
                                      : LayoutFront{};
    if (!possible.whole) { // nothing is known of the rest
        result.open += result.points - result.bounded;
        result.least_open = Seconds(0);
    }
    return result;
}

SearchResult search(const SearchBase& base, const SearchRequest& request, Session& session)
{
    const int threads = threads_of(request);
    EnginePoints points(base, session, request.work.cancel, threads);
    return best_of(possible_layouts(request.space, base, room_of(base, request), request.work,
                                    {.lanes = threads}, threads),
                   base, request, points);
}

} // namespace trainyard
