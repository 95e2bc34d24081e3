#include "sim/topology/clos.h"
#include "tests/catch.h"
#include "tests/unit/topology/clusters.h"

using namespace trainyard;
using namespace trainyard::literals;
using testing::cluster;

namespace {

ClosShape shape_of(const ClusterDescription& c)
{
    return clos_shape(c.nodes, c.node, *c.fabric).value();
}

} // namespace

TEST_CASE("switch counts equal NVIDIA's tables for DGX SuperPOD of 2 to 64 scalable units")
{
    // DGX SuperPOD reference architecture, B200 and H100: units of 32 nodes, 8 rails, 64-port NDR
    // switches; leaves, spines, cores.
    struct Row {
        int units, leaves, spines, cores;
    };
    const Row row = GENERATE(Row{2, 16, 8, 0}, Row{4, 32, 16, 0}, Row{8, 64, 32, 0},
                             Row{16, 128, 128, 64}, Row{32, 256, 256, 128}, Row{64, 512, 512, 256});
    const ClosShape shape =
        shape_of(cluster(32 * row.units, "dgx-h100", "ib_ndr", FabricKind::rail));
    CHECK(shape.nodes_per_unit == 32);
    CHECK(shape.units == row.units);
    CHECK(shape.leaves == row.leaves);
    CHECK(shape.spines() == row.spines);
    CHECK(shape.cores() == row.cores);
    CHECK(shape.leaf_oversubscription() == 1.0);
    CHECK(shape.core_oversubscription() == 1.0);
}

TEST_CASE("a unit of DGX A100 on 40-port HDR switches has 20 nodes, as in its SuperPOD")
{
    CHECK(shape_of(cluster(140, "dgx-a100", "ib_hdr", FabricKind::rail)).nodes_per_unit == 20);
}

TEST_CASE("a fat tree of k-port switches has k^3/4 hosts, k^2/2 leaves and spines, k^2/4 cores")
{
    const int k = GENERATE(4, 6, 8, 16);
    ClusterDescription c = cluster(k * k * k / 4, "gcp-a2", "tcp", FabricKind::fat_tree);
    c.fabric->network.switch_ports = k;
    const ClosShape shape = shape_of(c);
    CHECK(shape.pods == k);
    CHECK(shape.leaves == k * k / 2);
    CHECK(shape.spines() == k * k / 2);
    CHECK(shape.cores() == k * k / 4);
    CHECK(shape.links_per_spine() == 1);
    CHECK(shape.links_per_core() == 1);

    // One host more does not fit.
    c.nodes += 1;
    REQUIRE_FALSE(clos_shape(c.nodes, c.node, *c.fabric));
}

TEST_CASE("oversubscription asked for is oversubscription got")
{
    ClusterDescription c = cluster(256, "dgx-h100", "ib_ndr", FabricKind::rail);
    c.fabric->nodes_per_unit = 32;
    c.fabric->oversubscription = GENERATE(1.0, 2.0, 4.0, 8.0);
    CHECK(shape_of(c).leaf_oversubscription() == c.fabric->oversubscription);
}

TEST_CASE("oversubscription of a core layer counts from the NICs")
{
    // Meta's RoCE cluster: racks of 16 GPUs, pods of 192 racks, 1:7 between pods.
    ClusterDescription c = cluster(3072, "dgx-h100", "roce_meta", FabricKind::leaf_spine);
    c.fabric->nodes_per_unit = 2;
    c.fabric->units_per_pod = 192;
    c.fabric->core_oversubscription = 7;
    c.fabric->network.switch_ports = 576;
    const ClosShape shape = shape_of(c);
    CHECK(shape.pods == 8);
    CHECK(shape.leaf_oversubscription() == 1.0);
    CHECK(shape.core_oversubscription() == Approx(7.0).epsilon(0.03)); // whole links
}

TEST_CASE("few nodes share one switch and need no spines")
{
    const ClosShape shape = shape_of(cluster(2, "dgx-a100", "ib_hdr", FabricKind::leaf_spine));
    CHECK(shape.leaves == 1);
    CHECK(shape.leaf_uplinks == 0);
    CHECK(shape.spines() == 0);
}
