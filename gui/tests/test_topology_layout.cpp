// Where a cluster's pieces lie, and what its links are seen to carry.

#include "gui/tests/recorded_job.h"
#include "gui/topology/link_edits.h"
#include "gui/topology/topology_scene.h"
#include "gui/topology/topology_search.h"
#include "sim/topology/read_topology.h"
#include "tests/catch.h"

#include <algorithm>
#include <set>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

std::shared_ptr<const Topology> cluster(const std::string& file)
{
    const auto topology = read_topology_file("topologies/" + file);
    REQUIRE(topology.has_value());
    return std::make_shared<const Topology>(*topology);
}

std::shared_ptr<const ClusterGraph> graph_of(const std::string& file)
{
    return std::make_shared<const ClusterGraph>(cluster(file));
}

std::size_t count(const ClusterGraph& graph, PlaceKind kind)
{
    return static_cast<std::size_t>(std::ranges::count(graph.places, kind, &Place::kind));
}

std::size_t count(const ClusterGraph& graph, Layer layer)
{
    return static_cast<std::size_t>(std::ranges::count_if(graph.places, [&](const Place& place) {
        return place.kind == PlaceKind::piece && place.layer == layer;
    }));
}

// Every link in one bundle, whose ends show its ends.
void check_bundles(const TopologyLayout& layout)
{
    std::vector<int> seen(layout.graph()->links.size());
    for (const Bundle& bundle : layout.bundles()) {
        for (const LinkId link : layout.there(bundle)) {
            ++seen[link.value];
            REQUIRE(layout.item_of(layout.graph()->links[link.value].from) == bundle.a);
            REQUIRE(layout.item_of(layout.graph()->links[link.value].to) == bundle.b);
        }
        for (const LinkId link : layout.back(bundle)) {
            ++seen[link.value];
            REQUIRE(layout.item_of(layout.graph()->links[link.value].from) == bundle.b);
            REQUIRE(layout.item_of(layout.graph()->links[link.value].to) == bundle.a);
        }
    }
    REQUIRE(std::ranges::all_of(seen, [](int times) { return times == 1; }));
}

void check_apart(const TopologyLayout& layout)
{
    std::map<double, std::vector<std::pair<double, double>>> rows;
    for (const LaidPlace& item : layout.items())
        rows[item.low].emplace_back(item.left, item.right);
    for (auto& [y, row] : rows) {
        std::ranges::sort(row);
        for (std::size_t i = 1; i < row.size(); ++i)
            REQUIRE(row[i - 1].second <= row[i].first + 1e-9);
    }
    for (const LaidPlace& item : layout.items()) {
        REQUIRE(item.left >= -1e-9);
        REQUIRE(item.right <= layout.width() + 1e-9);
    }
}

} // namespace

TEST_CASE("a node of eight GPUs is drawn piece by piece")
{
    const auto graph = graph_of("h100-1x8.json");
    CHECK(count(*graph, Layer::gpu) == 8);
    CHECK(count(*graph, Layer::nvswitch) == 1);
    CHECK(graph->places[0].gpus == 8);
    const TopologyLayout layout(graph);
    CHECK(layout.item_of(graph->find("node0/gpu3")) != layout.item_of(graph->find("node0/gpu4")));
    check_bundles(layout);
    check_apart(layout);
}

TEST_CASE("every kind of cluster has each link between two pieces, and no two things on one place")
{
    for (const char* file : {"h100-8x8-ndr400.json", "gb200-nvl72-8racks.json", "v100-1x8.json",
                             "explicit-2x2.json", "fat-tree-k8.json", "pcie-l40s-2x8.json",
                             "cpu-1x2.json", "aws-p4d-16.json", "h100-leaf-spine-2to1.json"})
    {
        INFO(file);
        const auto graph = graph_of(file);
        REQUIRE(graph->links.size() == graph->topology->link_count());
        for (const PlacePair& link : graph->links) {
            REQUIRE(graph->leaf(link.from));
            REQUIRE(graph->leaf(link.to));
        }
        CHECK(count(*graph, Layer::gpu) ==
              static_cast<std::size_t>(graph->topology->device_count()));
        TopologyLayout layout(graph);
        check_bundles(layout);
        check_apart(layout);
        for (const PlaceKind kind : {PlaceKind::rack, PlaceKind::switches, PlaceKind::node}) {
            layout.set_all_open({kind}, true);
            check_bundles(layout);
            check_apart(layout);
        }
        CHECK(layout.items().size() <= TopologyLayout::most_items);
    }
}

