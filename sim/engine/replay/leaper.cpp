#include "sim/engine/replay/leaper.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// Long before any time; sums of it and two spans stay in range.
constexpr Time long_ago = -(Time{1} << 61);

} // namespace

Leaper::Leaper(Player& player, const Cohorts& cohorts, const Tape& tape, const Regions& regions,
               const Slices& slices)
    : cohorts_(cohorts),
      tape_(tape),
      regions_(regions),
      slices_(slices.slices),
      patterns_(regions.patterns),
      stretch_at_(tape.instrs.size(), none)
{
    for (std::uint32_t s = 0; s < regions.stretches.size(); ++s) {
        const Stretch& stretch = regions.stretches[s];
        stretch_at_[stretch.instr_first] = s;
        Pattern& pattern = patterns_[stretch.pattern];
        if (pattern.first == nullptr) {
            pattern.first = &stretch;
            make_room(player, pattern);
        }
    }
    player.measure(true);
    for (const Run& run : slices.runs)
        if (!run.sliced)
            learn_from(run, player);
    for (const Slice& slice : slices.slices) {
        player.take_slice(slice);
        for (const Run& run : slices.runs)
            if (run.sliced)
                learn_from(run, player);
    }
    player.take_all();
}

void Leaper::make_room(const Player& player, Pattern& pattern) const
{
    const Stretch& stretch = *pattern.first;
    const std::size_t n = cohorts_.all[stretch.cohort].lanes.size();
    pattern.leaps.assign(slices_.size() + 1, 0);
    if (stretch.base != none)
        pattern.base.assign(n, long_ago);
    pattern.outside.assign(stretch.outside_count, Column(n, long_ago));
    pattern.results.assign(stretch.result_count, Column(n));
    for (std::uint32_t i = 0; i < stretch.instr_count; ++i) {
        const Instr& instr = tape_.instrs[stretch.instr_first + i];
        if (instr.code == Instr::Code::compute) {
            pattern.computes_from.assign(n, longest_sim_time.value());
            pattern.computes_to.assign(n, 0);
        }
        player.for_each_sum(instr, [&](std::uint32_t sum) {
            const auto of_sum = [&](const Delta& delta) { return delta.sum == sum; };
            if (std::none_of(pattern.deltas.begin(), pattern.deltas.end(), of_sum))
                pattern.deltas.push_back({sum, Column(n)});
        });
    }
}

// All patterns whose first stretch is in the run.
void Leaper::learn_from(const Run& run, Player& player)
{
    for (Pattern& pattern : patterns_)
        if (pattern.first->instr_first >= run.first && pattern.first->instr_first < run.end)
            learn(player, pattern);
}

// On the player's lanes.
void Leaper::learn(Player& player, Pattern& pattern)
{
    const Stretch& stretch = *pattern.first;
    const Slice lanes = player.lanes(stretch.cohort);
    set_out(player, stretch, lanes);
    for (const RivalRange& range : regions_.beside(stretch))
        player.ignore_rivals_before(range.list, none);
    for (const RivalRange& range : regions_.own(stretch))
        player.ignore_rivals_before(range.list, range.first);
    for (std::uint32_t i = 0; i < stretch.instr_count; ++i) {
        const Instr& instr = tape_.instrs[stretch.instr_first + i];
        player.play(instr);
        guard(player, pattern, instr, lanes);
    }
    for (const auto& ranges : {regions_.beside(stretch), regions_.own(stretch)})
        for (const RivalRange& range : ranges)
            player.ignore_rivals_before(range.list, 0);
    for (std::size_t r = 0; r < stretch.result_count; ++r)
        std::copy_n(player.at(regions_.results(stretch)[r], lanes), lanes.count,
                    pattern.results[r].begin() + static_cast<std::ptrdiff_t>(lanes.first));
    keep_sums(player, pattern, lanes);
}

// T = 0, and all else long before.
void Leaper::set_out(Player& player, const Stretch& stretch, const Slice& lanes) const
{
    player.forget_ranges();
    if (stretch.base != none)
        std::fill_n(player.at(stretch.base, lanes), lanes.count, long_ago);
    for (const Value value : regions_.outside(stretch))
        std::fill_n(player.at(value, lanes), lanes.count, long_ago);
    std::fill_n(player.at(tape_.inputs[stretch.cohort].opened, lanes), lanes.count, long_ago);
    std::fill_n(player.at(stretch.root, lanes), lanes.count, Time{0});
}

// Takes what the stretch has added to sums.
void Leaper::keep_sums(Player& player, Pattern& pattern, const Slice& lanes) const
{
    for (Delta& delta : pattern.deltas) {
        Time* sum = player.sum(pattern.first->cohort, delta.sum, lanes);
        std::copy_n(sum, lanes.count, delta.by.begin() + static_cast<std::ptrdiff_t>(lanes.first));
        std::fill_n(sum, lanes.count, 0);
    }
}

