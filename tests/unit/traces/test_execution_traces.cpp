// PyTorch's execution traces: calls within calls, which pass tensors on.

#include "sim/traces/run_summary.h"
#include "tests/unit/traces/written_graph.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

// A linear layer, forward, backward and the update; the thread is node 2.
WrittenGraph small_step(int rank = 0)
{
    WrittenGraph out;
    out.around(3, 2, "ProfilerStep#4");
    out.op(6, 5, "aten::t", fmt::format("[{}], [[8, 16]]", tensor(2, 128)),
           fmt::format("[{}], [[16, 8]]", tensor(2, 128)), "Tensor(a) self");
    out.op(7, 5, "aten::addmm",
           fmt::format("[{}, {}, {}, 1], [[8], [4, 16], [16, 8], []]", tensor(1, 8), tensor(3, 64),
                       tensor(2, 128)),
           fmt::format("[{}], [[4, 8]]", tensor(4, 32)));
    out.op(5, 3, "aten::linear",
           fmt::format("[{}, {}], [[4, 16], [8, 16]]", tensor(3, 64), tensor(2, 128)),
           fmt::format("[{}], [[4, 8]]", tensor(4, 32)));
    out.op(8, 3, "aten::relu", fmt::format("[{}], [[4, 8]]", tensor(4, 32)),
           fmt::format("[{}], [[4, 8]]", tensor(5, 32)));
    out.op(12, 11, "aten::mm",
           fmt::format("[{}, {}], [[16, 4], [4, 8]]", tensor(3, 64), tensor(5, 32)),
           fmt::format("[{}], [[16, 8]]", tensor(90, 128)));
    out.around(11, 10, "AddmmBackward0");
    out.around(10, 9, "autograd::engine::evaluate_function: AddmmBackward0");
    out.all_reduce(14, 13, 128, rank);
    out.around(13, 10, "nccl:all_reduce");
    out.op(17, 16, "aten::add_", fmt::format("[{}, 1], [[16, 8], []]", tensor(90, 128)),
           fmt::format("[{}], [[16, 8]]", tensor(90, 128)), "Tensor(a!) self");
    out.around(16, 3, "Optimizer.step#SGD.step");
    out.around(2, 1, "[pytorch|profiler|execution_trace|thread]");
    return out;
}

std::string named(const RankActivity& rank, std::size_t op)
{
    return rank.text(rank.ops.at(op).name);
}

} // namespace

TEST_CASE("the innermost op that does work counts, in its phase and with its operations")
{
    const RankActivity rank = activity_read(small_step().text());
    REQUIRE(rank.ops.size() == 5);
    CHECK(named(rank, 0) == "aten::addmm"); // linear is what calls it, t a view
    CHECK(rank.ops[0].work == DeviceWork::gemm);
    CHECK(rank.ops[0].phase == Phase::forward);
    CHECK(rank.ops[0].flops == 2.0 * 4 * 16 * 8);
    CHECK(rank.text(rank.ops[0].shapes) == "[[8], [4, 16], [16, 8], []]");
    CHECK(named(rank, 1) == "aten::relu");
    CHECK(rank.ops[1].work == DeviceWork::elementwise);
    CHECK(named(rank, 2) == "aten::mm");
    CHECK(rank.ops[2].phase == Phase::backward);
    CHECK(rank.ops[3].work == DeviceWork::communication);
    CHECK(rank.ops[4].work == DeviceWork::optimizer);
    CHECK(rank.ops[4].phase == Phase::optimizer);
    CHECK(rank.times == TimesStated::none);
    CHECK(rank.step_source == StepSource::annotations);
    REQUIRE(rank.steps.size() == 1);
    CHECK(rank.steps[0].number == 4);
}

TEST_CASE("an op waits for the ops that wrote what it reads")
{
    const RankActivity rank = activity_read(small_step().text());
    REQUIRE(rank.graph);
    // addmm, relu, mm, all-reduce and update of what mm wrote.
    CHECK(rank.graph->depth == 5);
    CHECK(rank.graph->waits == 4);
    CHECK(rank.graph->nodes == 13);
    CHECK_FALSE(rank.graph->on_host);
}

TEST_CASE("a collective has its kind, whole buffer, group and data type")
{
    const RankActivity rank = activity_read(small_step(1).text());
    REQUIRE(rank.transfers.size() == 1);
    const TraceTransfer& transfer = rank.transfers[0];
    CHECK(transfer.kind == CollectiveKind::all_reduce);
    CHECK(transfer.bytes == 512);
    CHECK(transfer.ranks == 2);
    CHECK(transfer.group == "0");
    CHECK(transfer.dtype == "Float");
    CHECK(rank.rank == 1); // an all-reduce among all says who calls it
}

