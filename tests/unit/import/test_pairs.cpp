#include "calibrate/import/pair_text.h"
#include "calibrate/import/read_pairs.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

const std::string nvbandwidth = "Running device_to_device_memcpy_read_ce.\n"
                                "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
                                "           0         1\n"
                                " 0       N/A     26.34\n"
                                " 1     26.35       N/A\n"
                                "\n"
                                "SUM device_to_device_memcpy_read_ce 52.69\n";

const std::string p2p = "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n"
                        "   D\\D     0      1\n"
                        "     0 2494.76 371.02\n"
                        "     1 370.50 2490.00\n"
                        "P2P=Enabled Latency (P2P Writes) Matrix (us)\n"
                        "   GPU     0      1\n"
                        "     0   2.10   2.50\n"
                        "     1   2.60   2.20\n"
                        "\n"
                        "   CPU     0      1\n"
                        "     0   3.55   1.80\n"
                        "     1   1.90   3.40\n";

} // namespace

TEST_CASE("a matrix of nvbandwidth is read row by row")
{
    const ImportedPairs pairs = read_pair_text(nvbandwidth);
    REQUIRE(pairs.matrices.size() == 1);
    const PairMatrix& matrix = pairs.matrices[0];
    CHECK(matrix.test == "device_to_device_memcpy_read_ce");
    CHECK_FALSE(matrix.values[0][0]);
    CHECK_THAT(*matrix.values[1][0], WithinRel(26.35e9, 1e-12));
    CHECK(pairs.notes.flagged.empty()); // the sum agrees
}

TEST_CASE("a sum that is not that of the values is flagged")
{
    std::string edited = nvbandwidth;
    edited.replace(edited.find("26.34"), 5, "76.34");
    CHECK(read_pair_text(edited).notes.flagged.size() == 1);
}

TEST_CASE("p2pBandwidthLatencyTest gives latencies from the GPU and from the CPU")
{
    const ImportedPairs pairs = read_pair_text(p2p);
    REQUIRE(pairs.matrices.size() == 3);
    CHECK(pairs.matrices[0].quantity == PairQuantity::bandwidth);
    CHECK(pairs.matrices[1].quantity == PairQuantity::latency);
    CHECK_THAT(*pairs.matrices[1].values[0][1], WithinRel(2.5e-6, 1e-12));
    CHECK(pairs.matrices[2].test == "P2P=Enabled Latency (P2P Writes) (from the CPU)");
    CHECK_THAT(*pairs.matrices[2].values[1][0], WithinRel(1.9e-6, 1e-12));
}

TEST_CASE("text and JSON of nvbandwidth agree")
{
    const std::string json = R"json({"nvbandwidth": {"CUDA Driver Version": 12040, "testcases": [
        {"name": "device_to_device_memcpy_read_ce", "status": "Passed",
         "bandwidth_description": "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
         "bandwidth_matrix": [["N/A", "26.34"], ["26.35", "N/A"]], "sum": "52.69"},
        {"name": "host_to_device_memcpy_sm", "status": "Waived"}]}})json";
    const Checked<ImportedPairs> from_json = read_pairs(json, "out.json");
    REQUIRE(from_json);
    CHECK(from_json->matrices == read_pair_text(nvbandwidth).matrices);
    CHECK(from_json->notes.ignored.size() == 1); // the waived one
}

TEST_CASE("matrices that were written read back as they were")
{
    for (const std::string& text : {nvbandwidth, p2p}) {
        const std::vector<PairMatrix> matrices = read_pair_text(text).matrices;
        const Checked<ImportedPairs> back = read_pairs(to_text(to_json(matrices)), "pairs.json");
        REQUIRE(back);
        REQUIRE(back->matrices.size() == matrices.size());
        for (std::size_t i = 0; i < matrices.size(); ++i)
            CHECK(describe(back->matrices[i]) == describe(matrices[i]));
    }
}

TEST_CASE("a matrix that is cut or impossible is flagged or refused")
{
    CHECK(read_pair_text(nvbandwidth.substr(0, nvbandwidth.find(" 1     26.35")))
              .notes.flagged.size() == 1);
    std::string fast = nvbandwidth;
    fast.replace(fast.find("26.34"), 5, "9e+12");
    CHECK_FALSE(read_pair_text(fast).notes.flagged.empty());
    CHECK_FALSE(read_pairs("no matrix", "file"));
}
