// A simulated step that was exported as a trace and is read again is the same: its ops, their
// times, its transfers, and where the time goes as far as a trace can tell; of an execution trace
// its ops, bytes and phases.

#include "sim/report/chakra/chakra_trace.h"
#include "sim/report/timeline/kineto.h"
#include "sim/report/timeline/kineto_names.h"
#include "sim/report/timeline/lane_time.h"
#include "sim/report/timeline/recorded.h"
#include "sim/study/session.h"
#include "sim/study/traced/layer_sides.h"
#include "sim/traces/kineto_reader.h"
#include "sim/traces/rebuilt_step.h"
#include "sim/traces/run_summary.h"
#include "sim/traces/trace_file.h"
#include "sim/traces/trace_words.h"
#include "tests/catch.h"
#include "tests/support/folder.h"
#include "tests/support/pick.h"

#include <cmath>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr int draws = 24;

Scenario random_scenario(Random& random)
{
    Scenario out;
    out.topology = {"h100-1x8", {}};
    out.model = {"llama-3.2-1b", {}};
    out.training.sequence_length = 1024;
    out.training.micro_batch = pick<std::int64_t>(random, {1, 2});
    out.training.global_batch = 32;
    Strategy& s = out.strategy;
    s.tp = pick<int>(random, {1, 1, 2, 8});
    s.pp = s.tp == 8 ? 1 : pick<int>(random, {1, 1, 2, 4});
    s.zero = s.pp == 1 && s.tp == 1 ? pick<int>(random, {0, 1, 3}) : 1;
    s.schedule = "1f1b";
    return out;
}

Outcome recorded(const Scenario& scenario)
{
    const Folder folder;
    const Checked<ScenarioFile> file =
        read_scenario_file(folder.file("drawn.json", to_text(to_json(scenario))));
    if (!file)
        FAIL(render(file.error(), ""));
    Session session;
    Checked<Outcome> plain = session.simulate(*file);
    if (!plain)
        FAIL(render(plain.error(), ""));
    SimulateRequest request;
    request.record = default_trace_lanes(*plain);
    Checked<Outcome> outcome = session.simulate(*file, request);
    REQUIRE(outcome);
    return std::move(*outcome);
}

TraceTime nanoseconds_of(SimTime time)
{
    return TraceTime((time.value() + 500) / 1000);
}

bool close(TraceTime a, TraceTime b)
{
    return std::abs((a - b).value()) <= 1000; // a microsecond
}

void check_ops(const Outcome& outcome, const RankActivity& rank, const Lane& lane, LaneId id)
{
    std::vector<const OpRecord*> records;
    for (const OpRecord& record : outcome.result->records)
        if (record.lane == id && record.stream != host_stream)
            records.push_back(&record);
    std::stable_sort(records.begin(), records.end(), [](const OpRecord* a, const OpRecord* b) {
        return std::pair(a->start, a->end) < std::pair(b->start, b->end);
    });
    std::vector<const TraceOp*> ops;
    for (const TraceOp& op : rank.ops)
        ops.push_back(&op);
    std::stable_sort(ops.begin(), ops.end(), [](const TraceOp* a, const TraceOp* b) {
        return std::pair(a->span.start, a->span.end) < std::pair(b->span.start, b->span.end);
    });
    REQUIRE(rank.rank == static_cast<int>(lane.rank.value));
    REQUIRE(ops.size() == records.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
        CHECK(close(ops[i]->span.start, nanoseconds_of(records[i]->start)));
        CHECK(close(ops[i]->span.end, nanoseconds_of(records[i]->end)));
        const bool transfers =
            records[i]->kind == OpKind::collective || records[i]->kind == OpKind::exchange;
        CHECK(transfers == (ops[i]->transfer != TraceOp::no_transfer));
    }
}

// Bytes of collectives by kind and group, counted on both sides.
void check_transfers(const Outcome& outcome, const JobTrace& job, const RankActivity& rank,
                     LaneId id)
{
    using Sums = std::map<std::pair<CollectiveKind, GroupKind>, std::pair<int, double>>;
    Sums simulated;
    for (const OpRecord& record : outcome.result->records)
        if (record.lane == id && record.kind == OpKind::collective) {
            const Label& label = outcome.plan->program.labels[record.label.value];
            auto& [count, bytes] = simulated[{label.collective, label.group}];
            ++count;
            bytes += static_cast<double>(record.bytes.value());
        }
    Sums read;
    for (const TraceTransfer& transfer : rank.transfers) {
        REQUIRE(transfer.kind.has_value());
        REQUIRE(job.role_of(transfer).has_value());
        if (transfer.kind == CollectiveKind::send_receive)
            continue;
        auto& [count, bytes] = read[{*transfer.kind, *job.role_of(transfer)}];
        ++count;
        bytes += static_cast<double>(transfer.bytes);
    }
    REQUIRE(read.size() == simulated.size());
    for (const auto& [key, sums] : simulated) {
        CHECK(read[key].first == sums.first);
        // Elements are whole, so a byte or three of each may be lost.
        CHECK(std::abs(read[key].second - sums.second) <= 4.0 * sums.first * 8);
    }
}

