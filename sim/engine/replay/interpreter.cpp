#include "sim/engine/replay/interpreter.h"

#include "sim/engine/replay/charge_generator.h"

#include <algorithm>
#include <array>

namespace trainyard::engine::replay {

Interpreter::Interpreter(const LaneClasses& lane_classes, const GeneratedCode& generated,
                         Tables& tables, const Kernels& kernels)
    : classes_(lane_classes),
      code_(generated.code),
      tables_(tables),
      kernels_(kernels),
      slice_columns_(generated.code.slice_slots * slice_lanes),
      ranges_(generated.code.values.size()),
      range_stamps_(generated.code.values.size()),
      ignored_(generated.code.overlaps.size())
{
    std::vector<std::size_t> first; // by lane class: line
    std::size_t lines = 0;
    for (std::uint32_t c = 0; c < lane_classes.all.size(); ++c) {
        rows_.push_back(column_stride(lane_classes.all[c].lanes.size()));
        first.push_back(lines);
        lines += code_.slots[c] * rows_[c] / line_lanes;
        const auto classes = static_cast<std::uint32_t>(generated.transfer_classes[c].used.size());
        transfer_sums_first_.push_back(static_cast<std::uint32_t>(Sum::classes) + classes);
        sums_.emplace_back((transfer_sums_first_[c] + 3 * classes) * rows_[c]);
    }
    columns_.resize(lines * line_lanes);
    lines_.reserve(code_.values.size());
    for (const ValueInfo& info : code_.values)
        lines_.push_back(static_cast<std::uint32_t>(
            info.slot == none ? 0
            : info.in_slice
                ? in_slice + info.slot * slice_lanes / line_lanes
                : first[info.lane_class] + info.slot * rows_[info.lane_class] / line_lanes));
}

void Interpreter::select_slice(const Slice& slice)
{
    slice_ = slice;
    sliced_ = true;
    forget_ranges();
}

void Interpreter::select_all()
{
    sliced_ = false;
    forget_ranges();
}

void Interpreter::execute(const Instr& instr)
{
    const Slice slice = lanes(instr.lane_class);
    if (instr.drawn)
        tables_.draw(instr.extra_count, slice.first, slice.count, measured_);
    switch (instr.opcode) {
    case Instr::Opcode::latest:
        return latest(instr, slice);
    case Instr::Opcode::run:
        return run(instr, slice);
    case Instr::Opcode::compute:
        return compute(instr, slice);
    case Instr::Opcode::collective:
        return collective(instr, slice);
    case Instr::Opcode::message:
        return message(instr, slice);
    case Instr::Opcode::permuted_message:
        return permuted_message(instr, slice);
    case Instr::Opcode::eager_send:
        return eager_send(instr, slice);
    case Instr::Opcode::eager_receive:
        return eager_receive(instr, slice);
    case Instr::Opcode::count:
        return count(instr, slice);
    case Instr::Opcode::charge:
        return charge(instr, slice);
    case Instr::Opcode::guard:
        return guard(instr, slice);
    }
}

IssueSpan Interpreter::start_issue(const Instr& instr, const Slice& lanes)
{
    if (instr.base == none)
        return {};
    return {at(instr.base, lanes), instr.constant};
}

IssueSpan Interpreter::end_issue(const Instr& instr, const Slice& lanes)
{
    return {at(instr.base, lanes), instr.end_constant,
            instr.table->kernel != nullptr ? instr.table->kernel->times.data() + lanes.first
                                           : nullptr};
}

std::span<const Time* const> Interpreter::columns_read(const Instr& instr, const Slice& lanes)
{
    from_.clear();
    for (std::uint32_t r = 0; r < instr.read_count; ++r)
        from_.push_back(read(instr, r, lanes));
    return from_;
}

// writes[0] is when all is over that it reads and the host has issued it.
void Interpreter::latest(const Instr& instr, const Slice& lanes)
{
    const auto from = columns_read(instr, lanes);
    kernels_.latest(write(instr, 0, lanes), {from.data(), from.size()}, start_issue(instr, lanes),
                    lanes.count);
}

// writes[0] is the same, writes[1] when the op is over if nothing slows it.
StartBounds Interpreter::begin(const Instr& instr, const Slice& lanes)
{
    const auto from = columns_read(instr, lanes);
    return kernels_.begin(write(instr, 0, lanes), write(instr, 1, lanes),
                          {from.data(), from.size()}, start_issue(instr, lanes), instr.end_constant,
                          instr.table->times.data() + lanes.first, lanes.count);
}

void Interpreter::run(const Instr& instr, const Slice& lanes)
{
    const StartBounds bounds = begin(instr, lanes);
    if (instr.host_ends && !bounds.issued)
        kernels_.timed(write(instr, 1, lanes), write(instr, 0, lanes),
                       instr.table->times.data() + lanes.first, end_issue(instr, lanes),
                       lanes.count);
}

void Interpreter::eager_send(const Instr& instr, const Slice& lanes)
{
    kernels_.sum(write(instr, 0, lanes), read(instr, 0, lanes),
                 instr.table->times.data() + lanes.first, lanes.count);
}

void Interpreter::collective(const Instr& instr, const Slice& lanes)
{
    const GroupClass& group_class = classes_.group_classes[instr.group_or_pipe];
    Time* waiting =
        instr.counted && measured_ ? sum(instr.lane_class, waiting_sum(instr), lanes) : nullptr;
    if (group_class.stride == 1)
        return kernels_.rendezvous_rows(write(instr, 0, lanes), write(instr, 1, lanes),
                                        read(instr, 0, lanes),
                                        instr.table->times.data() + lanes.first / group_class.size,
                                        waiting, group_class.size, lanes.count);
    if (group_class.stride > 1)
        collective_rows(instr, group_class, lanes);
    else
        collective_members(instr, group_class, lanes);
    if (waiting != nullptr)
        kernels_.add_span(waiting, read(instr, 0, lanes), write(instr, 0, lanes), lanes.count);
}

void Interpreter::collective_members(const Instr& instr, const GroupClass& group_class,
                                     const Slice& lanes)
{
    const Column& table = instr.table->times;
    for (std::size_t g = 0; g < group_class.groups.size(); ++g) {
        Time latest = 0;
        for (std::uint32_t m = group_class.first[g]; m < group_class.first[g + 1]; ++m)
            latest = std::max(latest, read(instr, group_class.members[m].member_class,
                                           lanes)[group_class.members[m].index]);
        for (std::uint32_t m = group_class.first[g]; m < group_class.first[g + 1]; ++m) {
            const Member& member = group_class.members[m];
            write(instr, 2 * member.member_class, lanes)[member.index] = latest;
            write(instr, 2 * member.member_class + 1, lanes)[member.index] = latest + table[g];
        }
    }
}

void Interpreter::collective_rows(const Instr& instr, const GroupClass& group_class,
                                  const Slice& lanes)
{
    const std::size_t stride = group_class.stride;
    const std::size_t size = group_class.size;
    scratch_.resize(std::max(scratch_.size(), stride));
    Time* latest = scratch_.data();
    for (std::size_t sheet = 0; sheet < group_class.groups.size() / stride; ++sheet) {
        const std::size_t first = sheet * size * stride;
        const Time* from = read(instr, 0, lanes) + first;
        Time* begin = write(instr, 0, lanes) + first;
        Time* end = write(instr, 1, lanes) + first;
        std::copy_n(from, stride, latest);
        for (std::size_t m = 1; m < size; ++m)
            kernels_.raise(latest, from + m * stride, stride);
        for (std::size_t m = 0; m < size; ++m) {
            std::copy_n(latest, stride, begin + m * stride);
            kernels_.sum(end + m * stride, latest, instr.table->times.data() + sheet * stride,
                         stride);
        }
    }
}

void Interpreter::message(const Instr& instr, const Slice& lanes)
{
    kernels_.rendezvous(write(instr, 0, lanes), write(instr, 1, lanes), read(instr, 0, lanes),
                        read(instr, 1, lanes), instr.table->times.data() + lanes.first,
                        lanes.count);
    count_waiting(instr, write(instr, 0, lanes), write(instr, 0, lanes), lanes);
}

// Counts how long the sender and the receiver of a message wait.
void Interpreter::count_waiting(const Instr& instr, const Time* begin, const Time* begin_there,
                                const Slice& lanes)
{
    if (!measured_)
        return;
    if (instr.extra != none)
        kernels_.add_span(sum(instr.lane_class, waiting_sum(instr.lane_class, instr.extra), lanes),
                          read(instr, 0, lanes), begin, lanes.count);
    const std::uint32_t there =
        classes_.all[instr.lane_class].pipes[instr.group_or_pipe].lane_class;
    if (instr.extra_count != none)
        kernels_.add_span(sum(there, waiting_sum(there, instr.extra_count), lanes),
                          read(instr, 1, lanes), begin_there, lanes.count);
}

void Interpreter::permuted_message(const Instr& instr, const Slice& lanes)
{
    const std::size_t n = classes_.all[instr.lane_class].lanes.size();
    const std::uint32_t* partners =
        classes_.all[instr.lane_class].pipes[instr.group_or_pipe].partners.data();
    const Time* here = read(instr, 0, lanes);
    const Time* there = read(instr, 1, lanes);
    Time* begin = write(instr, 0, lanes);
    Time* end = write(instr, 1, lanes);
    Time* begin_there = write(instr, 2, lanes);
    Time* end_there = write(instr, 3, lanes);
    for (std::size_t i = 0; i < n; ++i) {
        const Time both = std::max(here[i], there[partners[i]]);
        begin[i] = both;
        end[i] = both + instr.table->times[i];
        begin_there[partners[i]] = begin[i];
        end_there[partners[i]] = end[i];
    }
    count_waiting(instr, begin, begin_there, lanes);
}

void Interpreter::eager_receive(const Instr& instr, const Slice& lanes)
{
    const auto& partners = classes_.all[instr.lane_class].pipes[instr.group_or_pipe].partners;
    const Time* sent = read(instr, 0, lanes);
    const Time* over = read(instr, 1, lanes);
    const Time* here = read(instr, 2, lanes);
    Time* begin = write(instr, 0, lanes);
    Time* end = write(instr, 1, lanes);
    for (std::size_t i = 0; i < lanes.count; ++i) {
        const std::size_t from = partners.empty() ? i : partners[i];
        begin[i] = std::max(sent[from], here[i]);
        end[i] = std::max(over[from], here[i]);
    }
}

void Interpreter::count(const Instr& instr, const Slice& lanes)
{
    Time* waiting = sum(instr.lane_class, waiting_sum(instr.lane_class, instr.extra), lanes);
    const Time* begin = read(instr, 1, lanes);
    kernels_.add_span(waiting, read(instr, 0, lanes), begin, lanes.count);
    kernels_.add_span(waiting + rows_[instr.lane_class], begin, read(instr, 2, lanes), lanes.count);
}

void Interpreter::charge(const Instr& instr, const Slice& lanes)
{
    constexpr std::size_t block = 512;
    alignas(64) std::array<std::array<Time, block>, 2> buffers;
    const std::span<const Charge> charges = charges_of(code_, instr);
    for (std::size_t first = 0; first < lanes.count; first += block) {
        const Slice some{lanes.first + first, std::min(block, lanes.count - first)};
        const auto value = [&](std::size_t of) { return at(charges[of].value, lanes) + first; };
        const auto sum = [&](std::size_t of) {
            return charges[of].into == none
                       ? nullptr
                       : sums_[instr.lane_class].data() +
                             charges[of].into * rows_[instr.lane_class] + some.first;
        };
        const Time* from = read(instr, 0, lanes) + first;
        for (std::size_t k = 0, next = 0; k < charges.size(); k = next) {
            const bool transfer = is_transfer(charges.subspan(k));
            next = k + (transfer ? 3 : std::max(charges[k].group, 1U));
            Time* until = buffers[from == buffers[0].data() ? 1 : 0].data();
            if (charges[k].group > 0) {
                std::copy_n(from, some.count, until);
                for (std::size_t i = 0; i < some.count; ++i)
                    charge_group(instr, charges.subspan(k), lanes, first + i, until[i]);
            } else if (transfer) {
                kernels_.charge_transfer(next < charges.size() ? until : nullptr, from,
                                         {value(k), value(k + 1), value(k + 2)}, sum(k + 1),
                                         sum(k + 2), some.count);
            } else {
                const bool last = next == charges.size() && charges[k].into != none;
                kernels_.charge(last ? nullptr : until, from, value(k), sum(k), some.count);
            }
            from = until;
        }
    }
}

// Whether the first three charges are the time until a transfer starts, begins and ends.
bool Interpreter::is_transfer(std::span<const Charge> charges)
{
    return charges.size() >= 3 && charges[0].into == none && charges[1].into != none &&
           charges[2].into != none && charges[1].into != charges[2].into && charges[1].group == 0 &&
           charges[2].group == 0;
}

// Charges a group of parts on one lane, in the order of their values there.
void Interpreter::charge_group(const Instr& instr, std::span<const Charge> charges,
                               const Slice& lanes, std::size_t lane, Time& until)
{
    std::vector<const Charge*> order;
    for (std::uint32_t k = 0; k < charges[0].group; ++k)
        order.push_back(&charges[k]);
    std::sort(order.begin(), order.end(), [&](const Charge* a, const Charge* b) {
        return at(a->value, lanes)[lane] < at(b->value, lanes)[lane];
    });
    const auto charge = [&](Value value, std::uint32_t into) {
        const Time to = std::max(until, at(value, lanes)[lane]);
        sum(instr.lane_class, into, lanes)[lane] += to - until;
        until = to;
    };
    for (const Charge* part : order) {
        charge(part->value, part->into);
        charge(part->then, part->then_into);
    }
}

void Interpreter::guard(const Instr& instr, const Slice& lanes)
{
    fits_ = fits_ && kernels_.ordered(read(instr, 0, lanes), read(instr, 1, lanes), lanes.count);
}

void Interpreter::carry()
{
    // Some values come from other inputs: none is overwritten before it is read.
    std::size_t all = 0;
    for (const Carry& carry : code_.carries)
        all += rows_[code_.values[carry.from].lane_class];
    Column moved(all);
    Time* next = moved.data();
    for (const Carry& carry : code_.carries) {
        const std::uint32_t lane_class = code_.values[carry.from].lane_class;
        kernels_.shifted(next, column(carry.from), carry.add, lanes(lane_class).count);
        next += rows_[lane_class];
    }
    next = moved.data();
    for (const Carry& carry : code_.carries) {
        std::copy_n(next, lanes(code_.values[carry.to].lane_class).count, column(carry.to));
        next += rows_[code_.values[carry.from].lane_class];
    }
}

} // namespace trainyard::engine::replay
