#include "calibrate/backends/host/host_communicator.h"

#include "calibrate/measure/backend/fitted.h"
#include "calibrate/measure/host_kernels/check_pattern.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace trainyard {
namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start)
{
    return Seconds(std::chrono::duration<double>(Clock::now() - start).count());
}

constexpr std::byte poison{0xa5}; // no element of a checked result

} // namespace

HostCommunicator::HostCommunicator(const Place& place, const MemoryLimits& limits)
    : place_(place), memory_(limits), local_(limits)
{}

template <class F>
auto HostCommunicator::guarded(F&& call)
{
    const MeasureFailure was_aborted{FailureKind::aborted, "aborted", ""};
    if (aborted_)
        throw was_aborted;
    try {
        return call();
    } catch (const MeasureFailure&) {
        if (aborted_)
            throw was_aborted;
        throw;
    } catch (const std::bad_alloc&) {
        throw MeasureFailure{FailureKind::refused, "out of memory", "time smaller sizes"};
    } catch (const std::exception& error) {
        if (aborted_)
            throw was_aborted;
        throw failure(error);
    }
}

void HostCommunicator::prepare(const TimedWork& work)
{
    prepared_ = false;
    if (fitted(work, place_.ranks) != work)
        throw MeasureFailure{
            FailureKind::refused,
            fmt::format("{} does not divide among {} ranks", describe(work), place_.ranks),
            fmt::format("time {}", describe(fitted(work, place_.ranks)))};
    guarded([&] {
        work_ = work;
        next_ = 0;
        if (const auto* collective = std::get_if<CollectiveWork>(&work))
            prepare_collective(*collective);
        else if (const auto* exchange = std::get_if<ExchangeWork>(&work))
            prepare_messages(exchange->messages, exchange->size);
        else if (const auto* pair = std::get_if<PingPongWork>(&work))
            prepare_messages({{pair->first, pair->second}, {pair->second, pair->first}},
                             pair->size);
        else if (const auto* local = std::get_if<LocalWork>(&work))
            local_.prepare(*local);
        else if (const auto* beside = std::get_if<BesideWork>(&work)) {
            prepare_collective(beside->collective);
            local_.prepare(beside->local);
        }
    });
    prepared_ = true;
}

void HostCommunicator::prepare_collective(const CollectiveWork& work)
{
    if (work.root < 0 || work.root >= place_.ranks)
        throw MeasureFailure{FailureKind::refused,
                             fmt::format("no rank {} in this group", work.root), ""};
    layout_ = layout_of(work, place_.rank, place_.ranks);
    memory_.divide(layout_.bytes, fixed_slots(work));
    plan(work);
}

void HostCommunicator::prepare_messages(std::vector<PairMessage> messages, Bytes size)
{
    transfers_.clear();
    for (int index = 0; const PairMessage& message : messages) {
        if (message.from == message.to || std::min(message.from, message.to) < 0 ||
            std::max(message.from, message.to) >= place_.ranks)
            throw MeasureFailure{FailureKind::refused,
                                 fmt::format("no message {} -> {} among {} ranks", message.from,
                                             message.to, place_.ranks),
                                 ""};
        if (message.from == place_.rank)
            transfers_.push_back({Transfer::Way::send, message.to, index, 0, 0});
        if (message.to == place_.rank)
            transfers_.push_back({Transfer::Way::receive, message.from, index, 0, 0});
        ++index;
    }
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
        transfers_[i].offset = i * size.value();
        transfers_[i].bytes = size.value();
    }
    memory_.divide(size.value() * transfers_.size());
}

std::size_t HostCommunicator::take_slot()
{
    const std::size_t slot = next_;
    next_ = (next_ + 1) % memory_.parts();
    return slot;
}

BatchTime HostCommunicator::run(int ops)
{
    if (!prepared_ || ops < 1)
        throw MeasureFailure{FailureKind::refused, "nothing was prepared", ""};
    return guarded([&] { return run_work(ops); });
}

BatchTime HostCommunicator::run_work(int ops)
{
    if (const auto* beside = std::get_if<BesideWork>(&work_))
        return run_beside(*beside, ops);
    barrier();
    if (const auto* work = std::get_if<CollectiveWork>(&work_))
        return {.elapsed = run_collectives(*work, ops)};
    if (std::holds_alternative<ExchangeWork>(work_))
        return {.elapsed = run_exchanges(ops)};
    if (std::holds_alternative<PingPongWork>(work_))
        return {.elapsed = run_ping_pongs(ops)};
    return {.elapsed = run_kernels(ops)};
}

Seconds HostCommunicator::run_collectives(const CollectiveWork& work, int ops)
{
    const auto start = Clock::now();
    for (int op = 0; op < ops; ++op)
        collective(work, take_slot());
    return since(start);
}

Seconds HostCommunicator::run_exchanges(int ops)
{
    const auto start = Clock::now();
    for (int op = 0; op < ops; ++op)
        exchange(memory_.part(take_slot()).data(), transfers_);
    return since(start);
}

// Whole round trips: an odd op's time is the share of the last one.
Seconds HostCommunicator::run_ping_pongs(int ops)
{
    const int trips = (ops + 1) / 2;
    const auto start = Clock::now();
    for (int trip = 0; trip < trips; ++trip) {
        std::byte* memory = memory_.part(take_slot()).data();
        for (const Transfer& transfer : transfers_) // in the order of the messages
            exchange(memory, {&transfer, 1});
    }
    return since(start) * (static_cast<double>(ops) / (2.0 * trips));
}

