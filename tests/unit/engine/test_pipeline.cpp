#include "tests/support/grid_job.h"
#include "tests/support/scene.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

struct Pipeline {
    std::size_t stages;
    int micro_batches;
    std::int64_t forward;
    std::int64_t backward;
};

// 1F1B with free messages: stage s warms up with p - 1 - s forward passes.
Scene one_forward_one_backward(const Pipeline& pipe)
{
    Scene scene(pipe.stages);
    const TransferCost free = transfer(0, 0);
    for (std::size_t s = 0; s < pipe.stages; ++s) {
        const auto forward = [&] {
            if (s > 0)
                scene.on(s).exchange(tp_stream).receive(s - 1, free, 0).record("in");
            scene.on(s).compute(pipe.forward).wait("in").record("out");
            if (s + 1 < pipe.stages)
                scene.on(s).exchange(dp_stream).send(s + 1, free, 0).wait("out");
        };
        const auto backward = [&] {
            if (s + 1 < pipe.stages)
                scene.on(s).exchange(pp_stream).receive(s + 1, free, 1).record("back in");
            scene.on(s).compute(pipe.backward).phase(Phase::backward).wait("back in").record("out");
            if (s > 0)
                scene.on(s).exchange(copy_stream).send(s - 1, free, 1).wait("out");
        };
        const int warm_up = std::min(pipe.micro_batches, static_cast<int>(pipe.stages - 1 - s));
        for (int i = 0; i < warm_up; ++i)
            forward();
        for (int i = warm_up; i < pipe.micro_batches; ++i) {
            forward();
            backward();
        }
        for (int i = 0; i < warm_up; ++i)
            backward();
    }
    return scene;
}

} // namespace

TEST_CASE("the bubble of 1F1B is (p - 1) / m of the ideal time")
{
    // Narayanan 2021: (p - 1)(f + b) beside m (f + b).
    for (const Pipeline& pipe :
         {Pipeline{1, 4, 100, 200}, Pipeline{2, 2, 100, 200}, Pipeline{4, 4, 100, 200},
          Pipeline{4, 16, 100, 200}, Pipeline{8, 9, 70, 130}, Pipeline{4, 2, 100, 200}})
    {
        Scene scene = one_forward_one_backward(pipe);
        const StepResult result = scene.run();
        const std::int64_t pass = pipe.forward + pipe.backward;
        const auto others = static_cast<std::int64_t>(pipe.stages) - 1;
        CHECK(result.step_time == SimTime((pipe.micro_batches + others) * pass));
        for (std::size_t s = 0; s < pipe.stages; ++s) {
            CHECK(time_in(result, s, TimeKind::bubble) == others * pass);
            CHECK(time_in(result, s, TimeKind::forward) == pipe.micro_batches * pipe.forward);
            CHECK(time_in(result, s, TimeKind::backward) == pipe.micro_batches * pipe.backward);
        }
    }
}

TEST_CASE("message time on the critical path is exposed, the rest stays bubble")
{
    Scene scene(2);
    scene.on(0).compute(100).record("made");
    scene.on(0).exchange().send(1, transfer(10, 20)).wait("made");
    scene.on(1).exchange().receive(0, transfer(10, 20)).record("here");
    scene.on(1).compute(50).wait("here");
    const StepResult result = scene.run();
    CHECK(time_in(result, 1, TimeKind::bubble) == 100);
    CHECK(time_in(result, 1, TimeKind::exposed_pp) == 30);
    CHECK(time_in(result, 1, TimeKind::forward) == 50);
}

TEST_CASE("more steps do not change a steady step")
{
    const GridJob job = grid_job({.tp = 2, .pp = 2, .dp = 2, .layers = 2, .uneven = true});
    const auto run = [&](int steps) {
        RunControl control;
        control.steps = steps;
        return *run_reference(job.program, job.binding, control);
    };
    const StepResult three = run(3);
    const StepResult six = run(6);
    CHECK(three.step_time == six.step_time);
    CHECK(three.lanes == six.lanes);
    CHECK(three.transfers == six.transfers);
    CHECK(six.step_ends[5] - six.step_ends[4] == six.step_time);
    CHECK(six.ops == 2 * three.ops);
}
