#include "sim/engine/standstill.h"

#include "sim/engine/state.h"
#include "sim/engine/transfer_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace trainyard::engine {

namespace {

constexpr std::size_t most_problems = 8; // one mistake leaves many waiting
constexpr std::size_t most_ranks = 8;

class Words {
public:
    Words(const Program& program, const Binding& binding) : program_(program), binding_(binding) {}

    std::uint32_t rank(LaneId lane) const { return binding_.lanes[lane.value].rank.value; }

    // "rank 3", "ranks 3, 5"
    std::string ranks(const std::vector<LaneId>& lanes) const
    {
        std::vector<std::uint32_t> numbers;
        for (const LaneId lane : lanes)
            numbers.push_back(rank(lane));
        std::sort(numbers.begin(), numbers.end());
        const std::size_t shown = std::min(numbers.size(), most_ranks);
        std::string text = fmt::format(
            "{} {}", numbers.size() == 1 ? "rank" : "ranks",
            fmt::join(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
        if (shown < numbers.size())
            text += fmt::format(" and {} more", numbers.size() - shown);
        return text;
    }

    // all_reduce "gradients"
    std::string op(OpKind kind, LabelId id) const
    {
        const Label& label = program_.labels[id.value];
        if (kind == OpKind::collective || kind == OpKind::exchange)
            return fmt::format("{} \"{}\"", to_name(label.collective), label.name);
        return fmt::format("\"{}\"", label.name);
    }

    // all_reduce "gradients" (stream dp, layer 3, step 1)
    std::string place(const OpPlace& place) const
    {
        std::string text = fmt::format("{} (stream {}", op(place.kind, place.label),
                                       program_.streams[place.stream.value].name);
        if (place.layer != BlockUse::no_index)
            text += ", " + layer_name(program_, place.layer);
        if (place.micro_batch != BlockUse::no_index)
            text += fmt::format(", micro-batch {}", place.micro_batch);
        return text + fmt::format(", step {})", place.step + 1);
    }

    // "collective 2 of dp group 0 (8 ranks)"
    std::string collective(GroupId id, std::uint32_t sequence) const
    {
        const Group& group = binding_.groups[id.value];
        return fmt::format("collective {} of {} group {} ({} ranks)", sequence + 1,
                           to_name(group.kind), id.value, group.members.size());
    }
    // "message 3 from rank 0 to rank 1"
    std::string message(LaneId from, LaneId to, std::uint32_t sequence) const
    {
        return fmt::format("message {} from rank {} to rank {}", sequence + 1, rank(from),
                           rank(to));
    }
    std::string transfer(const Wait& wait) const
    {
        return wait.group.valid() ? collective(wait.group, wait.sequence)
                                  : message(wait.from, wait.to, wait.sequence);
    }

private:
    const Program& program_;
    const Binding& binding_;
};

// What a lane does that others wait for.
std::string whereabouts(const Standstill& stop, const Words& words, LaneId lane)
{
    const std::uint32_t rank = words.rank(lane);
    for (const Culprit& culprit : stop.culprits)
        if (culprit.lane == lane)
            return fmt::format("rank {} {}", rank,
                               culprit.stop.kind == StopKind::hangs ? "hangs" : "has died");
    if (std::ranges::find(stop.finished, lane) != stop.finished.end())
        return fmt::format("rank {} has finished its program", rank);
    std::vector<std::string> sits_in;
    for (const Wait& wait : stop.waits)
        for (const Waiter& waiter : wait.here)
            if (waiter.lane == lane)
                sits_in.push_back(words.place(waiter.place));
    if (sits_in.empty())
        return fmt::format("rank {} waits for nobody", rank);
    return fmt::format("rank {} is in {}", rank, fmt::join(sits_in, " and "));
}

Diagnostic describe(const Standstill& stop, const Words& words, const Wait& wait)
{
    const OpPlace& place = wait.here.front().place;
    const std::string op = words.op(place.kind, place.label);
    Diagnostic problem;
    if (wait.cause == WaitCause::dead_link) {
        problem.message =
            fmt::format("{}, {}, moves nothing: its share of a link is 0 bytes per second", op,
                        words.transfer(wait));
        if (wait.link.valid())
            problem.hint = fmt::format("link {} has no capacity", wait.link.value);
        return problem;
    }
    std::vector<LaneId> here;
    std::ranges::transform(wait.here, std::back_inserter(here), &Waiter::lane);
    problem.message = fmt::format("{} {} for {} in {}, {}", words.ranks(here),
                                  here.size() == 1 ? "waits" : "wait", words.ranks(wait.missing),
                                  op, words.transfer(wait));
    std::vector<std::string> instead;
    for (std::size_t i = 0; i < std::min<std::size_t>(wait.missing.size(), 2); ++i)
        instead.push_back(whereabouts(stop, words, wait.missing[i]));
    problem.hint = fmt::format("{}", fmt::join(instead, "; "));
    return problem;
}

Diagnostic describe(const Words& words, const Culprit& culprit)
{
    const bool hangs = culprit.stop.kind == StopKind::hangs;
    Diagnostic problem;
    problem.message = fmt::format("rank {} {} at {:.6g} s", words.rank(culprit.lane),
                                  hangs ? "hangs" : "dies", to_seconds(culprit.stop.at).value());
    if (culprit.place.label.valid())
        problem.hint = fmt::format("{} {}", hangs ? "its host does not issue" : "it was in",
                                   words.place(culprit.place));
    return problem;
}

} // namespace

Diagnostic mismatch(const RunState& run, const TransferTable& table, std::uint32_t id,
                    std::uint32_t newcomer)
{
    const Words words(run.program, run.binding);
    const Transfer& transfer = run.transfers[id];
    const std::uint32_t before = transfer.first_member != nobody ? transfer.first_member
                                 : transfer.sender != nobody     ? transfer.sender
                                                                 : transfer.receiver;
    const auto lane = [&](std::uint32_t stream) { return LaneId{run.lane_of(stream)}; };
    const auto op = [&](std::uint32_t stream) {
        return words.op(run.head(stream).kind, run.head(stream).label);
    };
    std::string place;
    if (table.is_group(transfer.channel)) {
        place = words.collective(make_id<GroupId>(transfer.channel), transfer.sequence);
    } else {
        const bool sends = transfer.sender != nobody;
        place = words.message(lane(sends ? before : newcomer), lane(sends ? newcomer : before),
                              transfer.sequence);
    }
    Diagnostic problem;
    problem.message =
        fmt::format("rank {} comes with {}, rank {} with {}, to {}", words.rank(lane(newcomer)),
                    op(newcomer), words.rank(lane(before)), op(before), place);
    problem.hint = table.is_group(transfer.channel)
                       ? "all members of a group must issue the same collectives in one order"
                       : "both ends must issue their messages in one order and of one size";
    return problem;
}

Problems stall_report(const Program& program, const Binding& binding, const Standstill& stop)
{
    const Words words(program, binding);
    Problems problems;
    for (const Culprit& culprit : stop.culprits)
        if (problems.size() < most_problems)
            problems.push_back(describe(words, culprit));
    const bool starved = std::ranges::any_of(
        stop.waits, [](const Wait& wait) { return wait.cause == WaitCause::dead_link; });
    for (const Wait& wait : stop.waits)
        if (problems.size() < most_problems && (!starved || wait.cause == WaitCause::dead_link))
            problems.push_back(describe(stop, words, wait));
    return problems;
}

} // namespace trainyard::engine