// A trace has no dependencies: of what does not compute it may name another cause where several
// transfers run, so kinds are held one by one where all communication is of one kind.
void check_time(const Outcome& outcome, const JobTrace& job, std::size_t rank, LaneId id)
{
    const RecordGraph graph(outcome.plan->program, *outcome.binding, outcome.result->records);
    std::array<double, time_kind_count> simulated{};
    TraceSpan window;
    const std::vector<TimePiece> pieces = time_pieces(graph, id);
    window = {nanoseconds_of(pieces.front().from), nanoseconds_of(pieces.back().to)};
    for (const TimePiece& piece : pieces)
        simulated[static_cast<std::size_t>(piece.kind)] +=
            to_seconds(piece.to - piece.from).value();
    const auto times = transfer_times(job);
    const StepAccount account = step_account(job, times[rank], rank, window);
    const double tolerance = 1e-9 * static_cast<double>(job.ranks[rank].ops.size()) + 1e-6;
    const Strategy& strategy = outcome.job.strategy;
    const bool one_kind =
        strategy.pp == 1 && (strategy.tp == 1 || strategy.tp == outcome.job.world());
    double idle_simulated = 0;
    double idle_read = to_seconds(account.gaps + account.untold).value();
    for (std::size_t k = 0; k < time_kind_count; ++k) {
        const auto kind = static_cast<TimeKind>(k);
        const double read = to_seconds(account.of(kind)).value();
        if (k < static_cast<std::size_t>(TimeKind::slowdown)) {
            INFO(to_name(kind));
            CHECK(std::abs(read - simulated[k]) <= tolerance);
        } else {
            idle_simulated += simulated[k];
            idle_read += read;
            if (one_kind) {
                INFO(to_name(kind));
                CHECK(std::abs(read - simulated[k]) <= tolerance);
            }
        }
    }
    CHECK(std::abs(idle_read - idle_simulated) <= tolerance);
}

// With the times of all ranks: ops of one kind vary little in a simulated step.
void check_rebuilt(const JobTrace& job)
{
    RebuildQuestion question;
    for (std::size_t r = 0; r < job.ranks.size(); ++r)
        question.known.push_back(r);
    const Checked<RebuiltStep> step = rebuild_step(job, question);
    if (!step)
        FAIL(render(step.error(), ""));
    CHECK(step->unknown == 0);
    CHECK_THAT(step->rebuilt() / step->recorded(), WithinAbs(1, 0.03));
}

void check_alike(const TimePair& pair)
{
    CHECK(std::abs((pair.recorded - pair.simulated).value()) <=
          0.01 * pair.simulated.value() + 1e-9);
}

// A trace names no layers; they are told by what repeats, and are the scenario's.
void check_layers(const Outcome& outcome, const JobTrace& job)
{
    const std::vector<StageSides> stages = layer_sides(job, outcome);
    REQUIRE(static_cast<int>(stages.size()) == outcome.job.strategy.pp);
    int layers = 0;
    for (const StageSides& stage : stages) {
        check_alike(stage.update);
        for (const PassSides* sides : {&stage.forward, &stage.backward}) {
            INFO("stage " << stage.stage << (sides == &stage.forward ? " forward" : " backward"));
            INFO(sides->untold);
            REQUIRE(sides->untold.empty());
            for (const TimePair* pair : {&sides->all, &sides->embedding, &sides->head})
                check_alike(*pair);
            REQUIRE(!sides->layers.empty());
            for (const LayerPair& layer : sides->layers) {
                check_alike(layer.compute);
                check_alike(layer.elapsed);
                layers += sides == &stage.forward ? layer.last - layer.first + 1 : 0;
            }
        }
    }
    CHECK(layers == 16); // of Llama 3.2 1B
}

// What one rank does in a step: ops by phase, and what it sends by kind and group.
struct StepWork {
    std::map<Phase, int> computed;
    std::map<std::pair<CollectiveKind, GroupKind>, std::pair<int, double>> sent;
    std::pair<int, double> messages;
    double operations = 0;
};

StepWork work_of_lane(const Outcome& outcome, const Lane& lane)
{
    StepWork out;
    const Program& program = outcome.plan->program;
    for (const BlockUse& use : program.roles[lane.role.value].order) {
        const Block& block = program.blocks[use.block.value];
        for (const Op& op : block.ops) {
            const Label& label = program.labels[op.label.value];
            if (op.kind == OpKind::compute || op.kind == OpKind::copy)
                ++out.computed[label.phase];
            if (op.kind == OpKind::compute)
                out.operations += std::floor(
                    hardware_flops(outcome.plan->compute[op.cost.value].kernels).value());
            if (op.kind == OpKind::collective) {
                auto& [count, bytes] = out.sent[{label.collective, label.group}];
                ++count;
                bytes += static_cast<double>(outcome.plan->transfers[op.cost.value].bytes.value());
            }
            for (std::size_t p = 0; op.kind == OpKind::exchange && p < op.part_count; ++p) {
                ++out.messages.first;
                const CostId cost = block.parts[op.part_first + p].cost;
                out.messages.second +=
                    static_cast<double>(outcome.plan->transfers[cost.value].bytes.value());
            }
        }
    }
    return out;
}

