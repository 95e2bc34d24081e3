#include "sim/engine/replay/player.h"

#include "sim/engine/replay/charges.h"

#include <algorithm>
#include <array>

namespace trainyard::engine::replay {

Player::Player(const Cohorts& cohorts, const Composed& composed, Tables& tables,
               const Kernels& kernels)
    : cohorts_(cohorts),
      tape_(composed.tape),
      tables_(tables),
      kernels_(kernels),
      slice_columns_(composed.tape.slice_slots * slice_lanes),
      ranges_(composed.tape.values.size()),
      range_stamps_(composed.tape.values.size()),
      ignored_(composed.tape.rivals.size())
{
    std::vector<std::size_t> first; // by cohort: line
    std::size_t lines = 0;
    for (std::uint32_t c = 0; c < cohorts.all.size(); ++c) {
        rows_.push_back(column_stride(cohorts.all[c].lanes.size()));
        first.push_back(lines);
        lines += tape_.slots[c] * rows_[c] / line_lanes;
        const auto classes = static_cast<std::uint32_t>(composed.totals[c].classes.size());
        totals_first_.push_back(static_cast<std::uint32_t>(Sum::classes) + classes);
        sums_.emplace_back((totals_first_[c] + 3 * classes) * rows_[c]);
    }
    columns_.resize(lines * line_lanes);
    lines_.reserve(tape_.values.size());
    for (const ValueInfo& info : tape_.values)
        lines_.push_back(static_cast<std::uint32_t>(
            info.slot == none ? 0
            : info.in_slice   ? in_slice + info.slot * slice_lanes / line_lanes
                              : first[info.cohort] + info.slot * rows_[info.cohort] / line_lanes));
}

void Player::take_slice(const Slice& slice)
{
    slice_ = slice;
    sliced_ = true;
    forget_ranges();
}

void Player::take_all()
{
    sliced_ = false;
    forget_ranges();
}

void Player::play(const Instr& instr)
{
    const Slice slice = lanes(instr.cohort);
    if (instr.drawn)
        tables_.draw(instr.extra_count, slice.first, slice.count, measured_);
    switch (instr.code) {
    case Instr::Code::latest:
        return latest(instr, slice);
    case Instr::Code::run:
        return run(instr, slice);
    case Instr::Code::compute:
        return compute(instr, slice);
    case Instr::Code::gather:
        return gather(instr, slice);
    case Instr::Code::pass:
        return pass(instr, slice);
    case Instr::Code::pass_over:
        return pass_over(instr, slice);
    case Instr::Code::send:
        return send(instr, slice);
    case Instr::Code::take:
        return take(instr, slice);
    case Instr::Code::count:
        return count(instr, slice);
    case Instr::Code::charge:
        return charge(instr, slice);
    case Instr::Code::guard:
        return guard(instr, slice);
    }
}

IssueSpan Player::start_issue(const Instr& instr, const Slice& lanes)
{
    if (instr.base == none)
        return {};
    return {at(instr.base, lanes), instr.constant};
}

IssueSpan Player::end_issue(const Instr& instr, const Slice& lanes)
{
    return {at(instr.base, lanes), instr.end_constant,
            instr.table->kernel != nullptr ? instr.table->kernel->times.data() + lanes.first
                                           : nullptr};
}

std::span<const Time* const> Player::columns_read(const Instr& instr, const Slice& lanes)
{
    from_.clear();
    for (std::uint32_t r = 0; r < instr.read_count; ++r)
        from_.push_back(read(instr, r, lanes));
    return from_;
}

// writes[0], once all is over that it reads and the host has issued it.
void Player::latest(const Instr& instr, const Slice& lanes)
{
    const auto from = columns_read(instr, lanes);
    kernels_.latest(write(instr, 0, lanes), {from.data(), from.size()}, start_issue(instr, lanes),
                    lanes.count);
}

// writes[0] likewise, and writes[1]: when it is over if nothing slows it.
Begun Player::begin(const Instr& instr, const Slice& lanes)
{
    const auto from = columns_read(instr, lanes);
    return kernels_.begin(write(instr, 0, lanes), write(instr, 1, lanes),
                          {from.data(), from.size()}, start_issue(instr, lanes), instr.end_constant,
                          instr.table->times.data() + lanes.first, lanes.count);
}

void Player::run(const Instr& instr, const Slice& lanes)
{
    const Begun begun = begin(instr, lanes);
    if (instr.host_ends && !begun.issued)
        kernels_.timed(write(instr, 1, lanes), write(instr, 0, lanes),
                       instr.table->times.data() + lanes.first, end_issue(instr, lanes),
                       lanes.count);
}

void Player::send(const Instr& instr, const Slice& lanes)
{
    kernels_.sum(write(instr, 0, lanes), read(instr, 0, lanes),
                 instr.table->times.data() + lanes.first, lanes.count);
}

void Player::gather(const Instr& instr, const Slice& lanes)
{
    const Meeting& meeting = cohorts_.meetings[instr.meeting];
    Time* waiting =
        instr.counted && measured_ ? sum(instr.cohort, waiting_sum(instr), lanes) : nullptr;
    if (meeting.stride == 1)
        return kernels_.meet_rows(write(instr, 0, lanes), write(instr, 1, lanes),
                                  read(instr, 0, lanes),
                                  instr.table->times.data() + lanes.first / meeting.size, waiting,
                                  meeting.size, lanes.count);
    if (meeting.stride > 1)
        gather_rows(instr, meeting, lanes);
    else
        gather_seats(instr, meeting, lanes);
    if (waiting != nullptr)
        kernels_.add_span(waiting, read(instr, 0, lanes), write(instr, 0, lanes), lanes.count);
}

void Player::gather_seats(const Instr& instr, const Meeting& meeting, const Slice& lanes)
{
    const Column& table = instr.table->times;
    for (std::size_t g = 0; g < meeting.groups.size(); ++g) {
        Time latest = 0;
        for (std::uint32_t m = meeting.first[g]; m < meeting.first[g + 1]; ++m)
            latest = std::max(
                latest, read(instr, meeting.members[m].seat, lanes)[meeting.members[m].index]);
        for (std::uint32_t m = meeting.first[g]; m < meeting.first[g + 1]; ++m) {
            const Member& member = meeting.members[m];
            write(instr, 2 * member.seat, lanes)[member.index] = latest;
            write(instr, 2 * member.seat + 1, lanes)[member.index] = latest + table[g];
        }
    }
}

void Player::gather_rows(const Instr& instr, const Meeting& meeting, const Slice& lanes)
{
    const std::size_t stride = meeting.stride;
    const std::size_t size = meeting.size;
    scratch_.resize(std::max(scratch_.size(), stride));
    Time* latest = scratch_.data();
    for (std::size_t sheet = 0; sheet < meeting.groups.size() / stride; ++sheet) {
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

void Player::pass(const Instr& instr, const Slice& lanes)
{
    kernels_.meet(write(instr, 0, lanes), write(instr, 1, lanes), read(instr, 0, lanes),
                  read(instr, 1, lanes), instr.table->times.data() + lanes.first, lanes.count);
    count_waiting(instr, write(instr, 0, lanes), write(instr, 0, lanes), lanes);
}

// Of a message: the sender and the receiver.
void Player::count_waiting(const Instr& instr, const Time* begin, const Time* begin_there,
                           const Slice& lanes)
{
    if (!measured_)
        return;
    if (instr.extra != none)
        kernels_.add_span(sum(instr.cohort, waiting_sum(instr.cohort, instr.extra), lanes),
                          read(instr, 0, lanes), begin, lanes.count);
    const std::uint32_t there = cohorts_.all[instr.cohort].pipes[instr.meeting].cohort;
    if (instr.extra_count != none)
        kernels_.add_span(sum(there, waiting_sum(there, instr.extra_count), lanes),
                          read(instr, 1, lanes), begin_there, lanes.count);
}

void Player::pass_over(const Instr& instr, const Slice& lanes)
{
    const std::size_t n = cohorts_.all[instr.cohort].lanes.size();
    const std::uint32_t* partners = cohorts_.all[instr.cohort].pipes[instr.meeting].partners.data();
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

void Player::take(const Instr& instr, const Slice& lanes)
{
    const auto& partners = cohorts_.all[instr.cohort].pipes[instr.meeting].partners;
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

void Player::count(const Instr& instr, const Slice& lanes)
{
    Time* waiting = sum(instr.cohort, waiting_sum(instr.cohort, instr.extra), lanes);
    const Time* begin = read(instr, 1, lanes);
    kernels_.add_span(waiting, read(instr, 0, lanes), begin, lanes.count);
    kernels_.add_span(waiting + rows_[instr.cohort], begin, read(instr, 2, lanes), lanes.count);
}

void Player::charge(const Instr& instr, const Slice& lanes)
{
    constexpr std::size_t block = 512;
    alignas(64) std::array<std::array<Time, block>, 2> buffers;
    const std::span<const Charge> charges = charges_of(tape_, instr);
    for (std::size_t first = 0; first < lanes.count; first += block) {
        const Slice some{lanes.first + first, std::min(block, lanes.count - first)};
        const auto value = [&](std::size_t of) { return at(charges[of].value, lanes) + first; };
        const auto sum = [&](std::size_t of) {
            return charges[of].into == none
                       ? nullptr
                       : sums_[instr.cohort].data() + charges[of].into * rows_[instr.cohort] +
                             some.first;
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

// Whether an entry and the two behind it charge the time until a transfer starts, begins and ends.
bool Player::is_transfer(std::span<const Charge> charges)
{
    return charges.size() >= 3 && charges[0].into == none && charges[1].into != none &&
           charges[2].into != none && charges[1].into != charges[2].into && charges[1].group == 0 &&
           charges[2].group == 0;
}

// On one of the lanes.
void Player::charge_group(const Instr& instr, std::span<const Charge> charges, const Slice& lanes,
                          std::size_t lane, Time& until)
{
    std::vector<const Charge*> order;
    for (std::uint32_t k = 0; k < charges[0].group; ++k)
        order.push_back(&charges[k]);
    std::sort(order.begin(), order.end(), [&](const Charge* a, const Charge* b) {
        return at(a->value, lanes)[lane] < at(b->value, lanes)[lane];
    });
    const auto charge = [&](Value value, std::uint32_t into) {
        const Time to = std::max(until, at(value, lanes)[lane]);
        sum(instr.cohort, into, lanes)[lane] += to - until;
        until = to;
    };
    for (const Charge* part : order) {
        charge(part->value, part->into);
        charge(part->then, part->then_into);
    }
}

void Player::guard(const Instr& instr, const Slice& lanes)
{
    fits_ = fits_ && kernels_.ordered(read(instr, 0, lanes), read(instr, 1, lanes), lanes.count);
}

void Player::carry()
{
    // Some come from what comes in: none is overwritten before it is read.
    std::size_t all = 0;
    for (const Carry& carry : tape_.carries)
        all += rows_[tape_.values[carry.from].cohort];
    Column moved(all);
    Time* next = moved.data();
    for (const Carry& carry : tape_.carries) {
        const std::uint32_t cohort = tape_.values[carry.from].cohort;
        kernels_.shifted(next, column(carry.from), carry.add, lanes(cohort).count);
        next += rows_[cohort];
    }
    next = moved.data();
    for (const Carry& carry : tape_.carries) {
        std::copy_n(next, lanes(tape_.values[carry.to].cohort).count, column(carry.to));
        next += rows_[tape_.values[carry.from].cohort];
    }
}

} // namespace trainyard::engine::replay
