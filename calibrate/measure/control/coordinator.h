#pragma once

// The one who says what is timed next, and who notices when a rank is gone or hangs.

#include "calibrate/measure/control/connection.h"
#include "calibrate/measure/control/messages.h"
#include "sim/base/progress.h"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace trainyard {

// Thrown when the run cannot go on. What was measured before stays with the caller.
struct RunEnded {
    std::string why;        // names the rank, its host and what it did
    std::vector<int> ranks; // to blame; empty: nobody
};

struct CoordinatorSetup {
    int ranks = 1;
    std::string token;
    Milliseconds start_limit{60'000};   // for all ranks to appear
    const CancelFlag* cancel = nullptr; // throws Cancelled
    // How a rank's process ended, where the coordinator started it: "was killed by signal 9";
    // empty: nothing known yet. Does not wait.
    std::function<std::string(int rank)> fate_of;
    Milliseconds until_known{0}; // what `fate_of` may need after a connection is closed
    // Why not all ranks will appear: one that was started has ended; empty: they may.
    std::function<std::string()> never_started;
};

// One of the members' replies, in their order, or the failure of one.
struct GroupReplies {
    std::vector<RankReply> replies;
    std::optional<MeasureFailure> failure; // the first member's that says what is wrong
    int failed_rank = -1;                  // world rank
};

// A resource: the ranks' connections. All calls from one thread.
class Coordinator {
public:
    Coordinator(Listener& listener, CoordinatorSetup setup);
    ~Coordinator(); // closes every connection, which ends the ranks
    Coordinator(const Coordinator&) = delete;
    Coordinator& operator=(const Coordinator&) = delete;

    const RankHello& hello(int rank) const
    {
        return ranks_.at(static_cast<std::size_t>(rank)).hello;
    }

    // All of the members do it. Waits for every reply; those of a group in which one fails are
    // given up to `limit` too. Past `limit` the group is aborted; ranks that then do not reply
    // within five seconds end the run, with what is known of where they are. Throws RunEnded,
    // Cancelled.
    GroupReplies ask(const std::vector<int>& members, RankCommand command, Milliseconds limit);

    // Lets all ranks go.
    void quit();

private:
    struct Rank {
        std::unique_ptr<Connection> connection;
        RankHello hello;
        std::optional<RankReply> reply;
        std::optional<RankStatus> status;
        bool asked = false;
    };
    using Clock = std::chrono::steady_clock;

    void let_in(Listener& listener);
    void seat(const RankMessage& first, std::unique_ptr<Connection>& connection);
    void gather(const std::vector<int>& members, int number, Clock::time_point until);
    void wait(Milliseconds limit);
    void listen_to(int rank);
    void take(int rank, RankMessage message);
    void send(int rank, const RankMessage& message);
    [[noreturn]] void lost(int first, const std::string& why);
    [[noreturn]] void hung(const std::vector<int>& members, const RankCommand& command,
                           Milliseconds limit);
    bool all_replied(const std::vector<int>& members) const;
    void ask_where(const std::vector<int>& members);
    std::string name_of(int rank) const;
    std::pair<int, std::string> known_end(int first) const;

    CoordinatorSetup setup_;
    std::vector<Rank> ranks_;
    std::map<std::string, std::string> values_;
    std::map<std::string, std::vector<int>> wanted_; // ranks that wait for a value
    int number_ = 0;
};

} // namespace trainyard
