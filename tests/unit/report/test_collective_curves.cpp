#include "sim/cost/profile_library.h"
#include "sim/report/collective_curves.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("each collective of the job has the curve that its cost model gives")
{
    Outcome outcome = small_outcome();
    const Checked<ProfileFile> file = load_profile("h100-sxm-ndr400");
    REQUIRE(file);
    outcome.cost = std::make_shared<const CostModel>(file->profile);
    const std::vector<CollectiveCurve> curves = collective_curves(outcome);
    REQUIRE(curves.size() == 2);
    const CollectiveCurve& messages = curves[0];
    const CollectiveCurve& gradients = curves[1];
    CHECK(messages.table.collective == CollectiveKind::send_receive);
    CHECK(messages.group == GroupKind::pp);
    CHECK(gradients.table.collective == CollectiveKind::all_reduce);
    CHECK(gradients.group == GroupKind::dp);
    const auto devices = [&](DeviceId a, DeviceId b) {
        return group_shape(*outcome.topology, std::vector<DeviceId>{a, b});
    };
    // Replicas are the two GPUs of a node; stages are nodes.
    const GroupShape replicas = devices(DeviceId{0}, DeviceId{1});
    const GroupShape stages = devices(DeviceId{0}, DeviceId{2});
    for (const std::size_t i : {0U, 10U, 20U}) {
        const Knot& sum = gradients.table.samples.knots[i];
        CHECK(
            sum.time ==
            outcome.cost->collective(CollectiveKind::all_reduce, sum.size, replicas, Backend::nccl)
                .total);
        CHECK(sum.time.value() > 0);
        const Knot& message = messages.table.samples.knots[i];
        CHECK(message.time ==
              outcome.cost->send_receive(message.size, stages, Backend::nccl).total);
    }
    CHECK(gradients.table.samples.knots.front().size == Bytes(1 << 10));
    CHECK(gradients.table.samples.knots.back().size == Bytes(1 << 30));
    CHECK(messages.table.domains == 2);
    CHECK_FALSE(gradients.basis.empty());
}

TEST_CASE("a job without communication has no curves")
{
    CHECK(collective_curves(single_gpu_outcome()).empty());
}
