// What a step computes, against what its devices could.

#include "sim/cost/device_catalogue.h"
#include "sim/cost/kernel_time.h"
#include "sim/report/flops.h"
#include "tests/catch.h"
#include "tests/support/pick.h"
#include "tests/support/random_jobs.h"
#include "tests/unit/strategy/plans.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

JobRequest request_of_any_format(Random& random, const std::vector<SoftwareClass>& software)
{
    JobRequest request = random_request(random, software);
    request.training.precision =
        pick<Precision>(random, {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16,
                                 Precision::fp8});
    request.training.sequence_length *= pick<int>(random, {1, 1, 4, 16});
    return request;
}

} // namespace

TEST_CASE("no random job computes more than its devices can in the number format of its products")
{
    const Topology cluster = cluster_for_random_jobs();
    const std::vector<KnownDevice>& devices = shipped_devices().all();
    Random random(20261128);
    int half = 0;
    each_job({.seed = 17, .jobs = 300}, request_of_any_format,
             [&](const JobRequest&, const Job& job) {
                 Profile profile = h100_costs().profile();
                 profile.hardware.device =
                     devices[static_cast<std::size_t>(
                                 random.integer(0, static_cast<std::int64_t>(devices.size()) - 1))]
                         .device;
                 profile.hardware.kernels = {};
                 profile.software = job.software;
                 const Device& device = profile.hardware.device;
                 const Plan plan = make_plan(job);
                 BindOptions options;
                 options.folding = Folding::replicas;
                 const Binding binding = bind(plan, job, cluster, CostModel(profile), options);
                 const Seconds time = to_seconds(run(plan.program, binding, 2).step_time);
                 const Precision format =
                     executed_precision(main_precision(plan, job.training.precision), device);
                 const double hfu = flops_utilization(hardware_flops_per_step(job, plan, binding),
                                                      time, device.peak.at(format), job.world());
                 INFO(device.name << " in " << to_name(format));
                 CHECK(hfu <= 1);
                 half += hfu > 0.25;
             });
    CHECK(half > 30);
}
