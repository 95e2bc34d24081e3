#include "calibrate/measure/discover/cluster.h"
#include "calibrate/measure/run/nodes.h"
#include "sim/topology/read_topology.h"
#include "tests/catch.h"
#include "tests/unit/measure/fake_machine.h"
#include "tests/unit/measure/simulated_nvml.h"

#include <thread>

using namespace trainyard;

namespace {

// A server of 8 H100s with two NICs of 400 Gb/s.
NodeReport h100_report(const std::string& host)
{
    const FakeMachine machine;
    write_two_switch_server(machine, 4);
    NodeLook look;
    look.sources.host = read_host(machine.root());
    simulated_nvml() = h100_server(8);
    look.sources.nvml = *read_nvml(simulated_functions());
    Checked<NodeReport> out = report_of(look, "");
    REQUIRE(out);
    out->host = host;
    return *out;
}

DiscoveredCluster cluster(std::vector<NodeReport> nodes)
{
    const Checked<DiscoveredCluster> out = cluster_of(std::move(nodes));
    REQUIRE(out);
    return *out;
}

Topology topology_of(const DiscoveredCluster& cluster)
{
    const Checked<Topology> out = read_topology(cluster.topology, "cluster.json");
    REQUIRE(out);
    return *out;
}

// Ranks of several hosts, each a thread that knows what its host would tell.
class PretendedHosts {
public:
    struct Host {
        std::string name;
        int ranks = 1;
        std::optional<NodeReport> node; // nothing: it fails
    };

    explicit PretendedHosts(const std::vector<Host>& hosts)
    {
        int ranks = 0;
        for (const Host& host : hosts)
            for (int local = 0; local < host.ranks; ++local)
                threads_.emplace_back(
                    [this, host, local, rank = ranks++] { serve(host, rank, local); });
        CoordinatorSetup setup;
        setup.ranks = ranks;
        coordinator_ = std::make_unique<Coordinator>(listener_, setup);
    }
    ~PretendedHosts()
    {
        coordinator_.reset();
        for (std::thread& thread : threads_)
            thread.join();
    }

