#pragma once

// A collective of the naive engine send by send: who may send when, found from nothing.

#include "sim/program/binding.h"

#include <optional>

namespace trainyard::test {

struct NaiveSend {
    std::size_t from = 0; // members by place
    std::size_t to = 0;
    std::int64_t round = 0;
    std::vector<std::size_t> before; // sends that must be over
    std::vector<LinkUse> links;
    std::size_t abreast = 1; // wires that leave `from`

    std::optional<std::int64_t> moves_from; // its latency is over then
    std::optional<std::int64_t> end;
    u128 remaining = 0;
    std::uint64_t rate = 0;
};

// Requires the group's ways for it.
class NaiveSteps {
public:
    NaiveSteps(const Group& group, CollectiveKind kind, const TransferCost& cost);

    // Whether there are steps for such a collective.
    static bool known(const Group& group, CollectiveKind kind, TrafficPattern pattern);

    // The member takes part from now on; `scale` of 2^20 is that of its work, latency that of all
    // rounds together.
    void come(std::size_t member, std::uint32_t scale, std::int64_t latency);
    // What ends and begins now; whether anything does.
    bool settle(std::int64_t now);
    bool done(std::size_t member) const;

    std::vector<NaiveSend> sends;

private:
    struct Coming {
        u128 work = 0;
        std::int64_t latency = 0;
    };
    void add(std::size_t from, std::size_t to, const Ways& ways, std::size_t way);
    void find_rounds();
    void add_trees(const Group& group);
    bool free(const NaiveSend& send) const;

    std::uint64_t ceiling_;
    u128 work_;
    std::int64_t rounds_ = 0;
    std::vector<std::optional<Coming>> members_;
};

} // namespace trainyard::test
