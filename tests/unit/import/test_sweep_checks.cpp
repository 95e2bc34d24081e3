#include "calibrate/import/read_sweeps.h"
#include "calibrate/import/sweep_checks.h"
#include "tests/catch.h"
#include "tests/unit/import/logs.h"

#include <random>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

// Why the log is refused; empty when it is not.
std::string refusal(const std::string& log)
{
    const Checked<ImportedSweeps> imported = read_sweeps(log, "run.log");
    return imported ? "" : imported.error().front().message;
}

std::string flags_of(const std::string& log)
{
    const Checked<ImportedSweeps> imported = read_sweeps(log, "run.log");
    REQUIRE(imported);
    std::string out;
    for (const std::string& flag : imported->sweeps.at(0).flags)
        out += flag + "\n";
    return out;
}

std::string row(std::string_view out_of_place)
{
    return "     1048576        262144     float     sum      -1    " + std::string(out_of_place) +
           "\n";
}

bool contains(const std::string& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("one rank communicates with nobody")
{
    CHECK(contains(refusal(heading + row("10.00  104.86  0.00  0   10.00  104.86  0.00  0")),
                   "n = 1"));
    CHECK(
        contains(refusal(log_of({.collective = CollectiveKind::broadcast, .ranks = 1})), "n = 1"));
}

TEST_CASE("rates that contradict size and time are refused")
{
    CHECK(contains(refusal(heading + row("10.00  50.00  87.50  0   10.00  50.00  87.50  0")),
                   "contradict"));
}

TEST_CASE("no link gives more than its data sheet says")
{
    CHECK(contains(refusal(log_of({.bus = Bandwidth(3000e9)})), "impossible"));
    CHECK(contains(refusal(heading + rows_of({.bus = Bandwidth(9000e9)})), "impossible"));
    // Reduced in the switch an H100 reaches 480 GB/s of bus bandwidth over links of 450.
    CHECK(refusal(log_of({.bus = Bandwidth(480e9)})).empty());
    CHECK(contains(
        refusal(log_of({.collective = CollectiveKind::all_gather, .bus = Bandwidth(600e9)})),
        "impossible"));
}

TEST_CASE("rows of two runs in one table are refused")
{
    const std::string mixed =
        rows_of({.ranks = 8, .largest = 1U << 24}) + rows_of({.ranks = 16, .smallest = 1U << 25});
    CHECK(contains(refusal(heading + mixed), "mixed"));
}

TEST_CASE("two runs that wrote to one file at once are flagged")
{
    std::string both = heading;
    for (std::uint64_t size = 1024; size <= (1U << 24); size *= 2)
        for (const double rate : {400e9, 200e9})
            both += rows_of({.bus = Bandwidth(rate), .smallest = size, .largest = size});
    both = log_of({.smallest = 512, .largest = 512}) + both;
    const Checked<ImportedSweeps> imported = read_sweeps(both, "run.log");
    REQUIRE(imported);
    REQUIRE(imported->sweeps.size() == 2);
    const auto& flags = imported->sweeps[1].flags;
    CHECK(std::any_of(flags.begin(), flags.end(),
                      [](const std::string& flag) { return contains(flag, "may be mixed"); }));
}

TEST_CASE("times in other units than the heading says are flagged")
{
    const std::string log = heading + row("0.0100  104.86  183.50  0   0.0100  104.86  183.50  0");
    CHECK(contains(flags_of(log), "times taken as milliseconds"));
    CHECK_FALSE(
        contains(flags_of(heading + row("10.00  104.86  183.50  0   10.00  104.86  183.50  0")),
                 "times taken"));
}

TEST_CASE("a run that was cut is flagged")
{
    const std::string log = log_of({});
    CHECK(contains(flags_of(log.substr(0, log.find("    33554432"))), "cut: it ends at"));
    const std::size_t middle_of_row = log.find("    67108864") + 60;
    CHECK(contains(flags_of(log.substr(0, middle_of_row)), "1 row is cut"));
}

TEST_CASE("rows that someone took out show in the average")
{
    std::string log = log_of({});
    log += "# Avg bus bandwidth    : 12.5\n";
    CHECK(contains(flags_of(log), "rows are missing"));
}

TEST_CASE("wrong results are flagged")
{
    CHECK(contains(flags_of(heading + row("20.00  52.43  91.75  7   20.00  52.43  91.75  0")),
                   "wrong results in 1 timing"));
}

TEST_CASE("versions of NCCL that differ are flagged")
{
    std::string log = log_of({});
    log.replace(log.find("nccl-library=22903"), 18, "nccl-library=22807");
    CHECK(contains(flags_of(log), "compiled for NCCL 2.29.3, run with 2.28.7"));

    Sweep old;
    old.nccl_version = "2.18.3";
    Sweep recent;
    recent.nccl_version = "2.29.3";
    CHECK(disagreements(std::vector{old, recent}).size() == 1);
    CHECK(disagreements(std::vector{old, old}).empty());
}

TEST_CASE("ranks that nothing tells are not made up")
{
    const RunOfTests run{.collective = CollectiveKind::broadcast, .ranks = 8};
    CHECK(contains(refusal(heading + rows_of(run)), "how many ranks"));
    SweepHints hints;
    hints.ranks = 8;
    CHECK(read_sweeps(heading + rows_of(run), "run.log", hints)->sweeps.at(0).ranks == 8);
    hints.ranks = 16; // but the factor of an all-reduce among 8 is 1.75
    CHECK_FALSE(read_sweeps(heading + rows_of({.ranks = 8}), "run.log", hints));
}

TEST_CASE("random bytes are refused")
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 200; ++i) {
        std::string bytes(1 + random() % 2000, ' ');
        for (char& byte : bytes)
            byte = static_cast<char>(random());
        CHECK_FALSE(read_sweeps(bytes, "noise"));
    }
    CHECK_FALSE(read_sweeps("", "empty"));
}

TEST_CASE("a log with random bytes changed keeps its laws or is refused")
{
    std::mt19937_64 random(2);
    const std::string log = log_of({});
    for (int i = 0; i < 300; ++i) {
        std::string broken = log;
        for (int k = 0; k < 20; ++k)
            broken[random() % broken.size()] = static_cast<char>(random());
        const Checked<ImportedSweeps> imported = read_sweeps(broken, "broken");
        if (!imported)
            continue;
        for (const Sweep& sweep : imported->sweeps) {
            CHECK(sweep.ranks >= 2);
            CHECK_FALSE(sweep.rows.empty());
            for (const SweepRow& timed : sweep.rows)
                CHECK((timed.out_of_place || timed.in_place));
        }
    }
}
