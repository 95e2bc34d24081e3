#include "calibrate/measure/control/worker.h"

#include "calibrate/measure/backend/host_name.h"
#include "calibrate/measure/control/connection.h"
#include "calibrate/measure/control/messages.h"
#include "sim/base/diagnostic.h"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <thread>

namespace trainyard {
namespace {

constexpr Milliseconds patience_to_connect{60'000};
constexpr Milliseconds forever{3'600'000};
constexpr int left_alone = 5; // what the command line exits with when a part of the job is gone

// What the listening thread and the one that works share.
class Line {
public:
    explicit Line(Connection& connection) : connection_(connection) {}

    void say(RankMessage message) { connection_.send(to_json(message)); }

    RankCommand next_command()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !commands_.empty(); });
        RankCommand out = std::move(commands_.front());
        commands_.pop_front();
        return out;
    }

    std::string fetch(const std::string& key, Milliseconds limit)
    {
        RankMessage ask;
        ask.get = key;
        say(ask);
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, limit, [&] { return values_.count(key) > 0; }))
            throw MeasureFailure{FailureKind::timed_out,
                                 fmt::format("no rank left \"{}\" within {:.0f} s", key,
                                             std::chrono::duration<double>(limit).count()),
                                 ""};
        return values_.at(key);
    }

    // The listening thread: until the coordinator is gone, which ends the process.
    void listen()
    {
        try {
            while (true)
                if (const std::optional<Json> json = connection_.receive(forever))
                    take(message_from(*json));
        } catch (const ConnectionLost&) {
            if (!finished_)
                std::_Exit(left_alone);
        }
    }

    // Communicators as the listening thread may abort them.
    void know(int group, Communicator* communicator)
    {
        const std::lock_guard lock(mutex_);
        if (communicator == nullptr)
            communicators_.erase(group);
        else
            communicators_[group] = communicator;
    }

    void finish() { finished_ = true; }
    void begin(int number)
    {
        const std::lock_guard lock(mutex_);
        status_.number = number;
        status_.entered = 0;
    }
    void enter()
    {
        const std::lock_guard lock(mutex_);
        ++status_.entered;
    }
    void now(std::string doing)
    {
        const std::lock_guard lock(mutex_);
        status_.doing = std::move(doing);
    }

private:
    void take(RankMessage message)
    {
        std::unique_lock lock(mutex_);
        if (message.command) {
            commands_.push_back(std::move(*message.command));
        } else if (message.put && message.value) {
            values_[*message.put] = from_hex(*message.value);
        } else if (message.abort) {
            if (const auto found = communicators_.find(*message.abort);
                found != communicators_.end())
                found->second->abort();
        } else {
            RankMessage answer;
            answer.status = status_;
            lock.unlock();
            say(answer);
            return;
        }
        changed_.notify_all();
    }

    Connection& connection_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<RankCommand> commands_;
    std::map<std::string, std::string> values_;
    std::map<int, Communicator*> communicators_;
    RankStatus status_;
    std::atomic<bool> finished_{false};
};

// A group's own part of the values that the coordinator keeps.
class LineRendezvous : public Rendezvous {
public:
    LineRendezvous(Line& line, int group) : line_(line), prefix_(fmt::format("{}/", group)) {}

    void put(const std::string& key, const std::string& value) override
    {
        RankMessage message;
        message.put = prefix_ + key;
        message.value = to_hex(value);
        line_.say(message);
    }

    std::string get(const std::string& key, Milliseconds limit) override
    {
        return line_.fetch(prefix_ + key, limit);
    }

private:
    Line& line_;
    std::string prefix_;
};

class Rank {
public:
    Rank(Line& line, const RankTasks& tasks) : line_(line), tasks_(tasks), backend_(tasks.open()) {}

    RankReply obey(const RankCommand& command)
    {
        RankReply reply;
        switch (command.kind) {
        case CommandKind::facts:
            reply.facts = backend_->facts();
            break;
        case CommandKind::cannot:
            for (const TimedWork& work : command.works)
                reply.cannot.push_back(backend_->cannot(work));
            break;
        case CommandKind::join:
            reply.seconds.push_back(join(command));
            break;
        case CommandKind::leave:
            line_.know(command.group, nullptr);
            groups_.erase(command.group);
            break;
        case CommandKind::prepare:
            work_ = describe(command.works.at(0));
            line_.now("preparing " + work_);
            group(command).prepare(command.works.at(0));
            break;
        case CommandKind::run:
            run(command, reply);
            break;
        case CommandKind::check:
            line_.now("checking " + work_);
            line_.enter();
            reply.wrong = group(command).wrong_elements();
            break;
        case CommandKind::node:
            line_.now("looking at its host");
            if (tasks_.look)
                reply.node = tasks_.look(backend_->node_topology());
            break;
        case CommandKind::quit:
            break;
        }
        return reply;
    }

