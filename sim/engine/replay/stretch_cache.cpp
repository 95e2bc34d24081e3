#include "sim/engine/replay/stretch_cache.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// A time long before any other; sums of it and two spans stay in range.
constexpr Time long_ago = -(Time{1} << 61);

} // namespace

StretchCache::StretchCache(Interpreter& interpreter, const LaneClasses& lane_classes,
                           const StepCode& code, const Stretches& stretches, const Slices& slices)
    : classes_(lane_classes),
      code_(code),
      stretches_(stretches),
      slices_(slices.slices),
      patterns_(stretches.patterns),
      stretch_at_(code.instrs.size(), none)
{
    for (std::uint32_t s = 0; s < stretches.all.size(); ++s) {
        const Stretch& stretch = stretches.all[s];
        stretch_at_[stretch.instr_first] = s;
        Pattern& pattern = patterns_[stretch.pattern];
        if (pattern.first == nullptr) {
            pattern.first = &stretch;
            allocate(interpreter, pattern);
        }
    }
    interpreter.measure(true);
    for (const InstrRange& range : slices.ranges)
        if (!range.sliced)
            learn_from(range, interpreter);
    for (const Slice& slice : slices.slices) {
        interpreter.select_slice(slice);
        for (const InstrRange& range : slices.ranges)
            if (range.sliced)
                learn_from(range, interpreter);
    }
    interpreter.select_all();
}

void StretchCache::allocate(const Interpreter& interpreter, Pattern& pattern) const
{
    const Stretch& stretch = *pattern.first;
    const std::size_t n = classes_.all[stretch.lane_class].lanes.size();
    pattern.uses.assign(slices_.size() + 1, 0);
    if (stretch.base != none)
        pattern.base.assign(n, long_ago);
    pattern.outside.assign(stretch.outside_count, Column(n, long_ago));
    pattern.results.assign(stretch.result_count, Column(n));
    for (std::uint32_t i = 0; i < stretch.instr_count; ++i) {
        const Instr& instr = code_.instrs[stretch.instr_first + i];
        if (instr.opcode == Instr::Opcode::compute) {
            pattern.computes_from.assign(n, longest_sim_time.value());
            pattern.computes_to.assign(n, 0);
        }
        interpreter.for_each_sum(instr, [&](std::uint32_t sum) {
            const auto of_sum = [&](const SumDelta& delta) { return delta.sum == sum; };
            if (std::none_of(pattern.deltas.begin(), pattern.deltas.end(), of_sum))
                pattern.deltas.push_back({sum, Column(n)});
        });
    }
}

// Learns all patterns whose first stretch is in the range.
void StretchCache::learn_from(const InstrRange& range, Interpreter& interpreter)
{
    for (Pattern& pattern : patterns_)
        if (pattern.first->instr_first >= range.first && pattern.first->instr_first < range.end)
            learn(interpreter, pattern);
}

// Learns a pattern on the interpreter's lanes.
void StretchCache::learn(Interpreter& interpreter, Pattern& pattern)
{
    const Stretch& stretch = *pattern.first;
    const Slice lanes = interpreter.lanes(stretch.lane_class);
    reset_inputs(interpreter, stretch, lanes);
    for (const OverlapRange& range : stretches_.overlaps(stretch))
        interpreter.ignore_overlaps_before(range.list, none);
    for (const OverlapRange& range : stretches_.own_overlaps(stretch))
        interpreter.ignore_overlaps_before(range.list, range.first);
    for (std::uint32_t i = 0; i < stretch.instr_count; ++i) {
        const Instr& instr = code_.instrs[stretch.instr_first + i];
        interpreter.execute(instr);
        add_guards(interpreter, pattern, instr, lanes);
    }
    for (const auto& ranges : {stretches_.overlaps(stretch), stretches_.own_overlaps(stretch)})
        for (const OverlapRange& range : ranges)
            interpreter.ignore_overlaps_before(range.list, 0);
    for (std::size_t r = 0; r < stretch.result_count; ++r)
        std::copy_n(interpreter.at(stretches_.results(stretch)[r], lanes), lanes.count,
                    pattern.results[r].begin() + static_cast<std::ptrdiff_t>(lanes.first));
    keep_sums(interpreter, pattern, lanes);
}

// Sets T = 0, and all other inputs to long before.
void StretchCache::reset_inputs(Interpreter& interpreter, const Stretch& stretch,
                                const Slice& lanes) const
{
    interpreter.forget_ranges();
    if (stretch.base != none)
        std::fill_n(interpreter.at(stretch.base, lanes), lanes.count, long_ago);
    for (const Value value : stretches_.outside(stretch))
        std::fill_n(interpreter.at(value, lanes), lanes.count, long_ago);
    std::fill_n(interpreter.at(code_.inputs[stretch.lane_class].opened, lanes), lanes.count,
                long_ago);
    std::fill_n(interpreter.at(stretch.root, lanes), lanes.count, Time{0});
}

// Takes over what the stretch has added to sums.
void StretchCache::keep_sums(Interpreter& interpreter, Pattern& pattern, const Slice& lanes) const
{
    for (SumDelta& delta : pattern.deltas) {
        Time* sum = interpreter.sum(pattern.first->lane_class, delta.sum, lanes);
        std::copy_n(sum, lanes.count, delta.by.begin() + static_cast<std::ptrdiff_t>(lanes.first));
        std::fill_n(sum, lanes.count, 0);
    }
}