// What the instruction just played takes for granted of values from outside.
void Leaper::guard(Player& player, Pattern& pattern, const Instr& instr, const Slice& lanes) const
{
    const Stretch& stretch = *pattern.first;
    // Not later than `column`, after `constant` and `table` of its own.
    const auto not_after = [&](Column& guard, const Time* column, Time constant,
                               const TimeTable* table) {
        player.kernels().limit(guard.data() + lanes.first, column, constant,
                               table != nullptr ? table->times.data() + lanes.first : nullptr,
                               lanes.count);
    };
    const auto outside = [&](Value value, const Time* column) {
        const std::span<const Value> known = regions_.outside(stretch);
        const auto found = std::find(known.begin(), known.end(), value);
        if (found != known.end())
            not_after(pattern.outside[static_cast<std::size_t>(found - known.begin())], column, 0,
                      nullptr);
    };
    const auto written = [&](std::uint32_t w) { return player.at(instr.write_first + w, lanes); };
    const bool computes = instr.code == Instr::Code::compute;
    if (instr.base != none)
        not_after(pattern.base, written(0), instr.constant - stretch.base_constant, nullptr);
    if (instr.host_ends)
        not_after(pattern.base, written(computes ? 2 : 1),
                  instr.end_constant - stretch.base_constant, instr.table->kernel);
    if (computes || instr.code == Instr::Code::latest || instr.code == Instr::Code::run)
        for (std::uint32_t r = 0; r < instr.read_count; ++r)
            outside(tape_.reads[instr.read_first + r], written(0));
    if (instr.code == Instr::Code::charge)
        for (const Charge& charge : charges_of(tape_, instr))
            outside(charge.value, player.at(tape_.reads[instr.read_first], lanes));
    if (!computes)
        return;
    const Time* start = written(0);
    const Time* done = written(1);
    for (std::size_t i = 0; i < lanes.count; ++i) {
        Time& from = pattern.computes_from[lanes.first + i];
        Time& to = pattern.computes_to[lanes.first + i];
        from = std::min(from, start[i]);
        to = std::max(to, done[i]);
    }
}

bool Leaper::leap(Player& player, const Stretch& stretch, bool measured)
{
    Pattern& pattern = patterns_[stretch.pattern];
    const Slice lanes = player.lanes(stretch.cohort);
    Time* root = player.at(stretch.root, lanes);
    if (!holds(player, stretch, pattern, root))
        return false;
    // The root's column may be free for a result; that one comes last.
    const Time* own = nullptr; // for the root's
    for (std::size_t r = 0; r < stretch.result_count; ++r) {
        Time* to = player.at(regions_.results(stretch)[r], lanes);
        const Time* by = pattern.results[r].data() + lanes.first;
        if (to == root)
            own = by;
        else
            player.kernels().sum(to, root, by, lanes.count);
    }
    if (own != nullptr)
        player.kernels().add_times(root, own, 1, lanes.count);
    if (measured)
        ++pattern.leaps[lanes.number == none ? slices_.size() : lanes.number];
    return true;
}

bool Leaper::holds(Player& player, const Stretch& stretch, const Pattern& pattern, const Time* root)
{
    const Kernels& kernels = player.kernels();
    const Slice lanes = player.lanes(stretch.cohort);
    if (stretch.base != none &&
        !kernels.reached(root, player.at(stretch.base, lanes), stretch.base_constant,
                         pattern.base.data() + lanes.first, lanes.count))
        return false;
    for (std::size_t o = 0; o < stretch.outside_count; ++o)
        if (!kernels.reached(root, player.at(regions_.outside(stretch)[o], lanes), 0,
                             pattern.outside[o].data() + lanes.first, lanes.count))
            return false;
    return stretch.beside_count == 0 || undisturbed(player, stretch, pattern, root);
}

// Whether transfers from before are over when the compute of the stretch begins, or begin when it
// is over.
bool Leaper::undisturbed(Player& player, const Stretch& stretch, const Pattern& pattern,
                         const Time* root)
{
    const Kernels& kernels = player.kernels();
    const Slice lanes = player.lanes(stretch.cohort);
    const Time first = kernels.least(root, lanes.count); // its compute begins no earlier
    const Time* from = pattern.computes_from.data() + lanes.first;
    const Time* to = pattern.computes_to.data() + lanes.first;
    std::optional<Time> last; // it is over by then
    for (const RivalRange& range : regions_.beside(stretch))
        for (std::uint32_t r = player.first_after(range, first); r < range.end; ++r) {
            if (!last) {
                root_.resize(lanes.count);
                kernels.sum(root_.data(), root, to, lanes.count);
                last = kernels.greatest(root_.data(), lanes.count);
            }
            const Rival& rival = tape_.rivals[range.list][r];
            if (player.range(rival.start).least >= *last)
                break;
            for (const Load& load : loads_of(tape_, rival)) {
                if (!kernels.apart(root, from, to, player.load_column(load, lanes), lanes.count))
                    return false;
            }
        }
    return true;
}

void Leaper::settle(Player& player) const
{
    const Kernels& kernels = player.kernels();
    for (const Pattern& pattern : patterns_) {
        const std::uint32_t cohort = pattern.first->cohort;
        const Slice all{0, cohorts_.all[cohort].lanes.size(), none};
        for (const Delta& delta : pattern.deltas)
            for (std::size_t s = 0; s <= slices_.size(); ++s) {
                const Slice& slice = s < slices_.size() ? slices_[s] : all;
                if (pattern.leaps[s] > 0)
                    kernels.add_times(player.sum(cohort, delta.sum, slice),
                                      delta.by.data() + slice.first, pattern.leaps[s], slice.count);
            }
    }
}

} // namespace trainyard::engine::replay
