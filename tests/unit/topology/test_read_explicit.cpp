#include "sim/topology/explicit_checks.h"
#include "sim/topology/read_topology.h"
#include "tests/catch.h"
#include "tests/support/expand.h"
#include "tests/unit/topology/clusters.h"

using namespace trainyard;
using testing::cluster;
using testing::problems_of;
using testing::topology_of;

namespace {

using Lines = std::vector<std::string>;

// Two GPUs on a switch, with more members and links added.
std::string two_gpus(const std::string& more, const std::string& more_links)
{
    return R"({"format": "trainyard.topology/1",
"devices": [{"name": "g0", "node": "a", "model": "x"},
{"name": "g1", "node": "b", "model": "x"}],
"switches": [{"name": "s"}],)" +
           more + R"(
"links": [{"from": "g0", "to": "s", "bandwidth": "100 Gb/s", "latency": "1 us"},
{"from": "g1", "to": "s", "bandwidth": "100 Gb/s", "latency": "1 us"})" +
           more_links + "]}";
}

} // namespace

TEST_CASE("an explicit description reads, and what is written reads back")
{
    const std::string text = two_gpus("\"network\": \"tcp\",", "");
    CHECK(problems_of(text).empty());
    const Topology t = topology_of(text);
    CHECK(t.device_count() == 2);
    CHECK(write_topology(topology_of(to_text(write_topology(t)))) == write_topology(t));

    const Topology whole =
        make_explicit(expand(make_cluster(cluster(2, "dgx-h100", "ib_ndr", FabricKind::rail))));
    CHECK(write_topology(topology_of(to_text(write_topology(whole)))) == write_topology(whole));
}

TEST_CASE("unreachable GPUs are named")
{
    const std::string text = R"({"format": "trainyard.topology/1", "network": "tcp",
"devices": [{"name": "g0", "node": "a", "model": "x"}, {"name": "g1", "node": "b", "model": "x"},
{"name": "g2", "node": "c", "model": "x"}, {"name": "g3", "node": "c", "model": "x"}],
"switches": [{"name": "s"}],
"links": [{"from": "g0", "to": "s", "bandwidth": "100 Gb/s", "latency": "1 us"},
{"from": "g1", "to": "s", "bandwidth": "100 Gb/s", "latency": "1 us"},
{"from": "g2", "to": "g3", "bandwidth": "300 GB/s", "latency": "1 us"}]})";
    CHECK(
        problems_of(text) ==
        Lines{R"(3:/devices/2 "g0" cannot reach "g2", "g3" (add the links between them; messages )"
              "pass through other GPUs over NVLink only)"});
}

TEST_CASE("a link of one direction does not make a GPU reachable both ways")
{
    const std::string text = two_gpus(
        "\"network\": \"tcp\",",
        R"(,{"from": "g2", "to": "s", "bandwidth": "1 Gb/s", "latency": "1 us", "one_way": true})");
    std::string with_device = text;
    with_device.replace(with_device.find("],"), 2,
                        R"(,{"name": "g2", "node": "c", "model": "x"}],)");
    CHECK(problems_of(with_device) ==
          Lines{R"(3:/devices/2 "g0" cannot reach "g2" (add the links between them; messages pass )"
                "through other GPUs over NVLink only)"});
}

TEST_CASE("names that nothing has, or two things have, are reported with the nearest one")
{
    CHECK(problems_of(two_gpus(
              "\"network\": \"tcp\",\n\"nics\": [{\"name\": \"g1\", \"node\": \"nowhere\"}],",
              ",\n{\"from\": \"g1\", \"to\": \"gg1\", \"bandwidth\": \"1 Gb/s\", "
              "\"latency\": \"1 us\"},\n{\"from\": \"s\", \"to\": \"s\", \"bandwidth\": "
              "\"1 Gb/s\", \"latency\": \"1 us\"}")) ==
          Lines{R"(5:/nics/0/name a second piece called "g1" (names are shared by devices, )"
                "switches and NICs)",
                R"(8:/links/2/to nothing is called "gg1" (did you mean "g1"?))",
                R"(9:/links/3 a link from "s" to itself)",
                R"(5:/nics/0/node node "nowhere" has no devices (one of: a, b))"});
}

TEST_CASE("a network link needs to know what the network speaks")
{
    CHECK(problems_of(two_gpus("", "")) ==
          Lines{"5:/links/0 a link into the network, but \"network\" does not say what it speaks "
                "(add \"network\": \"ib_ndr\" or another preset)"});
}

TEST_CASE("devices of a node are listed together, since ranks are placed in that order")
{
    std::string text = two_gpus("\"network\": \"tcp\",", "");
    text.replace(text.find("],"), 2, ",\n{\"name\": \"g2\", \"node\": \"a\", \"model\": \"x\"}],");
    CHECK(problems_of(text) ==
          Lines{"4:/devices/2 devices of node \"a\" are listed apart (list the devices of a node "
                "together: ranks are placed in this order)"});
}

TEST_CASE("a description is generated or listed, not both and not neither")
{
    const Lines neither = problems_of(R"({"format": "trainyard.topology/1"})");
    REQUIRE(neither.size() == 1);
    CHECK_THAT(neither[0], StartsWith("1: neither a generator nor explicit devices"));
    const Lines both =
        problems_of(R"({"format": "trainyard.topology/1", "generator": "cluster", "devices": []})");
    REQUIRE(both.size() == 1);
    CHECK_THAT(both[0], StartsWith("1: both a generator and explicit devices"));
    CHECK(problems_of(R"({"format": "trainyard.topology/1", "devices": []})") ==
          Lines{"1:/devices a cluster needs at least one device"});
    CHECK(problems_of("[]") == Lines{"1: expected an object, found a list"});
}

TEST_CASE("links without a rate or latency, or with bare numbers, are refused")
{
    CHECK(problems_of(two_gpus("\"network\": \"tcp\",",
                               ",\n{\"from\": \"g0\", \"to\": \"g1\", \"bandwidth\": 400},\n"
                               "{\"from\": \"g0\", \"to\": \"g1\", \"bandwidth\": \"0 B/s\", "
                               "\"latency\": \"1 m\"}")) ==
          Lines{"7:/links/2 \"latency\" is missing from link",
                "7:/links/2/bandwidth 400 has no unit (write a bandwidth as text with its unit, as "
                "in \"450 GB/s\")",
                "8:/links/3/bandwidth \"0 B/s\" is too small (at least 1 MB/s)",
                "8:/links/3/latency \"m\" is not a unit of time (units that work here: ps, ns, "
                "us, ms, s, min, h, d)"});
}
