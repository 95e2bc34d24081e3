#include "sim/study/ranks/crew.h"

#include "sim/study/ranks/message.h"
#include "sim/study/session.h"

#include <fmt/core.h>

#include <thread>

namespace trainyard {

namespace {

// Of messages between rank 0 and another.
constexpr int tag_task = 1;
constexpr int tag_begin = 2;
constexpr int tag_bounds = 3;
constexpr int tag_points = 10; // and the thread's number

enum class Answer : std::uint8_t { facts, cancelled, failed };

enum class Order : std::uint8_t { end, points, bounds_and_points };

struct Begin {
    Order order = Order::end;
    int lane = 0; // the rank's first
    int lanes = 1;
};

std::string begin_message(const Begin& begin)
{
    MessageWriter out;
    out.put(begin);
    return out.take();
}

} // namespace

Crew::~Crew()
{
    if (!met_)
        for (int rank = 1; rank < ranks_.ranks(); ++rank)
            ranks_.receive(rank, tag_task);
    if (!begun_)
        for (int rank = 1; rank < ranks_.ranks(); ++rank)
            ranks_.send(rank, tag_begin, begin_message({}));
    else
        for (const Seat& seat : seats_)
            ranks_.send(seat.rank, tag_points + seat.thread, "");
}

void Crew::meet(const CrewTask& task)
{
    own_threads_ = task.threads;
    std::string strangers;
    for (int rank = 1; rank < ranks_.ranks(); ++rank) {
        MessageReader in(ranks_.receive(rank, tag_task));
        if (in.get<std::string>() != task.question)
            strangers += fmt::format("{}{}", strangers.empty() ? "" : ", ", rank);
        const int threads = in.get<int>();
        for (int thread = 0; thread < threads; ++thread)
            seats_.push_back({rank, thread});
    }
    met_ = true;
    if (!strangers.empty())
        throw WorldError{fmt::format("rank 0 plans something else than these: {}\n      all need "
                                     "the same command, files, data and program",
                                     strangers)};
}

SpaceShare Crew::own_lanes(SpaceShare share) const
{
    share.lane = 0;
    share.lanes = own_threads_ + static_cast<int>(seats_.size());
    return share;
}

void Crew::begin(bool bounds)
{
    Begin begin{bounds ? Order::bounds_and_points : Order::points, own_threads_,
                own_lanes({}).lanes};
    begun_ = true;
    for (const Seat& seat : seats_) {
        if (seat.thread == 0)
            ranks_.send(seat.rank, tag_begin, begin_message(begin));
        ++begin.lane;
    }
}

PossibleLayouts Crew::bounds_of_others()
{
    std::vector<PossibleLayouts> parts;
    for (int rank = 1; rank < ranks_.ranks(); ++rank)
        parts.push_back(MessageReader(ranks_.receive(rank, tag_bounds)).get<PossibleLayouts>());
    return together(std::move(parts));
}

PointFacts Crew::ask(const Seat& seat, const LayoutChoice& choice, const PointLimits& limits,
                     const std::optional<PointFacts>& known)
{
    MessageWriter out;
    out.put(choice);
    out.put(limits.room);
    out.put(limits.limit(Bytes(0)));
    out.put(known);
    ranks_.send(seat.rank, tag_points + seat.thread, out.take());
    MessageReader in(ranks_.receive(seat.rank, tag_points + seat.thread));
    switch (in.get<Answer>()) {
    case Answer::facts:
        return in.get<PointFacts>();
    case Answer::cancelled:
        throw Cancelled{};
    case Answer::failed:
        break;
    }
    throw WorldError{fmt::format("rank {}: {}", seat.rank, in.get<std::string>())};
}

CrewPoints::CrewPoints(Crew& crew, Points& own) : crew_(crew), own_(own)
{
    for (int i = 0; i < own.at_once(); ++i)
        free_.emplace_back();
    for (const Crew::Seat& seat : crew.seats())
        free_.emplace_back(seat);
}

int CrewPoints::at_once() const
{
    return own_.at_once() + static_cast<int>(crew_.seats().size());
}

PointFacts CrewPoints::facts(const LayoutChoice& choice, const PointLimits& limits,
                             const std::optional<PointFacts>& known)
{
    // As many threads ask as there are seats.
    std::optional<Crew::Seat> seat;
    {
        const std::lock_guard lock(mutex_);
        seat = free_.back();
        free_.pop_back();
    }
    struct Return {
        CrewPoints& points;
        const std::optional<Crew::Seat>& seat;
        ~Return()
        {
            const std::lock_guard lock(points.mutex_);
            points.free_.push_back(seat);
        }
    } const back{*this, seat};
    return seat ? crew_.ask(*seat, choice, limits, known) : own_.facts(choice, limits, known);
}

namespace {

// The answer to one question, whatever comes of it.
std::string answer_to(std::string question, Points& points)
{
    MessageReader in(std::move(question));
    const LayoutChoice choice = in.get<LayoutChoice>();
    const Bytes room = in.get<Bytes>();
    const Seconds limit = in.get<Seconds>();
    const auto known = in.get<std::optional<PointFacts>>();
    MessageWriter out;
    const auto failed = [&](const std::string& why) {
        out.put(Answer::failed);
        out.put(why);
    };
    try {
        const PointFacts facts = points.facts(choice, {room, [&](Bytes) { return limit; }}, known);
        out.put(Answer::facts);
        out.put(facts);
    } catch (const Cancelled&) { // rank 0 keeps what there is
        out.put(Answer::cancelled);
    } catch (const WorldError& error) {
        failed(error.message);
    } catch (const std::exception& error) {
        failed(error.what());
    }
    return out.take();
}

// Answers one thread's questions until there are none.
void answer_all(Ranks& ranks, int tag, Points& points)
{
    while (true) {
        std::string question = ranks.receive(0, tag);
        if (question.empty())
            return;
        ranks.send(0, tag, answer_to(std::move(question), points));
    }
}

} // namespace

void serve_crew(Ranks& ranks, const CrewTask& task, const SearchBase* base,
                const SearchRequest& request, SpaceShare share)
{
    MessageWriter out;
    out.put(task.question);
    out.put(task.threads);
    ranks.send(0, tag_task, out.take());
    const auto begin = MessageReader(ranks.receive(0, tag_begin)).get<Begin>();
    if (begin.order == Order::end || base == nullptr)
        return;
    if (begin.order == Order::bounds_and_points) {
        share.lane = begin.lane;
        share.lanes = begin.lanes;
        MessageWriter found;
        found.put(possible_layouts(request.space, *base, room_of(*base, request), request.work,
                                   share, task.threads));
        ranks.send(0, tag_bounds, found.take());
    }
    Session session;
    EnginePoints points(*base, session, request.work.cancel, task.threads);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < task.threads; ++thread)
        threads.emplace_back([&, thread] { answer_all(ranks, tag_points + thread, points); });
}

} // namespace trainyard