TEST_CASE("16,384 GPUs fold into pods of 64 nodes, each with the leaves that serve it")
{
    const auto graph = graph_of("h100-16k.json");
    CHECK(count(*graph, PlaceKind::pod) == 32);
    CHECK(count(*graph, PlaceKind::node) == 2048);
    CHECK(count(*graph, Layer::gpu) == 16'384);
    TopologyLayout layout(graph);
    CHECK(layout.items().size() < 600);
    check_bundles(layout);
    check_apart(layout);
    const auto pod = [&](const char* name) {
        return static_cast<std::uint32_t>(
            std::ranges::find(graph->places, std::string(name), &Place::name) -
            graph->places.begin());
    };
    // What lies left of a pod stays where it is.
    const double third = layout.items()[layout.item_of(pod("pod 3"))].left;
    const double tenth = layout.items()[layout.item_of(pod("pod 10"))].left;
    layout.set_open(pod("pod 7"), true);
    CHECK(layout.items()[layout.item_of(pod("pod 3"))].left == third);
    CHECK(layout.items()[layout.item_of(pod("pod 10"))].left > tenth);
    check_bundles(layout);
    check_apart(layout);
    // And comes back.
    const auto items = layout.items();
    layout.set_open(pod("pod 7"), false);
    layout.set_open(pod("pod 7"), true);
    CHECK(layout.items() == items);
}

TEST_CASE("a pod opens into parts, these into nodes, which open one by one")
{
    const auto graph = graph_of("h100-16k.json");
    TopologyLayout layout(graph);
    const auto pod = static_cast<std::uint32_t>(
        std::ranges::find(graph->places, PlaceKind::pod, &Place::kind) - graph->places.begin());
    const std::size_t before = layout.items().size();
    // 64 nodes in eight parts of eight: never more at once than can be read.
    layout.set_open(pod, true);
    CHECK(graph->places[pod + 1].kind == PlaceKind::part);
    CHECK(graph->places[pod + 1].name == "nodes 0-7");
    CHECK(layout.items().size() <= before + 8 + 8); // with the leaves over it
    const std::size_t parted = layout.items().size();
    layout.set_open(pod + 1, true);
    CHECK(graph->places[pod + 2].kind == PlaceKind::node);
    CHECK(layout.items().size() == parted + 7);
    check_bundles(layout);
    check_apart(layout);
    layout.set_open(pod + 2, true);
    CHECK(layout.items().size() > parted + 20);
    // What is looked for opens its own part alone.
    TopologyLayout other(graph);
    other.reveal(graph->find("node70/gpu3"));
    CHECK(other.items().size() < before + 60);
    // Racks of an NVLink domain are parts enough.
    CHECK(count(*graph_of("gb200-nvl72-8racks.json"), PlaceKind::part) == 0);
}

TEST_CASE("the upper end of the colours is the next round share of what links carry")
{
    const auto top = [](double worst, double load) {
        BundleUse use;
        use.there.worst = worst;
        use.there.capacity = 1;
        use.there.load = load;
        return scale_top({BundleUse(), use});
    };
    CHECK(top(0.12, 0.04) == 0.2);
    CHECK(top(0.5, 0.04) == 0.5); // the busiest link's, however little the others carry
    CHECK(top(0.501, 0.5) == 1);
    CHECK(top(0, 0) == 0.2);
    CHECK(top(3, 1) == 1); // nothing beyond all
}

TEST_CASE("things and links are found by a part of their names, just that name first")
{
    const TopologyRun run(gui::test::recorded_job(), nullptr, {});
    const TopologyMatches gpus = find_in_cluster(run, "GPU1", 100, {});
    REQUIRE(gpus.count >= 3); // the GPU and its links
    CHECK(run.graph->places[gpus.found[0].place.value()].name.find("gpu1") != std::string::npos);
    CHECK(gpus.found.back().link.has_value());
    const std::string name = run.name(LinkId{3});
    CHECK(find_in_cluster(run, name, 100, {}).found.front().link == LinkId{3});
    const TopologyMatches few = find_in_cluster(run, "g", 2, {});
    CHECK(few.found.size() == 2);
    CHECK(few.count > 2);
    CHECK(find_in_cluster(run, "", 100, {}).found.empty());
    CHECK(find_in_cluster(run, "no such thing", 100, {}).count == 0);
}

TEST_CASE("however much is opened, a few thousand things are drawn")
{
    const auto graph = graph_of("h100-16k.json");
    TopologyLayout layout(graph);
    for (const PlaceKind kind : {PlaceKind::pod, PlaceKind::switches, PlaceKind::node})
        layout.set_all_open({kind}, true);
    CHECK(layout.items().size() > 1000);
    for (std::uint32_t place = 0; place < graph->places.size(); place += 997)
        layout.reveal(place);
    CHECK(layout.items().size() <= TopologyLayout::most_items);
    check_bundles(layout);
}

TEST_CASE("racks of one NVLink domain hold its switches and fold with them")
{
    const auto graph = graph_of("gb200-nvl72-8racks.json");
    CHECK(count(*graph, PlaceKind::rack) == 8);
    const std::uint32_t nvswitch = graph->find("domain3/nvswitch");
    REQUIRE(nvswitch != no_place);
    CHECK(graph->places[graph->places[nvswitch].parent].name == "rack 3");
}

TEST_CASE("the same cluster is laid out alike every time")
{
    const TopologyLayout a(graph_of("h100-8x8-ndr400.json"));
    const TopologyLayout b(graph_of("h100-8x8-ndr400.json"));
    CHECK(a.items() == b.items());
    CHECK(a.bundles() == b.bundles());
}

TEST_CASE("bundles carry what their links carry, and the busiest says so")
{
    const TopologyRun run(gui::test::recorded_job(), nullptr, {});
    TopologyLayout layout(run.graph);
    const std::vector<double> loads = link_loads(run, step_of(*run.outcome));
    layout.set_all_open({PlaceKind::node}, false);
    const std::vector<BundleUse> uses = bundle_uses(layout, run, loads);
    double sum = 0;
    double bundled = 0;
    for (const double load : loads)
        sum += load;
    for (const BundleUse& use : uses) {
        bundled += use.there.load + use.back.load;
        for (const WayUse* way : {&use.there, &use.back})
            if (way->links > 0)
                CHECK(way->worst >= way->mean() - 1e-12);
    }
    CHECK(sum > 0);
    CHECK_THAT(bundled, WithinRel(sum, 1e-9));
}

TEST_CASE("links are changed as entries of their own, and mended by taking those out")
{
    const auto change = [](Json scenario, const char* link, LinkChange what) {
        return with_links(std::move(scenario), {link}, what);
    };
    const Json plain = Json(Json::Object{{"model", "m"}});
    const auto cut = change(plain, "node0/nic3", {LinkChange::Kind::cut});
    REQUIRE(cut);
    CHECK(to_text(*cut->find("perturbations"), JsonStyle::compact) ==
          R"([{"link":"node0/nic3","dead":true}])");
    const auto half = change(*cut, "node0/nic3", {LinkChange::Kind::scale, 0.5});
    REQUIRE(half);
    CHECK(to_text(*half->find("perturbations"), JsonStyle::compact) ==
          R"([{"link":"node0/nic3","bandwidth":0.5}])");
    const auto quarter = change(*half, "node0/nic3", {LinkChange::Kind::scale, 0.5});
    REQUIRE(quarter);
    CHECK(quarter->find("perturbations")->items()[0].find("bandwidth")->as_double() == 0.25);
    const auto mended = change(*quarter, "node0/nic3 out", {LinkChange::Kind::mend});
    REQUIRE(mended);
    CHECK(*mended == plain);
    const auto whole = change(*half, "node0/nic3", {LinkChange::Kind::share, 1.0});
    REQUIRE(whole);
    CHECK(*whole == plain);
    // Other entries stay; a pattern cannot be undone for one of its links.
    const auto other = Json(Json::Object{
        {"perturbations",
         Json(Json::Array{Json(Json::Object{{"link", "node*/nic3"}, {"dead", true}})})}});
    const auto failed = change(other, "node0/nic3", {LinkChange::Kind::mend});
    REQUIRE(!failed);
    CHECK(failed.error().front().message.find("node0/nic3") != std::string::npos);
    CHECK(!change(plain, "node0/nic3", {LinkChange::Kind::share, 1.5}));
    CHECK(!change(plain, "node0/nic3", {LinkChange::Kind::share, 0.0}));
}