TEST_CASE("what the host computes on its own tensors is not the device's")
{
    WrittenGraph graph = small_step();
    graph.op(20, 3, "aten::mul", fmt::format("[{}], [[4]]", tensor(70, 4, "cpu")),
             fmt::format("[{}], [[4]]", tensor(71, 4, "cpu")));
    CHECK(activity_read(graph.text()).ops.size() == 5);
    WrittenGraph alone;
    alone.op(2, 1, "aten::mul", fmt::format("[{}], [[4]]", tensor(70, 4, "cpu")),
             fmt::format("[{}], [[4]]", tensor(71, 4, "cpu")));
    const RankActivity host = activity_read(alone.text());
    CHECK(host.ops.size() == 1);
    CHECK(host.graph->on_host);
}

TEST_CASE("the form of before 1.0.2 reads as the later one")
{
    const std::string older =
        R"json({"schema": "1.0.1", "pid": 7, "nodes": [
{"name": "aten::mm", "id": 5, "rf_id": 3, "parent": 2, "op_schema": "aten::mm(Tensor self, Tensor mat2) -> Tensor",
 "inputs": [[11, 1, 0, 64, 4, "cuda:0"], [12, 2, 0, 128, 4, "cuda:0"]], "input_shapes": [[4, 16], [16, 8]], "input_types": ["Tensor(float)", "Tensor(float)"],
 "outputs": [[13, 3, 0, 32, 4, "cuda:0"]], "output_shapes": [[4, 8]], "output_types": ["Tensor(float)"]},
{"name": "record_param_comms", "id": 6, "parent": 2, "op_schema": "",
 "inputs": [[[13, 3, 0, 32, 4, "cuda:0"]], 147, 94398426290464, 3, "allreduce", [], []], "input_shapes": [[[32]], [], [], [], [], [], []], "input_types": ["GenericList[Tensor(float)]", "Int", "Int", "Int", "String", "GenericList[]", "GenericList[]"],
 "outputs": [], "output_shapes": [], "output_types": []},
{"name": "record_param_comms", "id": 7, "parent": 2, "op_schema": "",
 "inputs": [[13, 3, 0, 32, 4, "cuda:0"], 148, 94398426290464, 3, "all_to_allv", [8, 8, 8, 8], [8, 8, 8, 8]], "input_shapes": [[32]], "input_types": ["Tensor(float)"],
 "outputs": [], "output_shapes": [], "output_types": []},
{"name": "record_param_comms", "id": 8, "parent": 2, "op_schema": "",
 "inputs": [148, 0, 3, "wait", [], []], "input_shapes": [], "input_types": [], "outputs": [], "output_shapes": [], "output_types": []}]
})json";
    const RankActivity rank = activity_read(older);
    REQUIRE(rank.ops.size() == 3); // waiting moves nothing
    CHECK(rank.ops[0].flops == 2.0 * 4 * 16 * 8);
    REQUIRE(rank.transfers.size() == 2);
    CHECK(rank.transfers[0].bytes == 128);
    CHECK(rank.transfers[0].dtype == "float");
    CHECK(rank.transfers[0].ranks == 4); // the splits of the other say how many
    CHECK(rank.transfers[1].kind == CollectiveKind::all_to_all);
    CHECK(rank.rank == 3);
    CHECK(rank.graph->depth == 3);
}

TEST_CASE("process groups that the trace lists have their sizes and members")
{
    WrittenGraph graph = small_step();
    std::string text = graph.text();
    const std::string group =
        R"json({"id": 4, "name": "## process_group:init ##", "ctrl_deps": 3, "inputs": {"values": ["[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"cuda:nccl\", \"ranks\": [0, 1], \"group_size\": 2, \"group_count\": 1}]"], "shapes": [[]], "types": ["String"]}, "outputs": {"values": [], "shapes": [], "types": []}, "attrs": []},)json";
    text.insert(text.find("[\n") + 2, group);
    Checked<TraceFile> read = read_text(text);
    REQUIRE(read);
    const RankTrace& file = read->ranks.front().file;
    CHECK(file.world == 2);
    REQUIRE(file.groups.size() == 1);
    CHECK(file.groups[0] == TraceGroup{"0", "default_pg", 2, {0, 1}});
}

TEST_CASE("ranks of one run make a job, and others are refused by name")
{
    std::vector<DigestedRank> ranks;
    for (const int rank : {0, 1})
        ranks.push_back(std::move(read_text(small_step(rank).text())->ranks.front()));
    const Checked<JobTrace> job = join_ranks(std::move(ranks));
    REQUIRE(job);
    const RunSummary run = run_summary(*job);
    CHECK(run.times == TimesStated::none);
    REQUIRE(run.transfers.size() == 1);
    CHECK(run.transfers[0].count == 1);
    CHECK(run.transfers[0].role == GroupKind::dp);
    CHECK(run.ranks[0].phases[static_cast<std::size_t>(Phase::forward)].ops == 2);
    CHECK(run.ranks[0].flops[static_cast<std::size_t>(DeviceWork::gemm)] == 2 * 1024);

    std::vector<DigestedRank> twice;
    for (const int rank : {1, 1})
        twice.push_back(std::move(read_text(small_step(rank).text())->ranks.front()));
    CHECK_THAT(join_ranks(std::move(twice)).error().front().message,
               ContainsSubstring("is of rank 1"));

    std::vector<DigestedRank> other;
    other.push_back(std::move(read_text(small_step(0).text())->ranks.front()));
    WrittenGraph more;
    more.around(3, 2, "ProfilerStep#4");
    more.all_reduce(14, 3, 64, 1);
    other.push_back(std::move(read_text(more.text())->ranks.front()));
    CHECK_THAT(join_ranks(std::move(other)).error().front().message,
               ContainsSubstring("not of one run"));
}

