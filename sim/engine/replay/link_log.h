#pragma once

// Logs which transfers move when over which links, and finds whether every link carried all that
// was asked of it. Then no transfer's rate was limited, and what was executed as if links were
// never shared is what sharing them gives.

#include "sim/engine/engine.h"
#include "sim/engine/replay/interpreter.h"

#include <map>

namespace trainyard::engine::replay {

class LinkLog {
public:
    LinkLog(const Binding& binding, const LaneClasses& lane_classes, const StepCode& code);

    // Logs the transfers that an instruction just executed has timed.
    void note(Interpreter& interpreter, const Instr& instr);
    // How many bytes the log of a step takes.
    std::size_t size_of_step() const;

    // What links carried since `opened`, by LinkId; nothing if at some time transfers wanted more
    // of a link than it has. Complexity: moves x links of a route x log(moves of a link).
    std::optional<std::vector<LinkTotals>> totals(Time opened) const;

private:
    // What a transfer moves, and how fast when no other limits it.
    struct Load {
        Work work;
        ByteRate rate;
        Time latency = 0;
        TrafficPattern pattern = TrafficPattern::ring;
    };
    struct Move {
        Time from = 0;
        Time to = 0;
        const Load* load = nullptr;
    };
    // All that takes one path: collectives of a group in one pattern, or messages to a neighbour.
    struct Route {
        std::span<const LinkUse> links;
        std::vector<Move> moves;
    };
    // A transfer op, by group of its group class or by lane of its sender's lane class.
    struct Transfer {
        std::uint32_t group_class = none; // none: a message
        std::uint32_t route_first = 0;
        const std::vector<Load>* loads = nullptr;
    };
    // The routes that use a link, and their coefficients.
    using Users = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    struct Profile {
        u128 peak = 0;    // load, in bytes per second x 2^16
        u128 busiest = 0; // likewise, since the links were opened
        u128 moved = 0;   // since then, in byte-picoseconds-per-second x 2^16
    };

    void find_collectives();
    void find_messages();
    const std::vector<Load>& loads_of(std::uint32_t group_class,
                                      std::span<const FlatOp* const> ops);
    const std::vector<Load>& loads_of(std::uint32_t lane_class, const FlatOp& op,
                                      const PartPlan& part);
    void add(std::uint32_t route, const Load& load, Time begin, Time end);
    std::map<Users, std::vector<LinkId>> links_by_users() const;
    Profile profile(const Users& users, Time opened) const;

    const Binding& binding_;
    const LaneClasses& classes_;
    const StepCode& code_;
    std::vector<Route> routes_;
    std::vector<Transfer> transfers_;
    std::vector<std::uint32_t> transfer_of_; // by the value of its end; none
    std::map<std::vector<std::uint32_t>, std::vector<Load>> loads_;
};

} // namespace trainyard::engine::replay
