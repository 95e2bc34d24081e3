#include "sim/study/capacity/longest_context.h"

#include "sim/study/capacity/capacity_plan.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"
#include "sim/study/sweep_follow.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace trainyard {

namespace {

constexpr std::int64_t least_step = 1024;    // tokens: TP and CP of usual sizes divide it
constexpr std::int64_t parts_of_length = 16; // between a length and its double
constexpr std::int64_t longest_at_all = std::int64_t{1} << 27;

class ContextSearch {
public:
    ContextSearch(const ContextRequest& request, const SearchBase& base, Session& session)
        : request_(request), session_(session)
    {
        const auto& model = std::get<Transformer>(base.facts.model.architecture);
        const Training& training = base.file.scenario.training;
        tokens_of_step_ = static_cast<double>(training.global_batch) *
                          static_cast<double>(training.sequence_length);
        const bool learned = model.position == PositionKind::learned && model.max_positions > 0;
        out_.most = learned ? std::max(model.max_positions, least_step) : longest_at_all;
        out_.capacity = device_memory(base.parts.cost->profile()).capacity;
    }

    Checked<LongestContext> run(std::int64_t start)
    {
        try {
            if (Problems problems = look_around(start); !problems.empty())
                return tl::unexpected(std::move(problems));
        } catch (const Cancelled&) { // what was found is kept
            out_.interrupted = true;
        }
        return std::move(out_);
    }

private:
    struct Length {
        SearchBase base;
        SearchRequest request;
        std::int64_t tokens = 0;
    };

    Problems look_around(std::int64_t start)
    {
        std::int64_t low = std::clamp(start / least_step * least_step, least_step, out_.most);
        Checked<bool> possible = may_fit(low);
        while (possible && !*possible && low > least_step) {
            low = std::max(low / 2 / least_step * least_step, least_step);
            possible = may_fit(low);
        }
        if (!possible)
            return possible.error();
        between(low, low);
        if (!*possible)
            return {};
        std::int64_t high = low; // first that cannot be, by its bound
        while (*possible && high < out_.most) {
            low = high;
            high = std::min(2 * high, out_.most);
            possible = may_fit(high);
            if (!possible)
                return possible.error();
        }
        if (*possible)
            return longest_that_meets(high);
        while (const std::optional<std::int64_t> middle = between(low, high)) {
            possible = may_fit(*middle);
            if (!possible)
                return possible.error();
            (*possible ? low : high) = *middle;
        }
        return longest_that_meets(low);
    }

    // In steps of about a sixteenth of `low`, a power of two; nothing where they are no more than
    // one apart.
    std::optional<std::int64_t> between(std::int64_t low, std::int64_t high)
    {
        out_.step = std::max(least_step, std::int64_t(std::bit_floor(
                                             static_cast<std::uint64_t>(low / parts_of_length))));
        if (high - low <= out_.step)
            return std::nullopt;
        return low + std::max<std::int64_t>(1, (high - low) / out_.step / 2) * out_.step;
    }

    // `most`: the longest that may be, by its bound. What the allocator makes of a layout does not
    // always grow with the length: every length is searched, in steps, down to one that fits. Where
    // that takes too long the time decides, which does grow: down by more and more, then between.
    Problems longest_that_meets(std::int64_t most)
    {
        between(most, most); // whose step holds
        std::int64_t low = most;
        std::int64_t high = most;
        std::int64_t down = out_.step;
        Checked<bool> meets = search_at(low);
        for (; meets && !*meets && low > least_step; meets = search_at(low)) {
            high = low;
            low = std::max({low - down, low / 2 / least_step * least_step, least_step});
            down *= entry(high).fits ? 2 : 1;
        }
        if (!meets)
            return meets.error();
        return *meets ? refined(low) : Problems{};
    }

    // By halving between a length that meets and the next that is known not to.
    Problems refined(std::int64_t low)
    {
        const ContextLength* const next = out_.first_beyond();
        std::int64_t high = next == nullptr ? low : next->tokens;
        while (high - low > least_step) {
            const std::int64_t middle = low + (high - low) / 2 / least_step * least_step;
            const Checked<bool> meets = may_fit_and_meet(middle);
            if (!meets)
                return meets.error();
            (*meets ? low : high) = middle;
        }
        out_.step = least_step;
        return {};
    }

    Checked<bool> may_fit_and_meet(std::int64_t tokens)
    {
        const Checked<bool> possible = may_fit(tokens);
        return possible && *possible ? search_at(tokens) : possible;
    }

