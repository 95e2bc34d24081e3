#include "sim/base/build_info.h"
#include "sim/program/builder.h"
#include "sim/report/timeline/memory_curve.h"
#include "sim/study/session.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

#include <algorithm>
#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

const Tensor kept{"kept", MemoryKind::activations, 1000, TensorScope::micro_batch};
const Tensor passing{"passing", MemoryKind::workspace, 300, TensorScope::use};
const Tensor message{"message", MemoryKind::pipeline, 50, TensorScope::micro_batch};

Outcome with_tensors()
{
    // Forward keeps 1000 bytes and needs 300 meanwhile, backward gives the 1000 back at its end;
    // a receive of stage 1 takes 50 bytes, which backward gives back.
    Outcome outcome = recorded_outcome();
    Plan plan = *outcome.plan;
    Program& program = plan.program;
    const auto op_of = [&](const char* block) -> Op& {
        for (Block& one : program.blocks)
            if (one.name == block)
                return one.ops.front();
        throw std::logic_error("no such block");
    };
    op_of("forward").memory =
        memory_effect_id(program, {allocates(kept), allocates(passing), frees(passing)});
    op_of("backward").memory = memory_effect_id(program, {frees(kept)});
    hold(program, program.roles[0], {"weights", MemoryKind::parameters, 5000, TensorScope::step});
    program.roles[0].static_memory = 5000;
    outcome.plan = std::make_shared<const Plan>(std::move(plan));
    outcome.memory.stages[0].kinds = {{"communicators", Bytes(7)}, {"context", Bytes(20)}};
    outcome.memory.stages[0].tensors = {{"matrix library", MemoryKind::workspace, Bytes(100), 2}};
    return outcome;
}

constexpr std::int64_t always = 5000 + 7 + 20 + 2 * 100;

std::int64_t held_at(const MemoryCurve& curve, SimTime time)
{
    std::int64_t bytes = 0;
    for (const HeldBytes& point : curve.points)
        if (point.time <= time)
            bytes = point.bytes;
    return bytes;
}

std::int64_t of_kind(const HeldBytes& held, MemoryKind kind)
{
    return held.kinds[static_cast<std::size_t>(kind)];
}

} // namespace

TEST_CASE("memory over time follows the compute stream, op by op")
{
    // Stage 0: F0 0-10, F1 10-20, B0 42-62, B1 73-93, the step ends at 100 (ms, second step).
    const MemoryCurve curve = memory_curve(with_tensors(), LaneId{0});
    REQUIRE_FALSE(curve.points.empty());
    CHECK(curve.points.front().time == ms(100));
    CHECK(curve.points.back().time == ms(200));
    CHECK(curve.points.front().bytes == always);
    CHECK(held_at(curve, ms(109)) == always + 1000 + 300);
    CHECK(held_at(curve, ms(110)) == always + 1000 + 1000); // F1 has begun, its 300 half way
    CHECK(held_at(curve, ms(141)) == always + 2000);
    CHECK(held_at(curve, ms(162)) == always + 1000);
    CHECK(held_at(curve, ms(193)) == always);
    CHECK(curve.points.back().bytes == always);
    CHECK(std::ranges::is_sorted(curve.points, {}, &HeldBytes::time));
}

TEST_CASE("the peak is where most is held first, and says of what kinds")
{
    const MemoryCurve curve = memory_curve(with_tensors(), LaneId{0});
    const HeldBytes& peak = curve.points[curve.peak];
    CHECK(peak.bytes == always + 2000 + 300);
    CHECK(peak.time == ms(115)); // half way through F1, whose second request it is
    CHECK(of_kind(peak, MemoryKind::activations) == 2000);
    CHECK(of_kind(peak, MemoryKind::workspace) == 300 + 200);
    CHECK(of_kind(peak, MemoryKind::parameters) == 5000);
    CHECK(of_kind(peak, MemoryKind::context) == 20);
    CHECK(of_kind(peak, MemoryKind::communicators) == 7);
    std::int64_t sum = 0;
    for (const std::int64_t bytes : peak.kinds)
        sum += bytes;
    CHECK(sum == peak.bytes);
}

TEST_CASE("what another stream's op asks for comes with the compute op issued before it")
{
    Outcome outcome = with_tensors();
    Plan plan = *outcome.plan;
    Program& program = plan.program;
    for (Block& block : program.blocks) {
        if (block.name == "receive gradient")
            block.ops.front().memory = memory_effect_id(program, {allocates(message)});
        if (block.name == "backward")
            block.ops.front().memory = memory_effect_id(program, {frees(kept), frees(message)});
    }
    outcome.plan = std::make_shared<const Plan>(std::move(plan));
    // The first receive is issued behind F1 (ends at 20), the second behind B0 (62).
    const MemoryCurve curve = memory_curve(outcome, LaneId{0});
    CHECK(held_at(curve, ms(121)) == always + 2000 + 50);
    CHECK(held_at(curve, ms(162)) == always + 1000 + 50);
    CHECK(curve.points.back().bytes == always);
}

TEST_CASE("without the records of the whole step there is no curve")
{
    CHECK(memory_curve(small_outcome(), LaneId{0}).points.empty());
    Outcome outcome = with_tensors();
    StepResult result = *outcome.result;
    result.records.erase(result.records.begin()); // the first op of lane 0
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    CHECK(memory_curve(outcome, LaneId{0}).points.empty());
    CHECK_FALSE(memory_curve(outcome, LaneId{2}).points.empty());
}

TEST_CASE("the curve's peak is the estimate's, in shipped scenarios and every stage")
{
    int checked = 0;
    for (const char* name :
         {"llama3-8b-h100-8", "llama3-70b-h100-64", "llama3-405b-h100-16k", "resnet50-ddp-8",
          "gpt2-xl-fsdp-4", "mlp-2-cpu-gloo", "llama2-7b-tp2-pp2-dp2", "llama2-7b-zero3-8",
          "llama2-7b-offload-a100-4", "mixtral-8x7b-ep8-h100-64", "bert-large-dataparallel-8"})
    {
        INFO(name);
        const std::string path = (data_dir() / "scenarios" / name).string() + ".json";
        // As shares of links change no memory: one lane for each kind of rank.
        const std::vector<Override> folded{{"run.fidelity", "alpha-beta"}};
        const Checked<ScenarioFile> file = read_scenario_file(path, folded);
        REQUIRE(file);
        SimulateRequest request;
        request.memory = AllocatorView::nobody;
        request.record = RecordRequest{[](LaneId) { return true; }, 1};
        Session session;
        const Checked<Outcome> outcome = session.simulate(*file, request);
        REQUIRE(outcome);
        std::set<RoleId> seen;
        for (std::size_t lane = 0; lane < outcome->binding->lanes.size(); ++lane) {
            const RoleId role = outcome->binding->lanes[lane].role;
            if (!seen.insert(role).second)
                continue;
            const MemoryCurve curve = memory_curve(*outcome, make_id<LaneId>(lane));
            REQUIRE_FALSE(curve.points.empty());
            if (role.value < outcome->memory.stages.size()) // not of replicas of one process
                CHECK(
                    curve.points[curve.peak].bytes ==
                    static_cast<std::int64_t>(outcome->memory.stages[role.value].in_use().value()));
            CHECK(curve.points.front().bytes == curve.points.back().bytes);
            CHECK(std::ranges::is_sorted(curve.points, {}, &HeldBytes::time));
            ++checked;
        }
        CHECK(seen.size() == outcome->plan->program.roles.size());
    }
    CHECK(checked > 25);
}
