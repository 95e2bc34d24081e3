// Records out of line with those around them.

#include "sim/study/contradictions.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;

namespace {

// A job measured in one release, predicted with an error.
struct Measured {
    std::string release;
    double error = 0;
    int pp = 4;
    int micro_batch = 1;
};

std::vector<Contradiction> found_in(const std::vector<Measured>& runs)
{
    std::vector<RecordFile> files(1);
    std::vector<RecordVerdict> verdicts;
    for (const Measured& run : runs) {
        MeasuredRecord record;
        record.id = "run-" + run.release;
        record.source.key = "someone";
        record.source.release = run.release;
        record.model.name = "a model";
        record.hardware.gpu_family = "a GPU";
        record.gpus = 64;
        record.precision = "mxfp8";
        record.parallel.pp = run.pp;
        record.micro_batch = run.micro_batch;
        files.front().records.push_back(record);
        RecordVerdict verdict;
        verdict.id = record.id;
        verdict.measured = Seconds(1);
        verdict.predicted = Prediction{};
        verdict.predicted->value = Seconds(1 + run.error);
        verdicts.push_back(verdict);
    }
    return contradictions(files, verdicts);
}

} // namespace

TEST_CASE("a record whose error is far from its neighbours' contradicts them, whatever theirs are")
{
    // ln 0.7 = -0.36 against a median of ln 1.21 = 0.19 with a spread of a hundredth
    const auto found = found_in({{"1", 0.20}, {"2", 0.21}, {"3", 0.22}, {"4", -0.30}, {"5", 0.20}});
    REQUIRE(found.size() == 1);
    CHECK(found.front().id == "run-4");
    CHECK(found.front().why.find("-30.0%") != std::string::npos);
    CHECK(found_in({{"1", 0.20}, {"2", 0.21}, {"3", 0.22}, {"4", 0.10}}).empty());
}

TEST_CASE("neighbours that disagree among themselves, or are too few, contradict nobody")
{
    CHECK(found_in({{"1", 0.4}, {"2", -0.2}, {"3", 0.0}, {"4", 0.3}, {"5", -0.3}}).empty());
    CHECK(found_in({{"1", 0.0}, {"2", 0.0}, {"3", 0.5}}).empty());
}

TEST_CASE("settings that change for one release and change back are named, a lasting change is not")
{
    const auto found = found_in({{"26.04", 0, 4, 1}, {"26.02.01", 0, 1, 2}, {"26.02", 0, 4, 1}});
    REQUIRE(found.size() == 1);
    CHECK(found.front().id == "run-26.02.01");
    CHECK(found.front().why == "releases 26.02 and 26.04 of the same job agree on its settings, "
                               "this one has pp 1 (there 4), micro-batch 2 (there 1)");
    CHECK(found_in({{"25.09", 0, 8}, {"25.11", 0, 4}, {"26.02", 0, 4}}).empty());
}

TEST_CASE("without anything out of line nothing is printed")
{
    CHECK(contradictions_text({}).empty());
    CHECK(contradictions_text(std::vector<Contradiction>{{"run", "why"}}).find("run: why") !=
          std::string::npos);
    const std::string many = contradictions_text(std::vector<Contradiction>(34, {"run", "why"}));
    CHECK(std::ranges::count(many, '\n') == 2 + 12 + 1);
    CHECK(many.find("and 22 more: --json has all") != std::string::npos);
}