// Notes how late values from outside may be for the instruction just executed to give the same.
void StretchCache::add_guards(Interpreter& interpreter, Pattern& pattern, const Instr& instr,
                              const Slice& lanes) const
{
    const Stretch& stretch = *pattern.first;
    // The value must not be later than `column`, after `constant` and `table` of its own.
    const auto not_after = [&](Column& guard, const Time* column, Time constant,
                               const TimeTable* table) {
        interpreter.kernels().limit(guard.data() + lanes.first, column, constant,
                                    table != nullptr ? table->times.data() + lanes.first : nullptr,
                                    lanes.count);
    };
    const auto outside = [&](Value value, const Time* column) {
        const std::span<const Value> known = stretches_.outside(stretch);
        const auto found = std::find(known.begin(), known.end(), value);
        if (found != known.end())
            not_after(pattern.outside[static_cast<std::size_t>(found - known.begin())], column, 0,
                      nullptr);
    };
    const auto written = [&](std::uint32_t w) {
        return interpreter.at(instr.write_first + w, lanes);
    };
    const bool computes = instr.opcode == Instr::Opcode::compute;
    if (instr.base != none)
        not_after(pattern.base, written(0), instr.constant - stretch.base_constant, nullptr);
    if (instr.host_ends)
        not_after(pattern.base, written(computes ? 2 : 1),
                  instr.end_constant - stretch.base_constant, instr.table->kernel);
    if (computes || instr.opcode == Instr::Opcode::latest || instr.opcode == Instr::Opcode::run)
        for (std::uint32_t r = 0; r < instr.read_count; ++r)
            outside(code_.reads[instr.read_first + r], written(0));
    if (instr.opcode == Instr::Opcode::charge)
        for (const Charge& charge : charges_of(code_, instr))
            outside(charge.value, interpreter.at(code_.reads[instr.read_first], lanes));
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

bool StretchCache::apply(Interpreter& interpreter, const Stretch& stretch, bool measured)
{
    Pattern& pattern = patterns_[stretch.pattern];
    const Slice lanes = interpreter.lanes(stretch.lane_class);
    Time* root = interpreter.at(stretch.root, lanes);
    if (!guards_hold(interpreter, stretch, pattern, root))
        return false;
    // A result may have been given the column of the root; that one comes last.
    const Time* own = nullptr; // for the root's
    for (std::size_t r = 0; r < stretch.result_count; ++r) {
        Time* to = interpreter.at(stretches_.results(stretch)[r], lanes);
        const Time* by = pattern.results[r].data() + lanes.first;
        if (to == root)
            own = by;
        else
            interpreter.kernels().sum(to, root, by, lanes.count);
    }
    if (own != nullptr)
        interpreter.kernels().add_times(root, own, 1, lanes.count);
    if (measured)
        ++pattern.uses[lanes.number == none ? slices_.size() : lanes.number];
    return true;
}

bool StretchCache::guards_hold(Interpreter& interpreter, const Stretch& stretch,
                               const Pattern& pattern, const Time* root)
{
    const Kernels& kernels = interpreter.kernels();
    const Slice lanes = interpreter.lanes(stretch.lane_class);
    if (stretch.base != none &&
        !kernels.reached(root, interpreter.at(stretch.base, lanes), stretch.base_constant,
                         pattern.base.data() + lanes.first, lanes.count))
        return false;
    for (std::size_t o = 0; o < stretch.outside_count; ++o)
        if (!kernels.reached(root, interpreter.at(stretches_.outside(stretch)[o], lanes), 0,
                             pattern.outside[o].data() + lanes.first, lanes.count))
            return false;
    return stretch.overlap_count == 0 || undisturbed(interpreter, stretch, pattern, root);
}

// Whether transfers from before are over when the compute of the stretch begins, or begin when it
// is over.
bool StretchCache::undisturbed(Interpreter& interpreter, const Stretch& stretch,
                               const Pattern& pattern, const Time* root)
{
    const Kernels& kernels = interpreter.kernels();
    const Slice lanes = interpreter.lanes(stretch.lane_class);
    const Time first = kernels.least(root, lanes.count); // its compute begins no earlier
    const Time* from = pattern.computes_from.data() + lanes.first;
    const Time* to = pattern.computes_to.data() + lanes.first;
    std::optional<Time> last; // it is over by then
    for (const OverlapRange& range : stretches_.overlaps(stretch))
        for (std::uint32_t r = interpreter.first_after(range, first); r < range.end; ++r) {
            if (!last) {
                root_.resize(lanes.count);
                kernels.sum(root_.data(), root, to, lanes.count);
                last = kernels.greatest(root_.data(), lanes.count);
            }
            const Overlap& overlap = code_.overlaps[range.list][r];
            if (interpreter.range(overlap.start).least >= *last)
                break;
            for (const Load& load : loads_of(code_, overlap)) {
                if (!kernels.apart(root, from, to, interpreter.load_column(load, lanes),
                                   lanes.count))
                    return false;
            }
        }
    return true;
}

void StretchCache::add_sums(Interpreter& interpreter) const
{
    const Kernels& kernels = interpreter.kernels();
    for (const Pattern& pattern : patterns_) {
        const std::uint32_t lane_class = pattern.first->lane_class;
        const Slice all{0, classes_.all[lane_class].lanes.size(), none};
        for (const SumDelta& delta : pattern.deltas)
            for (std::size_t s = 0; s <= slices_.size(); ++s) {
                const Slice& slice = s < slices_.size() ? slices_[s] : all;
                if (pattern.uses[s] > 0)
                    kernels.add_times(interpreter.sum(lane_class, delta.sum, slice),
                                      delta.by.data() + slice.first, pattern.uses[s], slice.count);
            }
    }
}

} // namespace trainyard::engine::replay
