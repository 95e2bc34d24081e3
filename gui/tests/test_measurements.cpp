#include "calibrate/measure/run/journal.h"
#include "gui/calibration/fitted.h"
#include "gui/model/open_file.h"
#include "sim/base/files.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

using namespace trainyard;
using namespace trainyard::gui;

namespace {

const std::string data_folder = "tests/golden/data/";

Measurements read(const std::string& file)
{
    Checked<Measurements> out = read_measurements(file, {});
    REQUIRE(out);
    return std::move(*out);
}

// Two ranks, three sizes of an all-reduce, each timed in twenty batches.
MeasuredRun run_of_two()
{
    MeasuredRun out;
    out.backend = "gloo";
    out.ranks = {{{0, 2, 0, 2}, "here", {}}, {{1, 2, 1, 2}, "here", {}}};
    return out;
}

MeasuredPoint point_of(Bytes size)
{
    MeasuredPoint out;
    CollectiveWork work;
    work.size = size;
    out.point = {{"both", {0, 1}}, work, 0};
    out.batches.assign(20, 20e-6 + static_cast<double>(size.value()) / 1e9);
    out.estimate = estimate_of(out.batches);
    return out;
}

} // namespace

TEST_CASE("a journal of trainyard calibrate is its sweeps")
{
    const testing::Folder folder;
    const auto path = folder.path() / "run.samples.jsonl";
    {
        Journal journal(path, run_of_two());
        for (const std::uint64_t size : {1024ULL, 65536ULL, 1048576ULL})
            journal.add(point_of(Bytes(size)));
    }
    CHECK(is_measurement(read_file(path)));
    const Measurements measured = read(path.string());
    REQUIRE(measured.input.sweeps.size() == 1);
    CHECK(measured.input.sweeps[0].ranks == 2);
    CHECK(measured.input.sweeps[0].backend == Backend::gloo);
    CHECK(measured.input.sweeps[0].rows.size() == 3);
    // Of Gloo between CPUs: no profile of a GPU.
    const Problems refused = refused_to_save(measured.input.sweeps);
    REQUIRE(refused.size() == 1);
    CHECK(refused.front().hint.find("trainyard calibrate --from") != std::string::npos);
    std::vector<Sweep> of_devices = measured.input.sweeps;
    of_devices[0].backend = Backend::nccl;
    CHECK(refused_to_save(of_devices).empty());
}

TEST_CASE("logs, pairs and topologies are measurements, scenarios and prose are not")
{
    CHECK(is_measurement(read_file(data_folder + "nccl_logs/h100_1x8_allreduce_dgxc.txt")));
    CHECK(
        is_measurement(read_file(data_folder + "topology_files/nvbandwidth_6xA6000_issue50.txt")));
    CHECK(is_measurement(
        read_file(data_folder + "topology_files/nvsmi_topo_dgx_a100_h100_mlengineering.txt")));
    CHECK_FALSE(is_measurement(read_file("scenarios/llama3-8b-h100-8.json")));
    CHECK_FALSE(is_measurement("Dear all,\nthe node is slow.\n"));
    CHECK_FALSE(is_measurement(""));
}

TEST_CASE("a long file is known by its beginning, a large one of another kind refused")
{
    const testing::Folder folder;
    const auto journal = folder.path() / "run.samples.jsonl";
    {
        const Journal first_line(journal, run_of_two());
    }
    const std::string lines = read_file(journal);
    const std::string long_file = (folder.path() / "long").string();
    const std::string filling(20 << 20, ' '); // more than a scenario may have
    write_file(long_file, lines + filling);
    Checked<Opened> opened = open_any(long_file, Json());
    REQUIRE(opened);
    CHECK(std::get_if<OpenedMeasurements>(&*opened) != nullptr);

    write_file(long_file, "{\"format\": \"trainyard.scenario/1\"" + filling + "}");
    opened = open_any(long_file, Json());
    REQUIRE_FALSE(opened);
    CHECK(opened.error().front().message == "larger than 16 MiB");
    CHECK(opened.error().front().file == long_file);

    write_file(long_file, "");
    opened = open_any(long_file, Json());
    REQUIRE_FALSE(opened);
    CHECK(opened.error().front().message == "the file is empty");
}

TEST_CASE("comments may stand before the JSON of what is opened")
{
    const Checked<Opened> opened = open_any("scenarios/models/mlp-4x1024/model.json", Json());
    REQUIRE(opened);
    const auto* const part = std::get_if<OpenedPart>(&*opened);
    REQUIRE(part != nullptr);
    CHECK(part->field == "model");
}

TEST_CASE("a file of pairs and a topology gives both, and pairs are then judged in their classes")
{
    const Measurements measured =
        read(data_folder + "topology_files/autodl_2080ti_topo_p2pBandwidthLatencyTest.txt");
    REQUIRE_FALSE(measured.pairs.empty());
    REQUIRE(measured.input.node);
    CHECK(measured.input.node->gpus.size() == measured.pairs.front().matrix.values.size());
}

TEST_CASE("the same file twice is one measurement")
{
    Measurements all = read(data_folder + "topology_files/nvbandwidth_6xA6000_issue50.txt");
    append(all, read(data_folder + "nccl_logs/h100_1x8_allreduce_dgxc.txt"));
    const std::size_t pairs = all.pairs.size();
    const std::size_t sweeps = all.input.sweeps.size();
    append(all, read(data_folder + "topology_files/nvbandwidth_6xA6000_issue50.txt"));
    append(all, read(data_folder + "nccl_logs/h100_1x8_allreduce_dgxc.txt"));
    CHECK(all.pairs.size() == pairs);
    CHECK(all.input.sweeps.size() == sweeps);
    CHECK(all.files.size() == 2);
}

TEST_CASE("traces are known by their beginnings, packed or not, and nothing else is one")
{
    const auto is_traces = [](const std::string& file) {
        const Checked<Opened> opened = open_any(file, Json());
        return opened && std::get_if<OpenedTraces>(&*opened) != nullptr;
    };
    for (const char* name : {"rank0.json", "report.sqlite", "graph.0.et", "graph.0.json",
                             "execution0.json", "execution_1.0.1.json", "jsonizer.json"})
    {
        INFO(name);
        CHECK(is_traces(data_folder + "traces/" + name));
    }
    const testing::Folder folder;
    const auto journal = folder.path() / "run.samples.jsonl";
    {
        Journal lines(journal, run_of_two());
        lines.add(point_of(Bytes(1024)));
    }
    for (const std::string& file :
         {journal.string(), std::string("scenarios/llama3-8b-h100-8.json"),
          std::string("topologies/h100-1x4.json"), std::string("README.md"),
          data_folder + "nccl_logs/h100_1x8_allreduce_dgxc.txt"})
    {
        INFO(file);
        CHECK_FALSE(is_traces(file));
    }
    // A folder is its traces; one without any is refused.
    const Checked<Opened> opened = open_any(data_folder + "traces", Json());
    REQUIRE(opened);
    CHECK(std::get<OpenedTraces>(*opened).files.size() >= 9);
    CHECK_FALSE(open_any(data_folder + "nccl_logs", Json()));
}
