#include "small_program.h"
#include "tests/catch.h"
#include "tests/support/flaws.h"

using namespace trainyard;

namespace {

// The first flaw of the small binding after `change`.
template <class Change>
std::string flaw_of_binding_after(const Change& change)
{
    Binding binding = test::small_binding();
    change(binding);
    const auto found = flaws(test::small_program(), binding);
    REQUIRE_FALSE(found.empty());
    return found[0];
}

} // namespace

TEST_CASE("a sound binding has no flaws")
{
    CHECK(flaws(test::small_program(), test::small_binding()).empty());
}

TEST_CASE("groups and their members agree")
{
    CHECK(flaw_of_binding_after([](Binding& b) { b.groups[0].members.pop_back(); }) ==
          "lane 1: a group that does not count it as a member");
    CHECK(flaw_of_binding_after([](Binding& b) { b.groups[0].members[1] = LaneId{0}; }) ==
          "group 0: a member twice");
    CHECK(flaw_of_binding_after([](Binding& b) { b.groups[0].members[1] = LaneId{7}; }) ==
          "group 0: no such lane");
    CHECK(flaw_of_binding_after([](Binding& b) { b.lanes[1].groups[0] = GroupId::none(); }) ==
          "group 0: a member that has not this group");
    CHECK(flaw_of_binding_after([](Binding& b) { b.groups[0].ranks = 1; }) ==
          "group 0: no members, or more than ranks");
}

TEST_CASE("every transfer finds its cost")
{
    CHECK(flaw_of_binding_after([](Binding& b) { b.groups[0].variant = 1; }) ==
          "group 0: no such cost variant");
    CHECK(flaw_of_binding_after([](Binding& b) { b.lanes[1].peers[0].variant = 1; }) ==
          "lane 1: an exchange has no cost");
    CHECK(flaw_of_binding_after([](Binding& b) { b.costs.transfers[0].pop_back(); }) ==
          "lane 0: an exchange has no cost");
    CHECK(flaw_of_binding_after([](Binding& b) { b.costs.transfers[0].clear(); }) ==
          "lane 0: a collective has no cost");
    CHECK(flaw_of_binding_after([](Binding& b) { b.costs.compute.clear(); }) ==
          "block \"layer\": no cost 0");
}

TEST_CASE("a lane fills every slot of the program")
{
    CHECK(flaw_of_binding_after([](Binding& b) { b.lanes[0].role = RoleId{1}; }) ==
          "lane 0: no such role");
    CHECK(flaw_of_binding_after([](Binding& b) { b.lanes[1].peers.clear(); }) ==
          "lane 1: peer slots missing");
    CHECK(flaw_of_binding_after([](Binding& b) { b.lanes[1].scales.clear(); }) ==
          "lane 1: scale slots missing");
    CHECK(flaw_of_binding_after([](Binding& b) { b.lanes[1].multiplicity = 0; }) ==
          "lane 1: stands for no rank");
    CHECK(flaw_of_binding_after([](Binding& b) { b.lanes[0].start = SimTime(-1); }) ==
          "lane 0: starts before time 0");
    CHECK(flaw_of_binding_after([](Binding& b) { b.lanes[1].peers[0].lane = LaneId::none(); }) ==
          "lane 1: an exchange has no neighbour");
    CHECK(flaw_of_binding_after([](Binding& b) {
              b.lanes[1].peers[0].links[0].link = LinkId{1};
          }) == "lane 1: no such link");
}

TEST_CASE("durations are never negative and work has a rate")
{
    CHECK(flaw_of_binding_after([](Binding& b) { b.costs.compute[0] = SimTime(-1); }) ==
          "costs: a negative duration");
    CHECK(flaw_of_binding_after([](Binding& b) { b.costs.host_per_kernel[0] = SimTime(-1); }) ==
          "costs: a negative host time");
    CHECK(flaw_of_binding_after([](Binding& b) {
              b.costs.transfers[0][0].latency = SimTime(-1);
          }) == "costs: a negative latency");
    CHECK(flaw_of_binding_after([](Binding& b) { b.costs.transfers[0][1].work = Work{1}; }) ==
          "costs: work without a rate");
}

TEST_CASE("a mistake repeated for every lane is reported twenty times at most")
{
    Binding binding = test::small_binding();
    for (int i = 0; i < 100; ++i)
        binding.lanes.push_back({.role = RoleId{5}});
    CHECK(flaws(test::small_program(), binding).size() == 20);
}
