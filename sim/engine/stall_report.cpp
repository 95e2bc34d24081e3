#include "sim/engine/stall_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard::engine {

namespace {

constexpr std::size_t most_transfers = 8; // one mistake leaves many waiting
constexpr std::size_t most_ranks = 8;

class Words {
public:
    Words(const RunState& run, const TransferTable& table) : run_(run), table_(table) {}

    std::uint32_t rank(std::uint32_t lane) const { return run_.binding.lanes[lane].rank.value; }

    // "rank 3", "ranks 3, 5"
    std::string ranks(const std::vector<std::uint32_t>& lanes) const
    {
        std::vector<std::uint32_t> numbers;
        for (const std::uint32_t lane : lanes)
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

    // The op at the head of a stream: all_reduce "gradients"
    std::string op(std::uint32_t stream) const
    {
        const Label& label = run_.label_of(stream);
        const OpKind kind = run_.head(stream).kind;
        if (kind == OpKind::collective || kind == OpKind::exchange)
            return fmt::format("{} \"{}\"", to_name(label.collective), label.name);
        return fmt::format("\"{}\"", label.name);
    }

    // Where a transfer belongs: "collective 2 of dp group 0", "message 3 from rank 0 to rank 1"
    std::string place(const Transfer& transfer) const
    {
        if (table_.is_group(transfer.channel)) {
            const Group& group = run_.binding.groups[transfer.channel];
            return fmt::format("collective {} of {} group {} ({} ranks)", transfer.sequence + 1,
                               to_name(group.kind), transfer.channel, group.members.size());
        }
        const auto [from, to] = ends_of(transfer);
        return fmt::format("message {} from rank {} to rank {}", transfer.sequence + 1, rank(from),
                           rank(to));
    }

    // Sender and receiver of a message; one of them may not have come yet.
    std::pair<std::uint32_t, std::uint32_t> ends_of(const Transfer& transfer) const
    {
        const bool has_sender = transfer.sender != nobody;
        const std::uint32_t here = has_sender ? transfer.sender : transfer.receiver;
        const std::uint32_t lane = run_.lane_of(here);
        const std::uint32_t there = neighbour(here, transfer);
        return has_sender ? std::pair{lane, there} : std::pair{there, lane};
    }

    // What a lane does that others wait for.
    std::string whereabouts(std::uint32_t lane) const
    {
        const LaneKind& kind = run_.kind_of(lane);
        std::vector<std::string> sits_in;
        bool finished = true;
        for (std::size_t s = 0; s < kind.streams.size(); ++s) {
            const std::uint32_t index = run_.stream_index(lane, s);
            const StreamState& stream = run_.streams[index];
            finished = finished && stream.state == HeadState::finished;
            if (stream.state == HeadState::joined)
                sits_in.push_back(fmt::format("{} (stream {}, step {})", op(index),
                                              run_.program.streams[kind.streams[s].id.value].name,
                                              stream.step + 1));
        }
        if (finished)
            return fmt::format("rank {} has finished its program", rank(lane));
        if (sits_in.empty())
            return fmt::format("rank {} waits for nobody", rank(lane));
        return fmt::format("rank {} is in {}", rank(lane), fmt::join(sits_in, " and "));
    }

private:
    // The other end of the part of this exchange that belongs to the transfer's pipe.
    std::uint32_t neighbour(std::uint32_t stream, const Transfer& transfer) const
    {
        const std::uint32_t lane = run_.lane_of(stream);
        const LaneKind& kind = run_.kind_of(lane);
        const FlatOp& op = run_.head(stream);
        for (std::size_t i = 0; i < op.part_count; ++i) {
            const PartPlan& part = kind.parts[op.part_first + i];
            const std::uint32_t pipe =
                run_.compiled.lane_pipes[run_.compiled.lane_pipe_first[lane] + part.pipe];
            if (table_.pipe_channel(pipe) == transfer.channel)
                return run_.binding.lanes[lane].peers[part.peer.value].lane.value;
        }
        return lane;
    }

    const RunState& run_;
    const TransferTable& table_;
};

struct Gathering {
    std::vector<std::uint32_t> here; // lanes
    std::vector<std::uint32_t> missing;
};

Gathering gathering(const RunState& run, const TransferTable& table, const Words& words,
                    const Transfer& transfer)
{
    Gathering result;
    if (!table.is_group(transfer.channel)) {
        const auto [from, to] = words.ends_of(transfer);
        const bool has_sender = transfer.sender != nobody;
        result.here.push_back(has_sender ? from : to);
        result.missing.push_back(has_sender ? to : from);
        return result;
    }
    for (std::uint32_t member = transfer.first_member; member != nobody;
         member = run.streams[member].next_member)
        result.here.push_back(run.lane_of(member));
    for (const LaneId member : run.binding.groups[transfer.channel].members)
        if (std::find(result.here.begin(), result.here.end(), member.value) == result.here.end())
            result.missing.push_back(member.value);
    return result;
}

Diagnostic describe_gathering(const RunState& run, const TransferTable& table,
                              const Transfer& transfer)
{
    const Words words(run, table);
    const Gathering who = gathering(run, table, words, transfer);
    const std::uint32_t stream = transfer.first_member != nobody ? transfer.first_member
                                 : transfer.sender != nobody     ? transfer.sender
                                                                 : transfer.receiver;
    Diagnostic problem;
    problem.message = fmt::format("{} {} for {} in {}, {}", words.ranks(who.here),
                                  who.here.size() == 1 ? "waits" : "wait", words.ranks(who.missing),
                                  words.op(stream), words.place(transfer));
    std::vector<std::string> instead;
    for (std::size_t i = 0; i < std::min<std::size_t>(who.missing.size(), 2); ++i)
        instead.push_back(words.whereabouts(who.missing[i]));
    problem.hint = fmt::format("{}", fmt::join(instead, "; "));
    return problem;
}

Diagnostic describe_stall(const RunState& run, const TransferTable& table, const Transfer& transfer)
{
    const Words words(run, table);
    const std::uint32_t stream =
        transfer.sender != nobody ? transfer.sender : transfer.first_member;
    Diagnostic problem;
    problem.message =
        fmt::format("{}, {}, moves nothing: its share of a link is 0 bytes per second",
                    words.op(stream), words.place(transfer));
    for (const LinkUse& use : *transfer.links)
        if (run.binding.links[use.link.value].value() == 0)
            problem.hint = fmt::format("link {} has no capacity", use.link.value);
    return problem;
}

} // namespace

Diagnostic mismatch(const RunState& run, const TransferTable& table, std::uint32_t id,
                    std::uint32_t newcomer)
{
    const Words words(run, table);
    const Transfer& transfer = run.transfers[id];
    const std::uint32_t before = transfer.first_member != nobody ? transfer.first_member
                                 : transfer.sender != nobody     ? transfer.sender
                                                                 : transfer.receiver;
    Diagnostic problem;
    problem.message =
        fmt::format("rank {} comes with {}, rank {} with {}, to {}",
                    words.rank(run.lane_of(newcomer)), words.op(newcomer),
                    words.rank(run.lane_of(before)), words.op(before), words.place(transfer));
    problem.hint = table.is_group(transfer.channel)
                       ? "all members of a group must issue the same collectives in one order"
                       : "both ends must issue their messages in one order and of one size";
    return problem;
}

Problems stall_report(const RunState& run, const TransferTable& table,
                      std::span<const std::uint32_t> stalled)
{
    Problems problems;
    for (const std::uint32_t id : stalled)
        if (problems.size() < most_transfers)
            problems.push_back(describe_stall(run, table, run.transfers[id]));
    if (!problems.empty())
        return problems;

    const auto channels =
        static_cast<std::uint32_t>(run.binding.groups.size()) + run.compiled.pipes;
    for (std::uint32_t channel = 0; channel < channels; ++channel)
        for (std::uint32_t id = table.first(channel); id != nobody; id = run.transfers[id].next) {
            const Transfer& transfer = run.transfers[id];
            if (transfer.state == TransferState::gathering && problems.size() < most_transfers)
                problems.push_back(describe_gathering(run, table, transfer));
        }
    return problems;
}

} // namespace trainyard::engine
