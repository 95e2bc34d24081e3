#include "tests/unit/cost/support.h"

#include <array>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

// What the times below were computed from, across domains.
Profile with_vector_constants(Profile profile)
{
    NetworkClass& network = profile.hardware.network;
    const double latency = network.name == "ib-ndr"   ? 16.8e-6
                           : network.name == "ib-hdr" ? 17.1e-6
                                                      : 16.6e-6; // roce-100
    network.latency = Seconds(latency);
    network.efficiency = 0.95;
    CollectiveForm& form = profile.hardware.collectives;
    form.cross_ll = 0.321;
    form.cross_ll128 = 0.562;
    form.tree_latency_ll128 = 2.58;
    form.tree_latency_simple = 4.89;
    form.tree_beyond_two = 0.5;
    form.ring_entry_crossings = 1.04;
    return profile;
}

} // namespace

TEST_CASE("the closed form gives the times of an independent implementation")
{
    // Computed outside this program from the same constants, to six digits: microseconds at
    // 1 KiB, 1 MiB, 16 MiB and 256 MiB.
    struct Vector {
        CollectiveKind kind;
        int per_domain;
        int domains;
        const char* device;
        const char* network;
        int nics;
        double nic_GBps;
        std::array<double, 4> us;
    };
    const std::array<Vector, 14> vectors{{
        {CollectiveKind::all_reduce,
         8,
         1,
         "A100",
         "ndr400",
         0,
         0,
         {21.351, 42.7381, 217.795, 2225.33}},
        {CollectiveKind::all_reduce,
         8,
         1,
         "H100",
         "ndr400",
         0,
         0,
         {16.2146, 27.7556, 117.031, 1081.09}},
        {CollectiveKind::all_gather,
         8,
         1,
         "H100",
         "ndr400",
         0,
         0,
         {10.3653, 17.0912, 69.8183, 734.443}},
        {CollectiveKind::reduce_scatter,
         4,
         1,
         "B200",
         "ndr400",
         0,
         0,
         {11.0915, 15.4848, 52.8476, 365.112}},
        {CollectiveKind::all_to_all,
         8,
         1,
         "H100",
         "ndr400",
         0,
         0,
         {8.23926, 15.4045, 74.3771, 767.011}},
        {CollectiveKind::all_reduce,
         72,
         1,
         "B200",
         "ndr400",
         0,
         0,
         {45.4507, 53.0553, 148.315, 911.761}},
        {CollectiveKind::all_reduce,
         8,
         2,
         "H100",
         "ndr400",
         8,
         50,
         {33.0222, 71.5997, 203.292, 1163.24}},
        {CollectiveKind::all_reduce,
         8,
         16,
         "H100",
         "ndr400",
         8,
         50,
         {83.4289, 210.596, 505.195, 2167.45}},
        {CollectiveKind::all_gather,
         8,
         8,
         "H100",
         "ndr400",
         8,
         50,
         {185.866, 192.852, 247.528, 945.35}},
        {CollectiveKind::all_reduce,
         1,
         8,
         "H100",
         "ndr400",
         1,
         50,
         {55.1786, 291.432, 870.908, 10142.5}},
        {CollectiveKind::all_to_all,
         8,
         4,
         "H100",
         "ndr400",
         8,
         50,
         {82.6196, 117.562, 396.939, 4812}},
        {CollectiveKind::send_receive,
         1,
         2,
         "A100",
         "hdr200",
         1,
         25,
         {19.4132, 114.505, 784.113, 11380.2}},
        {CollectiveKind::all_reduce,
         8,
         2,
         "A100",
         "roce100",
         8,
         12.5,
         {37.962, 86.5637, 341.736, 2990.77}},
        {CollectiveKind::broadcast,
         8,
         2,
         "A100",
         "hdr200",
         8,
         25,
         {23.3315, 49.7257, 185.791, 1510.31}},
    }};
    constexpr std::array sizes{1_KiB, 1_MiB, 16_MiB, 256_MiB};
    for (const Vector& v : vectors) {
        const CostModel model(with_vector_constants(bare_form(assembled(v.device, v.network))));
        const GroupShape shape = whole_domains(model.profile(), v.per_domain, v.domains, v.nics,
                                               Bandwidth(v.nic_GBps * 1e9));
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            INFO(to_name(v.kind) << " " << v.per_domain << " x " << v.domains << " " << v.device
                                 << ", " << sizes[i].value() << " B");
            CHECK_THAT(time_of(model, v.kind, sizes[i], shape).value() * 1e6,
                       WithinRel(v.us[i], 2e-5));
        }
    }
}
