// Rates kept up to date against rates solved anew, after every one of a million random events.

#include "sim/base/random.h"
#include "sim/engine/flow/full_sharing.h"
#include "sim/engine/flow/ripple_sharing.h"
#include "tests/catch.h"

#include <map>

using namespace trainyard;
using namespace trainyard::engine;

namespace {

struct Shape {
    std::int64_t links = 7;
    std::int64_t flows = 10; // most at a time
    std::int64_t path = 3;   // longest
    int events = 100;
};

// A fabric whose flows come and go, and both solvers. Small numbers half of the time, so that
// shares tie and round; now and then a dead link, an unused one, a link met twice.
class Fabric {
public:
    Fabric(std::uint64_t seed, const Shape& shape)
        : random_(hash_key(seed, 5)),
          shape_(shape),
          size_(random_.integer(0, 2) == 0 ? 1'000'000'000'000 : 40),
          capacities_(draw_capacities()),
          full_(capacities_),
          ripple_(capacities_)
    {}

    // Events of one instant, then the rates of both.
    void step()
    {
        const std::int64_t events = random_.integer(0, 3) == 0 ? random_.integer(2, 4) : 1;
        for (std::int64_t i = 0; i < events; ++i)
            if (flows_.empty() || (std::ssize(flows_) < shape_.flows && random_.integer(0, 1) == 0))
                add();
            else
                remove();
        for (const RateChange& change : full_.settle())
            flows_.at(change.owner).full = change.rate;
        for (const RateChange& change : ripple_.settle())
            flows_.at(change.owner).ripple = change.rate;
        full_.note_loads();
        ripple_.note_loads();
    }

    bool agree() const
    {
        return std::all_of(flows_.begin(), flows_.end(), [](const auto& entry) {
            return entry.second.full == entry.second.ripple;
        });
    }

    void watch()
    {
        full_.watch_loads();
        ripple_.watch_loads();
        step();
    }

    bool loads_agree() const
    {
        for (std::size_t l = 0; l < capacities_.size(); ++l)
            if (full_.busiest_share(make_id<LinkId>(l)) !=
                ripple_.busiest_share(make_id<LinkId>(l)))
                return false;
        return true;
    }

    double highest_load() const
    {
        double highest = 0;
        for (std::size_t l = 0; l < capacities_.size(); ++l)
            highest = std::max(highest, ripple_.busiest_share(make_id<LinkId>(l)));
        return highest;
    }

private:
    struct Flow {
        std::vector<LinkUse> path;
        std::uint32_t in_full = 0;
        std::uint32_t in_ripple = 0;
        ByteRate full{};
        ByteRate ripple{};
    };

    std::vector<ByteRate> draw_capacities()
    {
        std::vector<ByteRate> capacities;
        for (std::int64_t l = random_.integer(1, shape_.links); l > 0; --l)
            capacities.emplace_back(random_.integer(0, 11) == 0
                                        ? 0
                                        : static_cast<std::uint64_t>(random_.integer(1, size_)));
        return capacities;
    }

    void add()
    {
        const std::uint32_t owner = next_++;
        Flow& flow = flows_[owner];
        for (std::int64_t i = random_.integer(0, shape_.path); i > 0; --i)
            flow.path.push_back({make_id<LinkId>(static_cast<std::size_t>(
                                     random_.integer(0, std::ssize(capacities_) - 1))),
                                 random_.integer(0, 1) == 0
                                     ? 1U << 16
                                     : static_cast<std::uint32_t>(random_.integer(0, 300'000))});
        const ByteRate ceiling(static_cast<std::uint64_t>(random_.integer(1, size_)));
        flow.in_full = full_.add(owner, ceiling, flow.path);
        flow.in_ripple = ripple_.add(owner, ceiling, flow.path);
    }

    void remove()
    {
        auto gone = flows_.begin();
        std::advance(gone, random_.integer(0, std::ssize(flows_) - 1));
        full_.remove(gone->second.in_full);
        ripple_.remove(gone->second.in_ripple);
        flows_.erase(gone);
    }

    Random random_;
    Shape shape_;
    std::int64_t size_;
    std::vector<ByteRate> capacities_;
    FullSharing full_;
    RippleSharing ripple_;
    std::map<std::uint32_t, Flow> flows_; // by owner
    std::uint32_t next_ = 0;
};

void compare(const Shape& shape, std::uint64_t seeds)
{
    double highest = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        Fabric fabric(seed, shape);
        for (int event = 0; event < shape.events; ++event) {
            if (event == shape.events / 2)
                fabric.watch();
            fabric.step();
            if (fabric.agree())
                continue;
            INFO("seed " << seed << ", event " << event);
            REQUIRE(fabric.agree());
        }
        INFO("seed " << seed);
        REQUIRE(fabric.loads_agree());
        highest = std::max(highest, fabric.highest_load());
    }
    CHECK(highest > 0.9);
    CHECK(highest <= 1.0); // no link carries more than its capacity
}

} // namespace

TEST_CASE("rates that follow what changed equal rates solved anew: a million events on few links")
{
    compare({.links = 7, .flows = 10, .path = 3, .events = 250}, 4000);
}

TEST_CASE("rates that follow what changed equal rates solved anew on many links")
{
    compare({.links = 60, .flows = 150, .path = 5, .events = 500}, 60);
    compare({.links = 400, .flows = 1000, .path = 40, .events = 300}, 2);
}