StepWork work_read(const JobTrace& job, const RankActivity& rank)
{
    StepWork out;
    for (const TraceOp& op : rank.ops) {
        out.operations += op.flops;
        if (op.transfer == TraceOp::no_transfer) {
            ++out.computed[op.phase];
            continue;
        }
        const TraceTransfer& transfer = rank.transfers[op.transfer];
        REQUIRE(transfer.kind.has_value());
        const bool message = transfer.kind == CollectiveKind::send_receive;
        REQUIRE((message || job.role_of(transfer).has_value()));
        auto& [count, bytes] =
            message ? out.messages
                    : out.sent[{*transfer.kind, *group_purpose_called(transfer.purpose)}];
        ++count;
        bytes += static_cast<double>(transfer.bytes);
    }
    return out;
}

} // namespace

TEST_CASE("a simulated step is read back from its trace as it was")
{
    const Folder folder;
    Random random(20261126);
    for (int draw = 0; draw < draws; ++draw) {
        const Scenario scenario = random_scenario(random);
        INFO(to_text(to_json(scenario)));
        const Outcome outcome = recorded(scenario);
        const std::string file = (folder.path() / "step.json.gz").string();
        write_kineto_trace(file, outcome);
        Checked<std::vector<RankTrace>> ranks = read_kineto(file);
        REQUIRE(ranks);
        std::vector<DigestedRank> digested;
        for (RankTrace& rank : *ranks)
            digested.push_back(digest(std::move(rank)));
        const Checked<JobTrace> job = join_ranks(std::move(digested));
        if (!job)
            FAIL(render(job.error(), ""));
        std::size_t at = 0;
        for (std::size_t lane = 0; lane < outcome.binding->lanes.size(); ++lane) {
            const auto id = make_id<LaneId>(lane);
            const int rank = static_cast<int>(outcome.binding->lanes[lane].rank.value);
            if (at == job->ranks.size() || job->ranks[at].rank != rank)
                continue;
            check_ops(outcome, job->ranks[at], outcome.binding->lanes[lane], id);
            check_transfers(outcome, *job, job->ranks[at], id);
            check_time(outcome, *job, at, id);
            ++at;
        }
        CHECK(at == job->ranks.size());
        CHECK(at > 0);
        check_rebuilt(*job);
        check_layers(outcome, *job);
    }
}

TEST_CASE("a simulated step is read back from its execution traces with all its ops and bytes")
{
    Random random(20261127);
    for (int draw = 0; draw < draws / 2; ++draw) {
        const Folder folder;
        const Scenario scenario = random_scenario(random);
        INFO(to_text(to_json(scenario)));
        const Checked<ScenarioFile> file =
            read_scenario_file(folder.file("drawn.json", to_text(to_json(scenario))),
                               std::vector<Override>{parse_override("run.fold=false").value()});
        REQUIRE(file);
        Session session;
        const Checked<Outcome> outcome = session.simulate(*file);
        REQUIRE(outcome);
        std::vector<DigestedRank> ranks;
        for (const std::string& text : chakra_traces(*outcome)) {
            Checked<TraceFile> read =
                read_trace_file(folder.file("trace." + std::to_string(ranks.size()) + ".et", text));
            if (!read)
                FAIL(render(read.error(), ""));
            ranks.push_back(std::move(read->ranks.front()));
        }
        const Checked<TraceFile> groups =
            read_trace_file(folder.file("comm_group.json", ChakraGroups(*outcome).json()));
        REQUIRE(groups);
        const Checked<JobTrace> job = join_ranks(std::move(ranks), groups->groups);
        if (!job)
            FAIL(render(job.error(), ""));
        REQUIRE(job->ranks.size() == outcome->binding->lanes.size());
        for (const Lane& lane : outcome->binding->lanes) {
            const StepWork simulated = work_of_lane(*outcome, lane);
            const StepWork read = work_read(*job, job->ranks[lane.rank.value]);
            CHECK(read.computed == simulated.computed);
            CHECK(read.messages == simulated.messages);
            CHECK_THAT(read.operations, WithinRel(simulated.operations, 1e-12));
            REQUIRE(read.sent.size() == simulated.sent.size());
            for (const auto& [key, sums] : simulated.sent) {
                CHECK(read.sent.at(key).first == sums.first);
                // What goes into a rank is whole, so a byte of each member may be lost.
                CHECK(std::abs(read.sent.at(key).second - sums.second) <= 8.0 * sums.first);
            }
        }
    }
}
