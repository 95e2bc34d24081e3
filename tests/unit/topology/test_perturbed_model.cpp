#include "sim/topology/perturbed_model.h"
#include "tests/catch.h"
#include "tests/unit/topology/clusters.h"

#include <algorithm>
#include <set>

using namespace trainyard;
using testing::cluster;
using testing::gpu;
using testing::names;

namespace {

using Names = std::vector<std::string>;

LinkId link_named(const Topology& t, const std::string& name)
{
    for (std::size_t i = 0; i < t.link_count(); ++i)
        if (t.link_name(make_id<LinkId>(i)) == name)
            return make_id<LinkId>(i);
    FAIL("no link " << name);
    return {};
}

Topology perturbed(const Topology& sound, const std::vector<std::string>& links,
                   const LinkState& state)
{
    std::unordered_map<LinkId, LinkState> states;
    for (const std::string& name : links)
        states[link_named(sound, name)] = state;
    return Topology(std::make_shared<PerturbedModel>(
        std::shared_ptr<const TopologyModel>(std::shared_ptr<void>(), &sound.model()),
        std::move(states), std::nullopt));
}

constexpr LinkState dead{1.0, Seconds(0), true};

bool crosses(const Topology& t, const std::vector<LinkId>& path, const std::string& name)
{
    const Names all = names(t, path);
    return std::ranges::find(all, name) != all.end();
}

} // namespace

TEST_CASE("a slower, longer link keeps its place")
{
    const Topology sound = make_cluster(cluster(2, "dgx-h100", "ib_ndr", FabricKind::rail));
    const Topology t = perturbed(sound, {"node0/nic3 out"}, {0.25, Seconds(2e-6), false});
    const LinkId nic = link_named(sound, "node0/nic3 out");
    CHECK(t.link(nic).capacity.value() == 0.25 * sound.link(nic).capacity.value());
    CHECK(t.link(nic).latency.value() == sound.link(nic).latency.value() + 2e-6);
    CHECK(t.path(gpu(3), gpu(11)) == sound.path(gpu(3), gpu(11)));
    CHECK_FALSE(t.model().rerouted(gpu(3), gpu(11)));
    CHECK(&t.model().sound() == &sound.model());
}

TEST_CASE("a GPU that lost its NIC sends through those of the others, evenly over flows")
{
    const Topology sound = make_cluster(cluster(2, "dgx-h100", "ib_ndr", FabricKind::rail));
    const Topology t = perturbed(sound, {"node0/nic3 out", "node0/nic3 in"}, dead);
    CHECK(t.model().rerouted(gpu(3), gpu(11)));
    CHECK(t.model().rerouted(gpu(11), gpu(3)));
    CHECK_FALSE(t.model().rerouted(gpu(2), gpu(10)));
    std::set<std::string> met;
    for (std::uint64_t flow = 0; flow < 64; ++flow) {
        const std::vector<LinkId> path = t.path(gpu(3), gpu(11), flow);
        REQUIRE_FALSE(path.empty());
        CHECK_FALSE(crosses(t, path, "node0/nic3 out"));
        for (const std::string& name : names(t, path))
            if (name.starts_with("node0/nic"))
                met.insert(name);
    }
    CHECK(met.size() == 7);
    // Each link begins where the one before ended.
    const std::vector<LinkId> path = t.path(gpu(3), gpu(11), 5);
    for (std::size_t i = 1; i < path.size(); ++i)
        CHECK(t.model().link_ends(path[i]).from == t.model().link_ends(path[i - 1]).to);
}

TEST_CASE("without NVLink a GPU is reached over PCIe")
{
    const Topology sound = make_cluster(cluster(1, "dgx-h100", "ib_ndr", FabricKind::rail));
    const Topology t = perturbed(sound, {"node0/gpu5/nvlink up", "node0/gpu5/nvlink down"}, dead);
    const Names there = names(t, t.path(gpu(0), gpu(5)));
    REQUIRE_FALSE(there.empty());
    CHECK(there.front() == "node0/gpu0/pcie up");
    CHECK(there.back() == "node0/gpu5/pcie down");
    CHECK(t.path(gpu(0), gpu(4)) == sound.path(gpu(0), gpu(4)));
}

TEST_CASE("flows leave a dead uplink for those beside it")
{
    const Topology sound = make_cluster(cluster(64, "dgx-h100", "ib_ndr", FabricKind::rail));
    const DeviceId to = gpu(63 * 8);
    std::string uplink;
    for (const std::string& name : names(sound, sound.path(gpu(0), to)))
        if (name.find("/uplink") != std::string::npos && name.ends_with(" up"))
            uplink = name;
    REQUIRE_FALSE(uplink.empty());
    const Topology t = perturbed(sound, {uplink}, dead);
    for (std::uint64_t flow = 0; flow < 32; ++flow) {
        const std::vector<LinkId> path = t.path(gpu(0), to, flow);
        CHECK_FALSE(path.empty());
        CHECK_FALSE(crosses(t, path, uplink));
    }
    CHECK_FALSE(t.model().rerouted(gpu(0), to));
    const auto trunk = t.model().trunk(link_named(sound, uplink));
    REQUIRE(trunk);
    CHECK(trunk->capacity.value() <
          sound.model().trunk(link_named(sound, uplink))->capacity.value());
}

TEST_CASE("the one uplink left of many is found")
{
    const Topology sound = make_cluster(cluster(64, "dgx-h100", "ib_ndr", FabricKind::rail));
    const DeviceId to = gpu(63 * 8);
    Names uplinks; // of the leaf switch of the first device, those that flows to `to` take
    std::set<std::string> seen;
    for (std::uint64_t flow = 0; flow < 4096; ++flow)
        for (const std::string& name : names(sound, sound.path(gpu(0), to, flow)))
            if (name.find("/uplink") != std::string::npos && name.ends_with(" up") &&
                seen.insert(name).second)
                uplinks.push_back(name);
    REQUIRE(uplinks.size() > 8);
    const std::string left = uplinks.back();
    uplinks.pop_back();
    const Topology one = perturbed(sound, uplinks, dead);
    for (std::uint64_t flow = 0; flow < 32; ++flow)
        CHECK(crosses(one, one.path(gpu(0), to, flow), left));
}

TEST_CASE("a node without any NIC is cut off from the others")
{
    const Topology sound = make_cluster(cluster(2, "dgx-h100", "ib_ndr", FabricKind::rail));
    Names all;
    for (int nic = 0; nic < 8; ++nic)
        all.push_back("node0/nic" + std::to_string(nic) + " out");
    const Topology t = perturbed(sound, all, dead);
    CHECK(t.path(gpu(0), gpu(9)).empty());
    CHECK_FALSE(t.path(gpu(9), gpu(0)).empty()); // in it still can
    CHECK_FALSE(t.path(gpu(0), gpu(1)).empty());
}
