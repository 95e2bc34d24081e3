#include "sim/engine/replay/leaper.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// Long before any time; sums of it and two spans stay in range.
constexpr Time long_ago = -(Time{1} << 61);

} // namespace

Leaper::Leaper(Player& player, const Cohorts& cohorts, const Tape& tape, const Regions& regions)
    : cohorts_(cohorts),
      tape_(tape),
      stretches_(regions.stretches),
      patterns_(regions.patterns),
      stretch_at_(tape.instrs.size(), none)
{
    for (std::uint32_t s = 0; s < stretches_.size(); ++s) {
        stretch_at_[stretches_[s].instr_first] = s;
        if (!patterns_[stretches_[s].pattern].known)
            learn(player, tape, stretches_[s]);
    }
}

void Leaper::learn(Player& player, const Tape& tape, const Stretch& stretch)
{
    Pattern& pattern = patterns_[stretch.pattern];
    const std::size_t n = cohorts_.all[stretch.cohort].lanes.size();
    pattern.known = true;
    player.forget_ranges();
    if (stretch.base != none) {
        pattern.base.assign(n, long_ago);
        std::fill_n(player.column(stretch.base), n, long_ago);
    }
    pattern.outside.assign(stretch.outside.size(), Column(n, long_ago));
    for (const Value value : stretch.outside)
        std::fill_n(player.column(value), n, long_ago);
    std::fill_n(player.column(tape.inputs[stretch.cohort].opened), n, long_ago);
    std::fill_n(player.column(stretch.root), n, Time{0});
    for (const RivalRange& range : stretch.beside)
        player.ignore_rivals_before(range.list, none);
    for (const RivalRange& range : stretch.own)
        player.ignore_rivals_before(range.list, range.first);
    player.clear_sums(stretch.cohort);
    player.measure(true);
    for (std::uint32_t i = 0; i < stretch.instr_count; ++i) {
        const Instr& instr = tape.instrs[stretch.instr_first + i];
        player.play(instr);
        guard(player, tape, stretch, instr);
    }
    for (const auto* ranges : {&stretch.beside, &stretch.own})
        for (const RivalRange& range : *ranges)
            player.ignore_rivals_before(range.list, 0);
    for (const Value value : stretch.results) {
        const Time* column = player.column(value);
        pattern.results.emplace_back(column, column + n);
    }
    player.for_each_sum(stretch.cohort, [&](Time* sum) {
        if (std::any_of(sum, sum + n, [](Time time) { return time != 0; }))
            pattern.deltas.push_back({sum, Column(sum, sum + n)});
    });
    player.clear_sums(stretch.cohort);
}

// What the instruction just played takes for granted of values from outside.
void Leaper::guard(Player& player, const Tape& tape, const Stretch& stretch, const Instr& instr)
{
    Pattern& pattern = patterns_[stretch.pattern];
    const std::size_t n = cohorts_.all[stretch.cohort].lanes.size();
    // Not later than `column`, after `constant` and `table` of its own.
    const auto not_after = [&](Column& guard, const Time* column, Time constant,
                               const TimeTable* table) {
        player.kernels().limit(guard.data(), column, constant,
                               table != nullptr ? table->times.data() : nullptr, n);
    };
    const auto outside = [&](Value value, const Time* column) {
        const auto found = std::find(stretch.outside.begin(), stretch.outside.end(), value);
        if (found != stretch.outside.end())
            not_after(pattern.outside[static_cast<std::size_t>(found - stretch.outside.begin())],
                      column, 0, nullptr);
    };
    const auto written = [&](std::uint32_t w) {
        return player.column(tape.writes[instr.write_first + w]);
    };
    const bool is_latest = instr.code == Instr::Code::latest;
    const bool runs = instr.code == Instr::Code::run || instr.code == Instr::Code::compute;
    if (instr.base != none)
        not_after(pattern.base, written(0), instr.constant - stretch.base_constant, nullptr);
    if (instr.host_ends)
        not_after(pattern.base, written(instr.code == Instr::Code::compute ? 2 : 1),
                  instr.end_constant - stretch.base_constant, instr.table2);
    if (is_latest || runs)
        for (std::uint32_t r = 0; r < instr.read_count; ++r)
            outside(tape.reads[instr.read_first + r], written(0));
    if (instr.code == Instr::Code::charge)
        for (std::uint32_t k = 0; k < instr.charge_count; ++k)
            outside(tape.charges[instr.charge_first + k].value,
                    player.column(tape.reads[instr.read_first]));
    if (instr.code == Instr::Code::compute) {
        const Time* start = written(0);
        const Time* done = written(1);
        pattern.computes_from.resize(n, longest_sim_time.value());
        pattern.computes_to.resize(n, 0);
        for (std::size_t i = 0; i < n; ++i) {
            pattern.computes_from[i] = std::min(pattern.computes_from[i], start[i]);
            pattern.computes_to[i] = std::max(pattern.computes_to[i], done[i]);
        }
    }
}

