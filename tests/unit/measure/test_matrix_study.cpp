#include "calibrate/measure/discover/matrix_study.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

// Eight GPUs, every pair at `rate` but those within 2 % by a fixed pattern.
PairMatrix eight(double rate)
{
    PairMatrix out;
    out.test = "device_to_device_memcpy_read_ce";
    for (int i = 0; i < 8; ++i) {
        out.values.emplace_back();
        for (int j = 0; j < 8; ++j)
            out.values.back().push_back(rate * (1 + 0.004 * ((3 * i + 5 * j) % 5 - 2)));
        out.values.back()[static_cast<std::size_t>(i)] = 3e12; // a copy within one GPU
    }
    return out;
}

} // namespace

TEST_CASE("the slow pair of an imported matrix is named, with how much it lacks")
{
    PairMatrix matrix = eight(380e9);
    matrix.values[3][5] = matrix.values[5][3] = 380e9 * 0.62;
    const MatrixVerdicts judged = judge(matrix);
    CHECK(judged.not_judged.empty());
    REQUIRE(judged.verdicts.slow.size() == 1);
    const SlowVerdict& slow = judged.verdicts.slow.front();
    CHECK(slow.what == "GPU 3 <-> GPU 5");
    CHECK(slow.pairs == std::vector<OrderedPair>{{3, 5}, {5, 3}});
    CHECK(shortfall_text(slow) == "38 % below the others of its kind");
}

TEST_CASE("a matrix of equal pairs has no slow link, whatever copies within a GPU reach")
{
    const MatrixVerdicts judged = judge(eight(26e9));
    CHECK(judged.verdicts.slow.empty());
    CHECK(judged.not_judged.empty());
}

TEST_CASE("pairs joined in two ways are judged only by one who knows the ways")
{
    PairMatrix matrix = eight(26e9);
    Words classes(8, std::vector<std::string>(8, "SYS"));
    for (std::size_t i = 0; i < 8; ++i)
        for (std::size_t j = 0; j < 8; ++j)
            if (i / 4 == j / 4)
                classes[i][j] = "PIX";
            else
                matrix.values[i][j] = *matrix.values[i][j] * 0.6;
    const MatrixVerdicts blind = judge(matrix);
    CHECK(blind.verdicts.slow.empty());
    CHECK_FALSE(blind.not_judged.empty());
    CHECK(judge(matrix, classes).verdicts.slow.empty());
    CHECK(judge(matrix, classes).not_judged.empty());
    matrix.values[0][6] = 26e9 * 0.4;
    REQUIRE(judge(matrix, classes).verdicts.slow.size() == 1);
    CHECK(judge(matrix, classes).verdicts.slow[0].what == "GPU 0 -> GPU 6");
}

TEST_CASE("latencies and copies from the host are not judged, and that is said")
{
    PairMatrix latency = eight(380e9);
    latency.quantity = PairQuantity::latency;
    CHECK_FALSE(judge(latency).not_judged.empty());
    PairMatrix host = eight(55e9);
    host.rows = "CPU";
    host.values.resize(1);
    CHECK_FALSE(judge(host).not_judged.empty());
}
