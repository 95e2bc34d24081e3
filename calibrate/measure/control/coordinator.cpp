#include "calibrate/measure/control/coordinator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <thread>
#include <tuple>
#include <utility>

namespace trainyard {
namespace {

constexpr Milliseconds look_up{200}; // for an interrupt, at least
constexpr Milliseconds after_abort{5'000};
constexpr Milliseconds to_answer{3'000}; // "where are you"
constexpr Milliseconds to_leave{10'000};

double seconds(Milliseconds span)
{
    return std::chrono::duration<double>(span).count();
}

std::string names(const std::vector<int>& ranks)
{
    constexpr std::size_t most = 8;
    if (ranks.size() == 1)
        return fmt::format("rank {}", ranks.front());
    if (ranks.size() <= most)
        return fmt::format("ranks {}", fmt::join(ranks, ", "));
    return fmt::format("ranks {} and {} more", fmt::join(ranks.begin(), ranks.begin() + most, ", "),
                       ranks.size() - most);
}

} // namespace

Coordinator::Coordinator(Listener& listener, CoordinatorSetup setup) : setup_(std::move(setup))
{
    ranks_.resize(static_cast<std::size_t>(setup_.ranks));
    let_in(listener);
}

Coordinator::~Coordinator() = default;

// Strangers and ranks of other runs are turned away: they do not know the token.
void Coordinator::let_in(Listener& listener)
{
    const auto end = Clock::now() + setup_.start_limit;
    std::vector<std::unique_ptr<Connection>> unknown;
    const auto missing = [&] {
        std::vector<int> out;
        for (std::size_t i = 0; i < ranks_.size(); ++i)
            if (!ranks_[i].connection)
                out.push_back(static_cast<int>(i));
        return out;
    };
    while (!missing().empty()) {
        if (setup_.cancel != nullptr && setup_.cancel->cancelled())
            throw Cancelled{};
        if (Clock::now() > end)
            throw RunEnded{fmt::format("{} of {} did not start within {:.0f} s", names(missing()),
                                       setup_.ranks, seconds(setup_.start_limit)),
                           missing()};
        if (setup_.never_started)
            if (const std::string why = setup_.never_started(); !why.empty())
                throw RunEnded{why, {}};
        while (std::optional<Descriptor> socket = listener.accept())
            unknown.push_back(std::make_unique<Connection>(std::move(*socket)));
        pollfd door{listener.descriptor(), POLLIN, 0};
        ::poll(&door, 1, static_cast<int>(unknown.empty() ? look_up.count() : 10));
        for (std::unique_ptr<Connection>& one : unknown) {
            try {
                if (!one->has_message())
                    continue;
                const std::optional<Json> json = one->receive(Milliseconds(0));
                seat(message_from(json.value_or(Json::object())), one);
            } catch (const ConnectionLost&) {
            }
            one.reset();
        }
        std::erase(unknown, nullptr);
    }
}

// Keeps the connection where it is that of a rank of this run which is not there yet.
void Coordinator::seat(const RankMessage& first, std::unique_ptr<Connection>& connection)
{
    if (!first.hello || first.hello->token != setup_.token)
        return;
    const LaunchPlace& place = first.hello->place;
    if (!is_place_among(place, ranks_.size()))
        throw RunEnded{fmt::format("a process of this run (host {}, process {}) says that it is "
                                   "rank {} of {} and local rank {}: there is no such place",
                                   first.hello->host, first.hello->process, place.rank,
                                   ranks_.size(), place.local_rank),
                       {}};
    Rank& rank = ranks_[static_cast<std::size_t>(place.rank)];
    if (rank.connection)
        return;
    rank.hello = *first.hello;
    rank.connection = std::move(connection);
}

std::string Coordinator::name_of(int rank) const
{
    const Rank& one = ranks_[static_cast<std::size_t>(rank)];
    return fmt::format("rank {} (host {}, process {})", rank, one.hello.host, one.hello.process);
}

void Coordinator::send(int rank, const RankMessage& message)
{
    try {
        ranks_[static_cast<std::size_t>(rank)].connection->send(to_json(message));
    } catch (const ConnectionLost& problem) {
        lost(rank, problem.why);
    }
}

// A rank whose end is known, `first` where it is one, and how it ended; `first` and nothing where
// none is. A connection closes a little before its process is known to have ended.
std::pair<int, std::string> Coordinator::known_end(int first) const
{
    if (!setup_.fate_of)
        return {first, ""};
    const auto end = Clock::now() + setup_.until_known;
    while (true) {
        if (std::string fate = setup_.fate_of(first); !fate.empty())
            return {first, fate};
        for (int rank = 0; rank < setup_.ranks; ++rank)
            if (std::string fate = setup_.fate_of(rank); !fate.empty())
                return {rank, fate};
        if (Clock::now() >= end)
            return {first, ""};
        std::this_thread::sleep_for(Milliseconds(10));
    }
}

// A launcher ends all ranks when one does: of those that are gone by now, the one whose end is
// known is to blame, else the first that was seen.
void Coordinator::lost(int first, const std::string& why)
{
    const auto [rank, fate] = known_end(first);
    const std::optional<RankStatus>& status = ranks_[static_cast<std::size_t>(rank)].status;
    const std::string doing = status ? " while " + status->doing : "";
    throw RunEnded{fate.empty() ? fmt::format("{} is gone{}: {}", name_of(rank), doing, why)
                                : fmt::format("{} {}{}", name_of(rank), fate, doing),
                   {rank}};
}

void Coordinator::take(int rank, RankMessage message)
{
    Rank& one = ranks_[static_cast<std::size_t>(rank)];
    if (message.reply) {
        one.reply = std::move(message.reply);
    } else if (message.status) {
        one.status = std::move(message.status);
    } else if (message.put && message.value) {
        const std::string key = *message.put;
        values_[key] = *message.value;
        for (const int waiting : std::exchange(wanted_[key], {}))
            send(waiting, message);
    } else if (message.get) {
        const auto known = values_.find(*message.get);
        if (known == values_.end()) {
            wanted_[*message.get].push_back(rank);
            return;
        }
        RankMessage answer;
        answer.put = known->first;
        answer.value = known->second;
        send(rank, answer);
    }
}

void Coordinator::listen_to(int rank)
{
    Connection& connection = *ranks_[static_cast<std::size_t>(rank)].connection;
    try {
        while (connection.has_message())
            if (const std::optional<Json> json = connection.receive(Milliseconds(0)))
                take(rank, message_from(*json));
    } catch (const ConnectionLost& problem) {
        lost(rank, problem.why);
    }
}

// Until something arrives from any rank, or the limit.
void Coordinator::wait(Milliseconds limit)
{
    if (setup_.cancel != nullptr && setup_.cancel->cancelled())
        throw Cancelled{};
    std::vector<pollfd> all;
    for (const Rank& rank : ranks_)
        all.push_back({rank.connection->descriptor(), POLLIN, 0});
    const auto span = std::clamp(limit, Milliseconds(0), look_up);
    if (::poll(all.data(), all.size(), static_cast<int>(span.count())) <= 0)
        return;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].revents != 0)
            listen_to(static_cast<int>(i));
}

bool Coordinator::all_replied(const std::vector<int>& members) const
{
    return std::all_of(members.begin(), members.end(), [&](int rank) {
        return ranks_[static_cast<std::size_t>(rank)].reply.has_value();
    });
}

void Coordinator::gather(const std::vector<int>& members, int number, Clock::time_point until)
{
    while (!all_replied(members) && Clock::now() < until) {
        wait(std::chrono::duration_cast<Milliseconds>(until - Clock::now()) + Milliseconds(1));
        for (const int rank : members) {
            std::optional<RankReply>& reply = ranks_[static_cast<std::size_t>(rank)].reply;
            if (reply && reply->number != number)
                reply.reset(); // to a command that was given up
        }
    }
}

GroupReplies Coordinator::ask(const std::vector<int>& members, RankCommand command,
                              Milliseconds limit)
{
    command.number = ++number_;
    for (const int rank : members)
        ranks_.at(static_cast<std::size_t>(rank)).reply.reset();
    RankMessage message;
    message.command = command;
    for (const int rank : members)
        send(rank, message);
    gather(members, command.number, Clock::now() + limit);
    const bool late = !all_replied(members);
    if (late) {
        ask_where(members);
        RankMessage abort;
        abort.abort = command.group;
        for (const int rank : members)
            send(rank, abort);
        gather(members, command.number, Clock::now() + after_abort);
        if (!all_replied(members))
            hung(members, command, limit);
    }
    GroupReplies out;
    for (const int rank : members) {
        RankReply& reply = *ranks_[static_cast<std::size_t>(rank)].reply;
        const bool says_more =
            reply.failure && (!out.failure || out.failure->kind == FailureKind::aborted);
        if (says_more) {
            out.failure = reply.failure;
            out.failed_rank = rank;
        }
        out.replies.push_back(std::move(reply));
    }
    if (late && (!out.failure || out.failure->kind == FailureKind::aborted))
        out.failure = MeasureFailure{FailureKind::timed_out,
                                     fmt::format("not done within {:.0f} s", seconds(limit)), ""};
    return out;
}

void Coordinator::ask_where(const std::vector<int>& members)
{
    for (const int rank : members) {
        ranks_[static_cast<std::size_t>(rank)].status.reset();
        send(rank, RankMessage{});
    }
    const auto end = Clock::now() + to_answer;
    const auto silent = [&](int rank) {
        return !ranks_[static_cast<std::size_t>(rank)].status.has_value();
    };
    while (Clock::now() < end && std::any_of(members.begin(), members.end(), silent))
        wait(std::chrono::duration_cast<Milliseconds>(end - Clock::now()) + Milliseconds(1));
}

// Who does not answer at all hangs (or its host does); else those that began fewer batches than
// others; else those that do not come back while others do; else nobody can be blamed.
void Coordinator::hung(const std::vector<int>& members, const RankCommand& command,
                       Milliseconds limit)
{
    const auto status_of = [&](int rank) -> const std::optional<RankStatus>& {
        return ranks_[static_cast<std::size_t>(rank)].status;
    };
    std::vector<int> silent;
    std::optional<RankStatus> furthest;
    const auto is_behind = [&](const RankStatus& status) {
        return furthest && std::tie(status.number, status.entered) <
                               std::tie(furthest->number, furthest->entered);
    };
    for (const int rank : members) {
        if (!status_of(rank))
            silent.push_back(rank);
        else if (!furthest || !is_behind(*status_of(rank)))
            furthest = status_of(rank);
    }
    std::vector<int> behind;
    for (const int rank : members)
        if (status_of(rank) && is_behind(*status_of(rank)))
            behind.push_back(rank);
    std::string what = fmt::format("the command \"{}\"", to_name(command.kind));
    for (const int rank : members) // those that have replied do nothing
        if (status_of(rank) && !ranks_[static_cast<std::size_t>(rank)].reply)
            what = status_of(rank)->doing;
    const auto place = [&](const std::vector<int>& ranks) {
        return ranks.size() == 1 ? name_of(ranks.front()) : names(ranks);
    };
    const std::string since = fmt::format("{} was not done within {:.0f} s", what, seconds(limit));
    if (!silent.empty())
        throw RunEnded{fmt::format("{}: {} {} not answer: stopped, or its host hangs", since,
                                   place(silent), silent.size() == 1 ? "does" : "do"),
                       silent};
    if (!behind.empty())
        throw RunEnded{
            fmt::format("{}: {} never came to where the others wait", since, place(behind)),
            behind};
    std::vector<int> stuck;
    for (const int rank : members)
        if (!ranks_[static_cast<std::size_t>(rank)].reply)
            stuck.push_back(rank);
    if (stuck.size() < members.size())
        throw RunEnded{fmt::format("{}: {} {} not come back from it, the others did", since,
                                   place(stuck), stuck.size() == 1 ? "does" : "do"),
                       stuck};
    throw RunEnded{fmt::format("{}: every rank of the {} is in it, none can be told to be late",
                               since, members.size()),
                   {}};
}

void Coordinator::quit()
{
    RankCommand command;
    command.kind = CommandKind::quit;
    std::vector<int> all;
    for (int rank = 0; rank < setup_.ranks; ++rank)
        all.push_back(rank);
    ask(all, command, to_leave);
}

} // namespace trainyard