    // Ends what is left, before the connection is given up.
    void close()
    {
        for (const auto& entry : groups_)
            line_.know(entry.first, nullptr);
        groups_.clear();
        backend_.reset();
    }

private:
    struct Group {
        std::unique_ptr<LineRendezvous> rendezvous;
        std::unique_ptr<Communicator> communicator;
    };

    Communicator& group(const RankCommand& command)
    {
        const auto found = groups_.find(command.group);
        if (found == groups_.end())
            throw MeasureFailure{FailureKind::refused, "there is no such communicator", ""};
        return *found->second.communicator;
    }

    double join(const RankCommand& command)
    {
        line_.now(fmt::format("making communicator \"{}\"", command.spec.name));
        line_.enter();
        Group group;
        group.rendezvous = std::make_unique<LineRendezvous>(line_, command.group);
        const auto begin = Clock::now();
        group.communicator = backend_->join(command.spec, *group.rendezvous);
        const std::chrono::duration<double> took = Clock::now() - begin;
        line_.know(command.group, group.communicator.get());
        groups_[command.group] = std::move(group);
        return took.count();
    }

    void run(const RankCommand& command, RankReply& reply)
    {
        Communicator& communicator = group(command);
        line_.now(fmt::format("{} ops of {}", command.ops, work_));
        for (int i = 0; i < command.batches; ++i) {
            line_.enter();
            const BatchTime time = communicator.run(command.ops);
            reply.seconds.push_back(time.elapsed.value());
            reply.covered = reply.covered && time.covered;
        }
    }

    Line& line_;
    const RankTasks& tasks_;
    std::unique_ptr<RankBackend> backend_;
    std::map<int, Group> groups_;
    std::string work_;
};

// What any part of the work may throw, as the coordinator is told it.
template <class Call>
std::optional<MeasureFailure> failure_of(const Call& call)
{
    try {
        call();
        return std::nullopt;
    } catch (const MeasureFailure& failure) {
        return failure;
    } catch (const ConnectionLost&) {
        throw;
    } catch (const WorldError& error) {
        return MeasureFailure{FailureKind::broken, error.message, ""};
    } catch (const std::exception& error) {
        return MeasureFailure{FailureKind::broken, error.what(), ""};
    }
}

void work_until_quit(Line& line, const RankTasks& tasks)
{
    std::optional<Rank> rank;
    line.now("opening the back end");
    std::optional<MeasureFailure> unopened = failure_of([&] { rank.emplace(line, tasks); });
    while (true) {
        line.now("waiting for a command");
        const RankCommand command = line.next_command();
        line.begin(command.number);
        RankMessage answer;
        answer.reply.emplace();
        if (unopened && command.kind != CommandKind::quit)
            answer.reply->failure = unopened;
        else if (rank)
            answer.reply->failure = failure_of([&] { answer.reply = rank->obey(command); });
        answer.reply->number = command.number;
        if (command.kind == CommandKind::quit) {
            if (rank)
                failure_of([&] { rank->close(); });
            line.finish();
            line.say(answer);
            return;
        }
        line.say(answer);
    }
}

} // namespace

int serve_as_rank(const LaunchPlace& place, const CoordinatorAddress& address,
                  const RankTasks& tasks)
{
    Connection connection(connect_to(address.host, address.port, patience_to_connect));
    Line line(connection);
    RankMessage hello;
    hello.hello = RankHello{place, host_name(), static_cast<int>(::getpid()), address.token};
    line.say(hello);
    std::thread listener([&line] { line.listen(); });
    try {
        work_until_quit(line, tasks);
    } catch (const ConnectionLost&) {
        std::_Exit(left_alone);
    }
    // The coordinator closes the connection once all have answered; the listener ends with it.
    listener.join();
    return EXIT_SUCCESS;
}

} // namespace trainyard
