#include "sim/engine/replay/player.h"

#include "sim/engine/interference.h"
#include "sim/engine/replay/charges.h"

#include <algorithm>

namespace trainyard::engine::replay {

Player::Player(const Cohorts& cohorts, const Composed& composed)
    : cohorts_(cohorts),
      tape_(composed.tape),
      ranges_(composed.tape.values.size()),
      range_stamps_(composed.tape.values.size())
{
    for (std::uint32_t c = 0; c < cohorts.all.size(); ++c) {
        rows_.push_back((lanes(c) + 7) / 8 * 8);
        columns_.emplace_back(tape_.slots[c] * rows_[c]);
        const std::size_t classes = composed.totals[c].classes.size();
        totals_.emplace_back(2 * classes * rows_[c]);
        sums_.emplace_back((static_cast<std::size_t>(Sum::classes) + classes) * rows_[c]);
    }
}

void Player::play(std::size_t i)
{
    const Instr& instr = tape_.instrs[i];
    switch (instr.code) {
    case Instr::Code::latest:
        return latest(instr);
    case Instr::Code::timed:
        return timed(instr);
    case Instr::Code::gather:
        return gather(instr);
    case Instr::Code::pass:
        return pass(instr);
    case Instr::Code::pass_over:
        return pass_over(instr);
    case Instr::Code::send:
        return send(instr);
    case Instr::Code::take:
        return take(instr);
    case Instr::Code::compute:
        return compute(instr);
    case Instr::Code::count:
        return count(instr);
    case Instr::Code::charge:
        return charge(instr);
    case Instr::Code::busy:
        return busy(instr);
    case Instr::Code::guard:
        return guard(instr);
    }
}

void Player::latest(const Instr& instr)
{
    const std::size_t n = lanes(instr.cohort);
    Time* to = write(instr, 0);
    if (instr.base != none) {
        const Time* base = column(instr.base);
        for (std::size_t i = 0; i < n; ++i)
            to[i] = base[i] + instr.constant;
    } else {
        std::copy_n(read(instr, 0), n, to);
    }
    for (std::uint32_t r = instr.base != none ? 0 : 1; r < instr.read_count; ++r) {
        const Time* from = read(instr, r);
        for (std::size_t i = 0; i < n; ++i)
            to[i] = std::max(to[i], from[i]);
    }
}

void Player::timed(const Instr& instr)
{
    const std::size_t n = lanes(instr.cohort);
    const Time* from = read(instr, 0);
    const Time* time = instr.table->data();
    Time* to = write(instr, 0);
    if (instr.base == none) {
        for (std::size_t i = 0; i < n; ++i)
            to[i] = from[i] + time[i];
        return;
    }
    const Time* base = column(instr.base);
    if (instr.table2 == nullptr) {
        for (std::size_t i = 0; i < n; ++i)
            to[i] = std::max(from[i] + time[i], base[i] + instr.constant);
        return;
    }
    const Time* kernel = instr.table2->data();
    for (std::size_t i = 0; i < n; ++i)
        to[i] = std::max(from[i] + time[i], base[i] + instr.constant + kernel[i]);
}

void Player::gather(const Instr& instr)
{
    const Meeting& meeting = cohorts_.meetings[instr.meeting];
    if (meeting.stride > 0)
        return gather_rows(instr, meeting);
    const Column& table = *instr.table;
    for (std::size_t g = 0; g < meeting.groups.size(); ++g) {
        Time latest = 0;
        for (std::uint32_t m = meeting.first[g]; m < meeting.first[g + 1]; ++m)
            latest =
                std::max(latest, read(instr, meeting.members[m].seat)[meeting.members[m].index]);
        for (std::uint32_t m = meeting.first[g]; m < meeting.first[g + 1]; ++m) {
            const Member& member = meeting.members[m];
            write(instr, 2 * member.seat)[member.index] = latest;
            write(instr, 2 * member.seat + 1)[member.index] = latest + table[g];
        }
    }
}

void Player::gather_rows(const Instr& instr, const Meeting& meeting)
{
    const std::size_t stride = meeting.stride;
    const std::size_t size = meeting.size;
    const Time* from = read(instr, 0);
    Time* begin = write(instr, 0);
    Time* end = write(instr, 1);
    const Time* table = instr.table->data();
    scratch_.resize(std::max(scratch_.size(), stride));
    Time* latest = scratch_.data();
    for (std::size_t sheet = 0; sheet < meeting.groups.size() / stride; ++sheet) {
        const std::size_t first = sheet * size * stride;
        std::copy_n(from + first, stride, latest);
        for (std::size_t m = 1; m < size; ++m)
            for (std::size_t i = 0; i < stride; ++i)
                latest[i] = std::max(latest[i], from[first + m * stride + i]);
        for (std::size_t m = 0; m < size; ++m)
            for (std::size_t i = 0; i < stride; ++i) {
                begin[first + m * stride + i] = latest[i];
                end[first + m * stride + i] = latest[i] + table[sheet * stride + i];
            }
    }
}

void Player::pass(const Instr& instr)
{
    const std::size_t n = lanes(instr.cohort);
    const Time* here = read(instr, 0);
    const Time* there = read(instr, 1);
    const Time* table = instr.table->data();
    Time* begin = write(instr, 0);
    Time* end = write(instr, 1);
    for (std::size_t i = 0; i < n; ++i) {
        const Time both = std::max(here[i], there[i]);
        begin[i] = both;
        end[i] = both + table[i];
    }
}

void Player::pass_over(const Instr& instr)
{
    const std::size_t n = lanes(instr.cohort);
    const std::uint32_t* partners = cohorts_.all[instr.cohort].pipes[instr.meeting].partners.data();
    const Time* here = read(instr, 0);
    const Time* there = read(instr, 1);
    Time* begin = write(instr, 0);
    Time* end = write(instr, 1);
    Time* begin_there = write(instr, 2);
    Time* end_there = write(instr, 3);
    for (std::size_t i = 0; i < n; ++i) {
        const Time both = std::max(here[i], there[partners[i]]);
        begin[i] = both;
        end[i] = both + (*instr.table)[i];
        begin_there[partners[i]] = begin[i];
        end_there[partners[i]] = end[i];
    }
}

void Player::send(const Instr& instr)
{
    const std::size_t n = lanes(instr.cohort);
    const Time* from = read(instr, 0);
    Time* end = write(instr, 0);
    for (std::size_t i = 0; i < n; ++i)
        end[i] = from[i] + (*instr.table)[i];
}

void Player::take(const Instr& instr)
{
    const std::size_t n = lanes(instr.cohort);
    const auto& partners = cohorts_.all[instr.cohort].pipes[instr.meeting].partners;
    const Time* sent = read(instr, 0);
    const Time* over = read(instr, 1);
    const Time* here = read(instr, 2);
    Time* begin = write(instr, 0);
    Time* end = write(instr, 1);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t from = partners.empty() ? i : partners[i];
        begin[i] = std::max(sent[from], here[i]);
        end[i] = std::max(over[from], here[i]);
    }
}

