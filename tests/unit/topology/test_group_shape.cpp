#include "sim/topology/group_shape.h"
#include "tests/catch.h"
#include "tests/unit/topology/clusters.h"

using namespace trainyard;
using namespace trainyard::literals;
using testing::cluster;
using testing::gpu;

namespace {

std::vector<DeviceId> strided(std::size_t first, std::size_t count, std::size_t stride)
{
    std::vector<DeviceId> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back(gpu(first + i * stride));
    return out;
}

} // namespace

TEST_CASE("a tensor-parallel group fills one node")
{
    const Topology t = make_cluster(cluster(8, "dgx-h100", "ib_ndr", FabricKind::rail));
    const GroupShape shape = group_shape(t, strided(8, 8, 1));
    CHECK(shape.ranks == 8);
    CHECK(shape.domains == 1);
    CHECK(shape.nodes == 1);
    CHECK(shape.ranks_per_domain == 8);
    CHECK(shape.stride == 1);
    CHECK(shape.nvlink == 450_GBps);
    CHECK(shape.nvswitch);
    CHECK(shape.in_switch_reduction);
    CHECK(shape.network.name == "ib_ndr");
    CHECK(shape.nic_rate_per_gpu() == 50_GBps);
}

TEST_CASE("a data-parallel group with one member per node crosses domains")
{
    const Topology t = make_cluster(cluster(8, "dgx-h100", "ib_ndr", FabricKind::rail));
    const GroupShape shape = group_shape(t, strided(3, 8, 8));
    CHECK(shape.ranks == 8);
    CHECK(shape.domains == 8);
    CHECK(shape.nodes == 8);
    CHECK(shape.ranks_per_domain == 1);
    CHECK(shape.gpus_per_node == 8);
    CHECK(shape.nodes_per_domain == 1);
}

TEST_CASE("a strided group has two members in each node, four GPUs apart")
{
    const Topology t = make_cluster(cluster(8, "dgx-h100", "ib_ndr", FabricKind::rail));
    const GroupShape shape = group_shape(t, strided(1, 16, 4));
    CHECK(shape.domains == 8);
    CHECK(shape.ranks_per_domain == 2);
    CHECK(shape.ranks_per_node == 2);
    CHECK(shape.stride == 4);
}

TEST_CASE("in an NVL72 rack a group of 64 touches 16 trays and one domain")
{
    const Topology t = make_cluster(cluster(144, "gb200-nvl72", "ib_ndr", FabricKind::rail));
    const GroupShape inside = group_shape(t, strided(72, 64, 1));
    CHECK(inside.domains == 1);
    CHECK(inside.nodes == 16);
    CHECK(inside.ranks_per_domain == 64);
    CHECK(inside.ranks_per_node == 4);
    CHECK(inside.nodes_per_domain == 18);
    CHECK(inside.nvlink == 900_GBps);

    const GroupShape across = group_shape(t, strided(36, 72, 1));
    CHECK(across.domains == 2);
    CHECK(across.ranks_per_domain == 36);
}

TEST_CASE("a rack split into domains of 36 GPUs is two domains of nine trays")
{
    ClusterDescription c = cluster(18, "gb200-nvl72", "ib_ndr", FabricKind::rail);
    c.node.nvlink.domain = 36;
    const GroupShape shape = group_shape(make_cluster(c), strided(0, 72, 1));
    CHECK(shape.domains == 2);
    CHECK(shape.nodes_per_domain == 9);
}

TEST_CASE("three GPUs make a group like any other")
{
    const Topology t = make_cluster(cluster(2, "dgx-a100", "ib_hdr", FabricKind::rail));
    const std::vector<DeviceId> members{gpu(1), gpu(5), gpu(8)};
    const GroupShape shape = group_shape(t, members);
    CHECK(shape.ranks == 3);
    CHECK(shape.domains == 2);
    CHECK(shape.ranks_per_domain == 2);
    CHECK(shape.crossing_ranks() == 1);
    CHECK(shape.stride == 4);
    CHECK(shape.nvlink == 300_GBps);
}

TEST_CASE("one GPU is a group of its own")
{
    const Topology t = make_cluster(cluster(2, "dgx-a100", "ib_hdr", FabricKind::rail));
    const std::vector<DeviceId> members{gpu(9)};
    const GroupShape shape = group_shape(t, members);
    CHECK(shape.ranks == 1);
    CHECK(shape.domains == 1);
    CHECK(shape.stride == 1);
}

TEST_CASE("NVLink bridges serve the pair and nobody else")
{
    const Topology t = make_cluster(cluster(2, "pcie-h100-nvl-4", "roce_100", FabricKind::rail));
    CHECK(group_shape(t, strided(2, 2, 1)).nvlink == 300_GBps);
    CHECK(group_shape(t, strided(1, 2, 1)).nvlink == 0_GBps);
    CHECK(group_shape(t, strided(0, 4, 1)).nvlink == 0_GBps);
    CHECK(group_shape(t, strided(0, 4, 1)).pcie == 63_GBps);
    CHECK(group_shape(t, strided(0, 4, 1)).domains == 1);
}

TEST_CASE("in a mesh a smaller group has only the links among its members")
{
    const Topology mesh = make_cluster(cluster(1, "mi300x-8", "roce_400", FabricKind::rail));
    CHECK(group_shape(mesh, strided(0, 2, 1)).nvlink == 64_GBps);
    CHECK(group_shape(mesh, strided(0, 8, 1)).nvlink == 448_GBps);

    const Topology cube = make_cluster(cluster(1, "dgx1-v100", "ib_edr", FabricKind::rail));
    CHECK(group_shape(cube, strided(0, 8, 1)).nvlink == 150_GBps);
    CHECK(group_shape(cube, strided(0, 4, 1)).nvlink == 100_GBps); // 1 + 1 + 2 of 6 links
    CHECK(group_shape(cube, strided(0, 2, 1)).nvlink == 25_GBps);
}

TEST_CASE("a node with fewer NICs than GPUs shares them out")
{
    const Topology t = make_cluster(cluster(2, "aws-p4d", "efa_v1", FabricKind::leaf_spine));
    CHECK(group_shape(t, strided(0, 16, 1)).nic_rate_per_gpu() == 50_Gbps);
}