    Coordinator& coordinator() { return *coordinator_; }
    int asked() const { return asked_; }

private:
    void serve(const Host& host, int rank, int local)
    {
        Connection connection(connect_to("localhost", listener_.port(), Milliseconds(20'000)));
        RankMessage hello;
        hello.hello = RankHello{{rank, 0, local, host.ranks}, host.name, 1, ""};
        connection.send(to_json(hello));
        try {
            while (const auto json = connection.receive(Milliseconds(20'000))) {
                const RankMessage message = message_from(*json);
                RankMessage answer;
                answer.reply.emplace();
                answer.reply->number = message.command->number;
                if (host.node)
                    answer.reply->node = host.node;
                else
                    answer.reply->failure = MeasureFailure{FailureKind::broken, "no /sys", ""};
                ++asked_;
                connection.send(to_json(answer));
            }
        } catch (const ConnectionLost&) {
        }
    }

    Listener listener_{0};
    std::atomic<int> asked_{0};
    std::vector<std::thread> threads_;
    std::unique_ptr<Coordinator> coordinator_;
};

} // namespace

TEST_CASE("one node alone makes the topology that it makes without others")
{
    const NodeReport node = h100_report("alone");
    const DiscoveredCluster found = cluster({node});
    CHECK(found.description == describe_node(node.map, network_preset("ib_ndr")));
    CHECK(found.told.empty());
    CHECK(found.assumed.empty());
}

TEST_CASE("alike nodes are one class, joined by their NICs and a switch that is said to be assumed")
{
    const DiscoveredCluster found = cluster({h100_report("a"), h100_report("b"), h100_report("c")});
    const Topology topology = topology_of(found);
    CHECK(topology.device_count() == 24);
    CHECK(topology.node_count() == 3);
    CHECK(topology.network(NodeId{2}).nics == 2);
    CHECK_THAT(topology.network(NodeId{2}).nic_rate.value(), WithinRel(50e9, 1e-12));
    CHECK(found.description.devices[8].name == "b/gpu0");
    REQUIRE(found.told.size() == 1);
    CHECK(found.told[0] == "hosts a, b, c are alike: 8 x h100_sxm5_80, 2 NICs of 50 GB/s");
    REQUIRE(found.assumed.size() == 1);
    CHECK_THAT(found.assumed[0], StartsWith("between the NICs lies one switch"));
    // Inside a node NVLink, between nodes the network.
    CHECK(topology.path(DeviceId{0}, DeviceId{7}).size() == 2);
    CHECK(topology.path(DeviceId{0}, DeviceId{8}).size() > 4);
}

TEST_CASE("how nodes differ from the usual one is told, whatever their pieces are called")
{
    const NodeReport usual = h100_report("a");
    NodeReport renamed = h100_report("b");
    for (NodeMap::Vertex& one : renamed.map.switches)
        one.name += "-other";
    for (NodeMap::Gpu& gpu : renamed.map.gpus)
        gpu.address.clear();
    CHECK(differences(usual, renamed).empty());

    NodeReport fewer = h100_report("c");
    fewer.map.gpus.pop_back();
    fewer.map.nvlinks.pop_back();
    NodeReport worse = h100_report("d");
    worse.map.gpus[3].pcie = Bandwidth(31.5e9);
    worse.map.nics[1].rate = Bandwidth(25e9);
    worse.classes[0][1] = worse.classes[1][0] = "NV12";
    const DiscoveredCluster found = cluster({worse, usual, renamed, fewer});
    CHECK(found.told ==
          std::vector<std::string>{
              "hosts a, b are alike: 8 x h100_sxm5_80, 2 NICs of 50 GB/s",
              "host d differs from a: gpu0 and gpu1 are joined by NV12 instead of NV18; PCIe of "
              "gpu3 carries 31.5 GB/s instead of 63 GB/s; NIC mlx5_1 has 25 GB/s instead of 50 "
              "GB/s",
              "host c differs from a: 7 devices instead of 8"});
    CHECK(topology_of(found).device_count() == 31);
}

TEST_CASE("trays of one NVLink domain share their NVSwitches, others do not")
{
    NodeReport a = h100_report("tray0");
    NodeReport b = h100_report("tray1");
    // GPU, NVSwitch, GPU.
    for (NodeReport* node : {&a, &b})
        node->map.nvlink_domain = "f00d.1";
    CHECK(topology_of(cluster({a, b})).path(DeviceId{0}, DeviceId{8}).size() == 2);
    b.map.nvlink_domain = "f00d.2";
    const DiscoveredCluster apart = cluster({a, b});
    CHECK(topology_of(apart).path(DeviceId{0}, DeviceId{8}).size() > 4);
    CHECK(apart.told == std::vector<std::string>{
                            "host tray1 differs from tray0: it is in another NVLink domain"});
}

TEST_CASE("nodes that show no NIC are joined all the same, said as assumed")
{
    NodeReport a = h100_report("a");
    NodeReport b = h100_report("b");
    for (NodeReport* node : {&a, &b}) {
        node->map.nics.clear();
        node->map.network.clear();
    }
    const DiscoveredCluster found = cluster({a, b});
    CHECK(topology_of(found).network(NodeId{1}).nics == 1);
    CHECK(found.assumed[0] == "host a shows no NIC that is up: one of the usual rate");
}

TEST_CASE("the first rank of each host is asked once, and what it says arrives as it was said")
{
    const NodeReport a = h100_report("a");
    NodeReport b = h100_report("b");
    b.believed = {"one thing"};
    b.doubts = {"another"};
    PretendedHosts hosts({{"a", 3, a}, {"b", 2, b}});
    std::vector<std::string> doubts;
    const auto found = cluster_of(hosts.coordinator(), 5, doubts);
    REQUIRE(found);
    CHECK(found->nodes == std::vector<NodeReport>{a, b});
    CHECK(hosts.asked() == 2);
    CHECK(doubts.empty());
}

TEST_CASE("a host that cannot tell what it is made of is named, and left out")
{
    PretendedHosts hosts({{"a", 1, h100_report("a")}, {"b", 1, std::nullopt}});
    std::vector<std::string> doubts;
    const auto found = cluster_of(hosts.coordinator(), 2, doubts);
    REQUIRE(found);
    CHECK(found->nodes.size() == 1);
    CHECK(doubts == std::vector<std::string>{"what host b is made of is not known: no /sys"});

    PretendedHosts none({{"b", 2, std::nullopt}});
    CHECK_FALSE(cluster_of(none.coordinator(), 2, doubts));
}

TEST_CASE("a dump of NCCL that cannot be read leaves the other sources, and a doubt")
{
    const FakeMachine machine;
    write_two_switch_server(machine, 4);
    NodeLook look;
    look.sources.host = read_host(machine.root());
    const Checked<NodeReport> cut = report_of(look, "<system><cpu");
    REQUIRE(cut);
    CHECK(cut->map.gpus.size() == 8);
    CHECK_THAT(cut->doubts.back(), StartsWith("NCCL's dump of the topology is left out: "));

    // Of an NVLink domain of several hosts it shows all of them at once.
    const Checked<NodeReport> two =
        report_of(look, "<system><cpu host_hash=\"1\"/><cpu host_hash=\"2\"/></system>");
    REQUIRE(two);
    CHECK(two->map.gpus.size() == 8);
    CHECK(two->believed.empty());
}