namespace {

// A load on one lane.
struct LoadSpan {
    Time from;
    Time to;
    std::uint64_t share;
};

struct Drained {
    Time end = 0;
    u128 left = 0; // at `open`, in ps x 2^20
};

// When `work` ps x 2^20 that begin at `now` have drained, at what the loads leave; and what is left
// of it at `open`.
Drained drain(std::span<const LoadSpan> loads, Time now, u128 work, Time open)
{
    Drained drained{0, work};
    for (;;) {
        std::uint64_t lost = 0;
        Time change = longest_sim_time.value();
        for (const LoadSpan& load : loads) {
            if (load.from <= now && now < load.to)
                lost += load.share;
            if (load.from < load.to)
                for (const Time at : {load.from, load.to})
                    if (at > now)
                        change = std::min(change, at);
        }
        const std::uint64_t share = compute_share(lost, 0);
        if (now <= open) {
            const u128 before_open = static_cast<u128>(std::min(change, open) - now) * share;
            drained.left = work - std::min(work, before_open);
        }
        drained.end = now + static_cast<Time>((work + share - 1) / share);
        if (drained.end <= change)
            return drained;
        work -= static_cast<u128>(change - now) * share;
        now = change;
    }
}

} // namespace

Player::Range Player::range(Value value)
{
    if (range_stamps_[value] != range_stamp_) {
        const Time* first = column(value);
        const auto [least, most] =
            std::minmax_element(first, first + lanes(tape_.values[value].cohort));
        ranges_[value] = {*least, *most};
        range_stamps_[value] = range_stamp_;
    }
    return ranges_[value];
}