Seconds HostCommunicator::run_kernels(int ops)
{
    const auto start = Clock::now();
    for (int op = 0; op < ops && !aborted_; ++op)
        local_.run_once();
    if (aborted_)
        throw MeasureFailure{FailureKind::aborted, "aborted", ""};
    return since(start);
}

// The kernel runs in a thread of its own, the collective in this one (some libraries want one
// thread). The work that is not timed starts first.
BatchTime HostCommunicator::run_beside(const BesideWork& work, int ops)
{
    std::atomic<bool> kernel_may_start = work.times_collective;
    std::atomic<bool> kernel_runs = false;
    std::atomic<bool> give_up = false;
    const int kernels = work.times_collective ? work.repeats : ops;
    Clock::time_point kernel_start;
    Clock::time_point kernel_end;
    std::jthread kernel([&] {
        kernel_may_start.wait(false);
        kernel_start = Clock::now();
        kernel_runs = true;
        kernel_runs.notify_one();
        for (int op = 0; op < kernels && !give_up && !aborted_; ++op)
            local_.run_once();
        kernel_end = Clock::now();
    });
    // Whatever is thrown below, the thread ends soon.
    const auto ended = [&](bool early) {
        give_up = early;
        kernel_may_start = true;
        kernel_may_start.notify_one();
        kernel.join();
    };
    try {
        if (work.times_collective)
            kernel_runs.wait(false); // and keeps running over the barrier
        barrier();
        const auto start = Clock::now();
        kernel_may_start = true;
        kernel_may_start.notify_one();
        const Seconds collectives =
            run_collectives(work.collective, work.times_collective ? ops : work.repeats);
        const auto end = Clock::now();
        ended(false);
        if (work.times_collective)
            return {.elapsed = collectives, .covered = kernel_start <= start && end <= kernel_end};
        return {.elapsed =
                    Seconds(std::chrono::duration<double>(kernel_end - kernel_start).count()),
                .covered = start <= kernel_start && kernel_end <= end};
    } catch (...) {
        ended(true);
        throw;
    }
}

std::optional<std::int64_t> HostCommunicator::wrong_elements()
{
    if (!prepared_)
        throw MeasureFailure{FailureKind::refused, "nothing was prepared", ""};
    return guarded([&]() -> std::optional<std::int64_t> {
        ++round_;
        if (const auto* work = std::get_if<CollectiveWork>(&work_);
            work != nullptr && work->collective != CollectiveKind::barrier)
            return wrong_collective(*work);
        if (std::holds_alternative<ExchangeWork>(work_) ||
            std::holds_alternative<PingPongWork>(work_))
            return wrong_messages();
        return std::nullopt;
    });
}

std::int64_t HostCommunicator::wrong_collective(const CollectiveWork& work)
{
    using enum CollectiveKind;
    const bool sums = work.collective == all_reduce || work.collective == reduce ||
                      work.collective == reduce_scatter;
    const CheckPattern pattern =
        sums ? CheckPattern(work.type, round_, place_.ranks) : CheckPattern(work.type, round_);
    const std::size_t slot = take_slot();
    const auto [input, output] = buffers(slot);
    std::ranges::fill(output, poison);
    pattern.fill(input, place_.rank, 0);
    collective(work, slot);

    const std::size_t share = work.size.value() / static_cast<std::size_t>(place_.ranks);
    const auto first = static_cast<std::uint64_t>(place_.rank) * share /
                       static_cast<std::uint64_t>(element_bytes(work.type));
    switch (work.collective) {
    case all_reduce:
        return pattern.wrong_sums(output, 0);
    case reduce:
        return work.root == place_.rank ? pattern.wrong_sums(output, 0) : 0;
    case reduce_scatter:
        return pattern.wrong_sums(output.first(share), first);
    case broadcast:
        // The root of some libraries keeps its data where they were.
        return work.root == place_.rank ? 0 : pattern.wrong(output, work.root, 0);
    default:
        break;
    }
    std::int64_t wrong = 0;
    for (int peer = 0; peer < place_.ranks; ++peer)
        wrong += pattern.wrong(output.subspan(static_cast<std::size_t>(peer) * share, share), peer,
                               work.collective == all_to_all ? first : 0);
    return wrong;
}

std::int64_t HostCommunicator::wrong_messages()
{
    const CheckPattern pattern(ElementType::uint8, round_);
    next_ = 0;
    const std::span<std::byte> memory = memory_.part(next_); // what the op below takes
    for (const Transfer& transfer : transfers_) {
        const std::span<std::byte> bytes = memory.subspan(transfer.offset, transfer.bytes);
        if (transfer.way == Transfer::Way::send)
            pattern.fill(bytes, transfer.index, 0);
        else
            std::ranges::fill(bytes, poison);
    }
    if (std::holds_alternative<PingPongWork>(work_))
        run_ping_pongs(2);
    else
        run_exchanges(1);
    std::int64_t wrong = 0;
    for (const Transfer& transfer : transfers_)
        if (transfer.way == Transfer::Way::receive)
            wrong +=
                pattern.wrong(memory.subspan(transfer.offset, transfer.bytes), transfer.index, 0);
    return wrong;
}

void HostCommunicator::abort() noexcept
{
    aborted_ = true;
    wake();
}

} // namespace trainyard