bool Leaper::leap(Player& player, const Stretch& stretch, bool measured)
{
    Pattern& pattern = patterns_[stretch.pattern];
    const Slice lanes = player.lanes(stretch.cohort);
    const Time* root = player.column(stretch.root) + lanes.first;
    if (!holds(player, stretch, pattern, root))
        return false;
    // The root's column may be free for a result.
    root_.assign(root, root + lanes.count);
    for (std::size_t r = 0; r < stretch.results.size(); ++r)
        player.kernels().sum(player.column(stretch.results[r]) + lanes.first, root_.data(),
                             pattern.results[r].data() + lanes.first, lanes.count);
    if (measured)
        count(pattern, lanes);
    return true;
}

void Leaper::count(Pattern& pattern, const Slice& lanes)
{
    auto& leaps = pattern.leaps;
    auto at = std::find_if(leaps.begin(), leaps.end(), [&](const Leaps& of) {
        return of.slice.first == lanes.first && of.slice.count == lanes.count;
    });
    if (at == leaps.end())
        at = leaps.insert(at, {lanes, 0});
    ++at->count;
}

bool Leaper::holds(Player& player, const Stretch& stretch, const Pattern& pattern, const Time* root)
{
    const Kernels& kernels = player.kernels();
    const auto [lane, n] = player.lanes(stretch.cohort);
    if (stretch.base != none &&
        !kernels.reached(root, player.column(stretch.base) + lane, stretch.base_constant,
                         pattern.base.data() + lane, n))
        return false;
    for (std::size_t o = 0; o < stretch.outside.size(); ++o)
        if (!kernels.reached(root, player.column(stretch.outside[o]) + lane, 0,
                             pattern.outside[o].data() + lane, n))
            return false;
    return stretch.beside.empty() || undisturbed(player, stretch, pattern, root);
}

// Whether transfers from before are over when the compute of the stretch begins, or begin when it
// is over.
bool Leaper::undisturbed(Player& player, const Stretch& stretch, const Pattern& pattern,
                         const Time* root)
{
    const Kernels& kernels = player.kernels();
    const auto [lane, n] = player.lanes(stretch.cohort);
    const Time first = kernels.least(root, n); // its compute begins no earlier
    const Time* from = pattern.computes_from.data() + lane;
    const Time* to = pattern.computes_to.data() + lane;
    Time last = 0;
    for (const RivalRange& range : stretch.beside)
        for (std::uint32_t r = player.first_after(range, first); r < range.end; ++r) {
            if (last == 0) {
                root_.resize(n);
                kernels.sum(root_.data(), root, to, n);
                last = kernels.greatest(root_.data(), n);
            }
            const Rival& rival = tape_.rivals[range.list][r];
            if (player.range(rival.start).least >= last)
                break;
            for (std::uint32_t l = 0; l < rival.load_count; ++l) {
                const Load& load = tape_.loads[rival.load_first + l];
                if (!kernels.apart(root, from, to, player.load_column(load, lane), n))
                    return false;
            }
        }
    return true;
}

void Leaper::settle(const Player& player) const
{
    for (const Pattern& pattern : patterns_)
        for (const Delta& delta : pattern.deltas)
            for (const Leaps& leaps : pattern.leaps)
                player.kernels().add_times(delta.sum + leaps.slice.first,
                                           delta.by.data() + leaps.slice.first, leaps.count,
                                           leaps.slice.count);
}

} // namespace trainyard::engine::replay