void Player::compute(const Instr& instr)
{
    const std::size_t n = lanes(instr.cohort);
    const Time* from = read(instr, 0);
    const Time* time = instr.table->data();
    Time* device = write(instr, 0);
    Time* left = write(instr, 2);
    const Time* opened = column(tape_.inputs[instr.cohort].opened);
    const Time first = *std::min_element(from, from + n);
    std::vector<const Load*> near; // that are not over before any of this begins
    for (std::uint32_t l = 0; l < instr.load_count; ++l) {
        const Load& load = tape_.loads[instr.load_first + l];
        if (load.to == none || range(load.to).most > first)
            near.push_back(&load);
    }
    std::vector<LoadSpan> loads(near.size());
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t l = 0; l < near.size(); ++l) {
            const Load& load = *near[l];
            loads[l] = {column(load.from)[i] + (load.delay != nullptr ? load.delay->of(i) : 0),
                        load.to != none ? column(load.to)[i] : longest_sim_time.value(),
                        static_cast<std::uint64_t>(load.share->of(i))};
        }
        const Drained drained =
            drain(loads, from[i], static_cast<u128>(time[i]) * full_share, opened[i]);
        device[i] = drained.end;
        left[i] = static_cast<Time>(drained.left);
    }
    Time* end = write(instr, 1);
    std::copy_n(device, n, end);
    if (instr.base == none)
        return;
    const Time* base = column(instr.base);
    for (std::size_t i = 0; i < n; ++i)
        end[i] = std::max(end[i], base[i] + instr.constant +
                                      (instr.table2 != nullptr ? (*instr.table2)[i] : 0));
}

void Player::count(const Instr& instr)
{
    const std::size_t n = lanes(instr.cohort);
    const Time* start = read(instr, 0);
    const Time* begin = read(instr, 1);
    const Time* end = read(instr, 2);
    Time* waiting = totals_[instr.cohort].data() + 2 * instr.total * rows_[instr.cohort];
    Time* moving = waiting + rows_[instr.cohort];
    for (std::size_t i = 0; i < n; ++i) {
        waiting[i] += begin[i] - start[i];
        moving[i] += end[i] - begin[i];
    }
}

void Player::charge(const Instr& instr)
{
    constexpr std::size_t block = 512;
    std::array<Time, block> until;
    const std::size_t n = lanes(instr.cohort);
    const Time* from = read(instr, 0);
    for (std::size_t first = 0; first < n; first += block) {
        const std::size_t count = std::min(block, n - first);
        std::copy_n(from + first, count, until.begin());
        for (std::uint32_t k = 0; k < instr.charge_count; ++k) {
            const Charge& charge = tape_.charges[instr.charge_first + k];
            if (charge.group > 0) {
                for (std::size_t i = 0; i < count; ++i)
                    charge_group(instr, instr.charge_first + k, first + i, until[i]);
                k += charge.group - 1;
                continue;
            }
            const Time* value = column(charge.value) + first;
            if (charge.into == none) {
                for (std::size_t i = 0; i < count; ++i)
                    until[i] = std::max(until[i], value[i]);
                continue;
            }
            Time* sum = sums_[instr.cohort].data() + charge.into * rows_[instr.cohort] + first;
            for (std::size_t i = 0; i < count; ++i) {
                const Time to = std::max(until[i], value[i]);
                sum[i] += to - until[i];
                until[i] = to;
            }
        }
    }
}

void Player::charge_group(const Instr& instr, std::uint32_t first, std::size_t lane, Time& until)
{
    std::vector<const Charge*> order;
    for (std::uint32_t k = 0; k < tape_.charges[first].group; ++k)
        order.push_back(&tape_.charges[first + k]);
    std::sort(order.begin(), order.end(), [&](const Charge* a, const Charge* b) {
        return column(a->value)[lane] < column(b->value)[lane];
    });
    const auto charge = [&](Value value, std::uint32_t into) {
        const Time to = std::max(until, column(value)[lane]);
        sums_[instr.cohort][into * rows_[instr.cohort] + lane] += to - until;
        until = to;
    };
    for (const Charge* part : order) {
        charge(part->value, part->into);
        charge(part->then, part->then_into);
    }
}

void Player::busy(const Instr& instr)
{
    const std::size_t n = lanes(instr.cohort);
    const Time* start = read(instr, 0);
    const Time* done = read(instr, 1);
    Time* sum =
        sums_[instr.cohort].data() + static_cast<std::size_t>(Sum::busy) * rows_[instr.cohort];
    for (std::size_t i = 0; i < n; ++i)
        sum[i] += done[i] - start[i];
}

void Player::guard(const Instr& instr)
{
    const std::size_t n = lanes(instr.cohort);
    const Time* first = read(instr, 0);
    const Time* second = read(instr, 1);
    bool fits = true;
    for (std::size_t i = 0; i < n; ++i)
        fits &= first[i] <= second[i];
    fits_ &= fits;
}

void Player::carry()
{
    // Some come from what comes in: none is overwritten before it is read.
    std::vector<Time> moved;
    for (const Carry& carry : tape_.carries) {
        const Time* from = column(carry.from);
        for (std::size_t i = 0; i < lanes(tape_.values[carry.from].cohort); ++i)
            moved.push_back(from[i] + carry.add);
    }
    const Time* next = moved.data();
    for (const Carry& carry : tape_.carries) {
        const std::size_t n = lanes(tape_.values[carry.to].cohort);
        std::copy_n(next, n, column(carry.to));
        next += n;
    }
}

} // namespace trainyard::engine::replay