    Checked<Length> length_of(std::int64_t tokens) const
    {
        Scenario scenario = request_.file.scenario;
        scenario.training.sequence_length = tokens;
        const double wanted = tokens_of_step_ / static_cast<double>(tokens);
        const auto batch = std::max<std::int64_t>(1, std::llround(wanted));
        scenario.training.global_batch = batch;
        Checked<SearchBase> base = search_base(
            scenario_in_memory(std::move(scenario), request_.file.base, request_.file.file));
        if (!base)
            return tl::unexpected(base.error());
        SearchRequest search = request_.search;
        search.top = std::max<std::size_t>(1, search.top);
        search.space = usual_space(base->file.scenario, base->facts);
        search.space.global_batches = batches_near(batch, base->facts.devices);
        Problems problems;
        for (const SweepAxis& axis : request_.axes)
            append(problems, restrict(search.space, axis));
        if (!problems.empty())
            return tl::unexpected(std::move(problems));
        return Length{std::move(*base), std::move(search), tokens};
    }

    // What numbers of replicas divide, in tokens within a factor of two.
    static std::vector<std::int64_t> batches_near(std::int64_t wanted, int devices)
    {
        std::set<std::int64_t> out{wanted};
        for (int dp = 1; dp <= devices; ++dp)
            if (const std::int64_t batch = nearest_batch(wanted, dp);
                devices % dp == 0 && batch <= 2 * wanted && 2 * batch >= wanted)
                out.insert(batch);
        return {out.begin(), out.end()};
    }

    ContextLength& entry(std::int64_t tokens)
    {
        const auto place =
            std::ranges::lower_bound(out_.lengths, tokens, {}, &ContextLength::tokens);
        if (place != out_.lengths.end() && place->tokens == tokens)
            return *place;
        ContextLength fresh;
        fresh.tokens = tokens;
        return *out_.lengths.insert(place, std::move(fresh));
    }

    // By the bound of memory.
    Checked<bool> may_fit(std::int64_t tokens)
    {
        request_.search.work.check();
        const Checked<Length> length = length_of(tokens);
        if (!length)
            return tl::unexpected(length.error());
        PossibleLayouts found = bounded(*length);
        const bool any = !found.layouts.empty();
        possible_.emplace(tokens, std::move(found)); // the longest is searched next
        return any;
    }

    PossibleLayouts bounded(const Length& length)
    {
        if (possible_ && possible_->first == length.tokens)
            return possible_->second;
        const int threads = threads_of(request_.search);
        PossibleLayouts found = possible_layouts(length.request.space, length.base,
                                                 room_of(length.base, length.request),
                                                 request_.search.work, {.lanes = threads}, threads);
        request_.search.work.check();
        ContextLength& known = entry(length.tokens);
        known.possible = found.layouts.size();
        known.nearest = found.nearest;
        return found;
    }

    // By the engine.
    Checked<bool> search_at(std::int64_t tokens)
    {
        request_.search.work.check();
        Checked<Length> length = length_of(tokens);
        if (!length)
            return tl::unexpected(length.error());
        const int threads = threads_of(request_.search);
        EnginePoints points(length->base, session_, request_.search.work.cancel, threads);
        SearchResult result = best_of(bounded(*length), length->base, length->request, points);
        request_.search.work.check();
        ContextLength& known = entry(tokens);
        known.searched = true;
        known.fits = !result.best.empty();
        if (known.fits) {
            known.step_time = result.best.front().step_time;
            const Outcome best = outcome_of_best(result, *length);
            known.fit = fit_of(best.peak_memory, best.memory.capacity);
            known.meets = is_in_time(best, known);
        }
        if (known.meets && (!out_.answer || tokens > out_.longest()))
            out_.answer = ContextAnswer{std::move(length->base), std::move(length->request),
                                        std::move(result)};
        return known.meets;
    }

    Outcome outcome_of_best(const SearchResult& result, const Length& length)
    {
        SearchResult first = result;
        first.best.resize(1);
        return std::move(outcomes_of(first, length.base, session_).front());
    }

    bool is_in_time(const Outcome& best, ContextLength& known)
    {
        if (request_.training.tokens == 0 || !request_.training.deadline)
            return true;
        const Checked<WholeTraining> whole = whole_training(with_step_of(best, request_.training));
        if (whole)
            known.training_time = whole->time.mean();
        return whole && whole->meets_deadline();
    }

    const ContextRequest& request_;
    Session& session_;
    double tokens_of_step_ = 0;
    std::optional<std::pair<std::int64_t, PossibleLayouts>> possible_;
    LongestContext out_;
};

} // namespace

std::int64_t LongestContext::longest() const
{
    return answer ? answer->base.file.scenario.training.sequence_length : 0;
}

const ContextLength* LongestContext::first_beyond() const
{
    const auto next = std::ranges::find_if(lengths, [&](const ContextLength& length) {
        return length.tokens > longest() && length.is_decided();
    });
    return next == lengths.end() ? nullptr : &*next;
}

Checked<LongestContext> longest_context(const ContextRequest& request, Session& session)
{
    const Checked<SearchBase> base = search_base(request.file);
    if (!base)
        return tl::unexpected(base.error());
    if (std::get_if<Transformer>(&base->facts.model.architecture) == nullptr)
        return tl::unexpected(one_problem("the model has no sequences", "a transformer"));
    return ContextSearch(request, *base, session)
        .run(request.file.scenario.training.sequence_length);
}

} // namespace trainyard