TEST_CASE("an undefined tensor lies nowhere, so a job of the host's cores is one with it too")
{
    const std::string values = tensor(1, 8, "cpu");
    WrittenGraph step;
    step.op(3, 2, "aten::mm", fmt::format("[{}], [[8]]", values),
            fmt::format("[{}], [[8]]", values));
    step.op(4, 2, "aten::native_layer_norm", fmt::format("[{}], [[8]]", values),
            fmt::format("[{}, [0, 0, 0, 0, 0, \"\"]], [[8], []]", values));
    step.op(5, 2, "aten::relu", fmt::format("[[0, 0, 0, 0, 0, \"\"], {}], [[], [8]]", values),
            fmt::format("[{}], [[8]]", values));
    const RankActivity rank = activity_read(step.text());
    CHECK(rank.ops.size() == 3);
    CHECK(rank.graph->on_host);
    CHECK(rank.graph->tensors == 1);
    CHECK(rank.graph->waits == 2); // each for the one before, none for what is undefined
}

TEST_CASE("a backend's own node is a transfer where no call describes it")
{
    const auto step = [](bool described) {
        WrittenGraph out;
        out.named(
            3, 2, "## process_group:init ##",
            R"(["[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"group_size\": 4}]"], [[]])");
        const std::string tensors = fmt::format("[{}], [[128]]", tensor(7, 128, "cpu"));
        out.op(4, 2, "aten::mm", tensors, tensors);
        if (described)
            out.all_reduce(8, 2, 128);
        out.named(9, described ? 8 : 2, "gloo:all_gather", tensors);
        return activity_read(out.text());
    };
    const RankActivity rank = step(false);
    REQUIRE(rank.transfers.size() == 1);
    CHECK(rank.transfers[0].kind == CollectiveKind::all_gather);
    CHECK(rank.transfers[0].ranks == 4);
    CHECK(rank.transfers[0].bytes == 4 * 128 * 4);
    CHECK(rank.ops.size() == 2);
    const RankActivity described = step(true);
    REQUIRE(described.transfers.size() == 1);
    CHECK(described.transfers[0].kind == CollectiveKind::all_reduce);
}

TEST_CASE("execution traces that name no rank and hold the same tensors may be copies")
{
    const auto doubts = [](int other) {
        std::vector<DigestedRank> ranks;
        for (const int first : {1, other}) {
            WrittenGraph step;
            const std::string tensors = fmt::format("[{}], [[8]]", tensor(first, 8));
            step.op(3, 2, "aten::mm", tensors, tensors);
            ranks.push_back(std::move(
                read_text(step.text(), fmt::format("{}.json", ranks.size()))->ranks.front()));
        }
        return join_ranks(std::move(ranks))->doubts;
    };
    REQUIRE(doubts(1).size() == 1);
    CHECK_THAT(doubts(1).front(), ContainsSubstring("is it a copy?"));
    CHECK(doubts(2).empty());
}

TEST_CASE("damaged execution traces are refused with their place")
{
    const std::string whole = small_step().text();
    CHECK_THAT(refusal_of(whole.substr(0, whole.size() - 40)), ContainsSubstring("ends too early"));
    CHECK_THAT(refusal_of(R"json({"schema": "1.1.1-chakra.0.0.4", "nodes": []})json"),
               ContainsSubstring("no node of an execution trace"));
    CHECK_THAT(refusal_of("{\"schema\": \"1.1.1-chakra.0.0.4\", \"nodes\": [\n{\"name\": \"a\"}]}"),
               ContainsSubstring("2: a node without an id"));
    CHECK_THAT(refusal_of(WrittenGraph().around(2, 1, "a").around(2, 1, "b").text()),
               ContainsSubstring("3: node 2 is there twice"));
    CHECK_THAT(refusal_of(WrittenGraph().around(2, 3, "a").around(3, 2, "b").text()),
               ContainsSubstring("is within itself"));
    CHECK_THAT(refusal_of(WrittenGraph().around(2, 1, "a").text()),
               ContainsSubstring("no op that does work"));
    std::string deep = R"json({"schema": "1.1.1", "nodes": [{"id": 1, "inputs": )json";
    deep.append(100, '[');
    CHECK_THAT(refusal_of(deep), ContainsSubstring("nested deeper than 64 levels"));
}
