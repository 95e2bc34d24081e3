#include "calibrate/import/read_sweeps.h"
#include "tests/catch.h"
#include "tests/unit/import/logs.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

Sweep only_sweep(const std::string& log, const std::string& file = "run.log")
{
    const Checked<ImportedSweeps> imported = read_sweeps(log, file);
    REQUIRE(imported);
    REQUIRE(imported->sweeps.size() == 1);
    return imported->sweeps.front();
}

// The log with `change` made to each line.
template <class Change>
std::string each_line(const std::string& log, Change change)
{
    std::string out;
    for (std::size_t start = 0; start < log.size();) {
        const std::size_t end = log.find('\n', start);
        out += change(log.substr(start, end - start)) + '\n';
        start = end + 1;
    }
    return out;
}

std::string replaced(std::string text, const std::string& old, const std::string& fresh)
{
    for (std::size_t at = text.find(old); at != std::string::npos;
         at = text.find(old, at + fresh.size()))
        text.replace(at, old.size(), fresh);
    return text;
}

} // namespace

TEST_CASE("a run reads as what it was for every collective")
{
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
          CollectiveKind::all_to_all, CollectiveKind::broadcast, CollectiveKind::reduce})
    {
        const Sweep sweep = only_sweep(log_of({.collective = kind}));
        CHECK(sweep.collective == kind);
        CHECK(sweep.ranks == 8);
        CHECK(sweep.nodes == 1);
        CHECK(sweep.rows.size() == 21); // 1 KiB to 1 GiB
        CHECK(sweep.nccl_version == "2.29.3");
        CHECK(sweep.device == "NVIDIA H100 80GB HBM3");
        CHECK(sweep.flags.empty());
    }
}

TEST_CASE("the tags that launchers put before a line change nothing")
{
    const std::string log = log_of({});
    const Sweep plain = only_sweep(log);
    for (const std::string tag :
         {"[1,0]<stdout>:", "0: ", "    ", "node-7 | ", "2025-11-03T10:00:01.5Z stdout F ",
          "[1,0]<stdout>: [node1:0] ", "\x1b[32m"})
        CHECK(only_sweep(each_line(log, [&](const std::string& line) { return tag + line; })) ==
              plain);
    CHECK(only_sweep(replaced(log, "\n", "\r\n")) == plain);
    CHECK(only_sweep(replaced(log, "#", " ")).rows == plain.rows);
}

TEST_CASE("lines of NCCL between the rows change nothing")
{
    const std::string log = log_of({});
    const std::string noisy = each_line(log, [](const std::string& line) {
        return line + "\nnode-a:3442:3460 [3] NCCL INFO Channel 02/0 : 3[3] -> 4[4] via P2P/IPC";
    });
    CHECK(only_sweep(noisy) == only_sweep(log));
}

TEST_CASE("a row that another process interrupts is put together again")
{
    const std::string log = log_of({});
    const Sweep whole = only_sweep(log);
    const std::size_t root = log.find("-1", log.find("float")) + 2;
    const std::string cut = log.substr(0, root) +
                            "node-a:3442:3442 [0] NCCL INFO Launch mode Parallel\n" +
                            log.substr(root);
    CHECK(only_sweep(cut) == whole);
}

TEST_CASE("tables of old tests lack the columns that a collective has no use for")
{
    const std::string old = "#       size         count    type     time   algbw   busbw  error    "
                            " time   algbw   busbw  "
                            "error\n"
                            "#        (B)    (elements)             (us)  (GB/s)  (GB/s)           "
                            " (us)  (GB/s)  (GB/s)\n"
                            "     1048576         32768   float    50.00   20.97   18.35    N/A    "
                            "40.00   26.21   22.94 "
                            "   N/A\n";
    const Sweep gather = only_sweep(old);
    CHECK(gather.collective == CollectiveKind::all_gather);
    CHECK(gather.ranks == 8); // 1048576 / (32768 x 4)
    CHECK_THAT(gather.rows.at(0).in_place->time.value(), WithinRel(40e-6, 1e-12));

    const std::string oldest = "#      bytes             N    type      op     time  algbw  busbw  "
                               "    res     time  algbw  "
                               "busbw      res\n"
                               "     16777216       4194304   float     sum    0.157 106.86 187.01 "
                               "   2e-07    0.160 104.86 "
                               "183.50    2e-07\n";
    const Sweep reduce = only_sweep(oldest);
    CHECK(reduce.ranks == 8); // 187.01 / 106.86 = 1.75
    CHECK_THAT(reduce.rows.at(0).out_of_place->time.value(), WithinRel(157e-6, 1e-12)); // ms
    CHECK_FALSE(reduce.rows.at(0).out_of_place->wrong); // `res` is a deviation, no count
}

TEST_CASE("rates of one rank's share, as tests before 2020 print them, mislead nobody")
{
    // 134217728 bytes gathered by 2 ranks in 3298.6 us: 40.69 GB/s today, then 20.34 for the share.
    const std::string old = "#       size         count    type     time   algbw   busbw  error    "
                            " time   algbw   busbw  "
                            "error\n"
                            "    67108864       8388608   float   1568.3   21.40   21.40  0e+00   "
                            "1560.9   21.50   21.50  "
                            "0e+00\n"
                            "   134217728      16777216   float   3298.6   20.34   20.34  0e+00   "
                            "3070.3   21.86   21.86  "
                            "0e+00\n";
    const Sweep sweep = only_sweep(old);
    CHECK(sweep.collective == CollectiveKind::all_gather);
    CHECK(sweep.ranks == 2);
    CHECK(sweep.rows.at(1).out_of_place->algorithm_bandwidth.value() == 0);
    CHECK_THAT(sweep.rows.at(1).out_of_place->bus_bandwidth.value(), WithinRel(20.34e9, 1e-12));
}

TEST_CASE("tags of HTML around the rows change nothing")
{
    const std::string log = log_of({});
    const std::string page = each_line(log, [](const std::string& line) {
        return "<span class=\"line\"><span>" + line + "</span></span>";
    });
    CHECK(only_sweep(page).rows == only_sweep(log).rows);
    CHECK(only_sweep(page).ranks == 8);
}

TEST_CASE("rows need no heading")
{
    const RunOfTests run{.ranks = 16};
    CHECK(only_sweep(rows_of(run)).rows == only_sweep(log_of(run)).rows);
}

TEST_CASE("ranks come from the bus factor where no device is listed")
{
    for (const int ranks : {2, 3, 4, 8, 12, 16, 32, 64, 96}) {
        const Sweep sweep = only_sweep(heading + rows_of({.ranks = ranks}));
        CHECK(sweep.collective == CollectiveKind::all_reduce);
        CHECK(sweep.ranks == ranks);
    }
    for (const int ranks : {2, 7, 1000}) // exactly: the count is one rank's share
        CHECK(only_sweep(heading + rows_of({.collective = CollectiveKind::all_gather,
                                            .ranks = ranks,
                                            .smallest = std::uint64_t(ranks) * 1024}))
                  .ranks == ranks);
}

TEST_CASE("a list of devices that is cut yields to the bus factor")
{
    std::string log = log_of({.ranks = 16});
    log.erase(log.find("#  Rank  9"), log.find("#\n#       size") - log.find("#  Rank  9"));
    CHECK(only_sweep(replaced(log, "nGpus 16", "nGpus 1")).ranks == 16);
}

TEST_CASE("the name of the file decides only what the numbers leave open")
{
    const std::string log = heading + rows_of({.ranks = 1440, .smallest = 1U << 28});
    CHECK(only_sweep(log, "gb200_360x4_allreduce.txt").ranks == 1440);
    CHECK(only_sweep(log, "gb200_360x4_allreduce.txt").nodes == 360);
    CHECK(only_sweep(heading + rows_of({.ranks = 8}), "h100_2x8_allgather.txt").ranks == 8);
    CHECK(only_sweep(heading + rows_of({.ranks = 8}), "h100_2x8_allgather.txt").collective ==
          CollectiveKind::all_reduce);
}

TEST_CASE("lines of NCCL tell ranks and hosts where nothing else does")
{
    std::string log = heading;
    for (const std::string host : {"node-a", "node-b"})
        log += host + ":3442:3460 [3] NCCL INFO comm 0x7f23 rank 3 nranks 16 cudaDev 3 busId 901d0 "
                      "- Init COMPLETE\n";
    const RunOfTests run{
        .collective = CollectiveKind::broadcast, .ranks = 16, .bus = Bandwidth(20e9)};
    CHECK(only_sweep(log + rows_of(run)).ranks == 16);
    CHECK(only_sweep(log + rows_of(run)).nodes == 2);
}

TEST_CASE("every run of a file becomes a sweep of its own")
{
    const std::string both = "first\n" + log_of({}) + "second\n" +
                             log_of({.collective = CollectiveKind::all_gather, .ranks = 4});
    const Checked<ImportedSweeps> imported = read_sweeps(both, "runs.log");
    REQUIRE(imported);
    REQUIRE(imported->sweeps.size() == 2);
    CHECK(imported->sweeps[0].ranks == 8);
    CHECK(imported->sweeps[1].ranks == 4);
    CHECK(imported->sweeps[1].collective == CollectiveKind::all_gather);
}

TEST_CASE("only variables that change paths are kept")
{
    const std::string command =
        "mpirun -np 8 -x NCCL_ALGO=Ring -x NCCL_DEBUG=INFO -x AWS_SECRET_ACCESS_KEY=abc "
        "-x NCCL_NET_TOKEN=abc -x FI_PROVIDER=efa all_reduce_perf -b 8\n";
    const Sweep sweep = only_sweep(command + heading + rows_of({}));
    CHECK(sweep.variables ==
          std::map<std::string, std::string>{{"FI_PROVIDER", "efa"}, {"NCCL_ALGO", "Ring"}});
    CHECK(sweep.algorithm == "Ring");
}
