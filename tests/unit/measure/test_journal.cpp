// Files of samples: written by one run, moved aside by the next, read back, refused.

#include "calibrate/measure/run/runner.h"
#include "sim/base/files.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

#include <fmt/core.h>

#include <fstream>

using namespace trainyard;
using Catch::Matchers::Contains;

namespace {

MeasuredRun run_of_two()
{
    MeasuredRun out;
    out.backend = "gloo";
    out.ranks = {{{0, 2, 0, 2}, "here", {}}, {{1, 2, 1, 2}, "here", {}}};
    return out;
}

MeasuredPoint some_point()
{
    MeasuredPoint out;
    out.point = {{"both", {0, 1}}, CollectiveWork{}, 0};
    out.batches = {1e-3, 1.1e-3, 1e-3};
    out.estimate = estimate_of(out.batches);
    return out;
}

} // namespace

TEST_CASE("two runs do not write to one journal")
{
    const testing::Folder folder;
    const auto path = folder.path() / "same.samples.jsonl";
    {
        Journal first(path, run_of_two());
        first.left_out("something");
        CHECK_THROWS_AS(Journal(path, run_of_two()), WorldError);
        first.left_out("more");
        first.add(some_point());
        CHECK(read_journal(path).value().left_out.size() == 2);
    }
    CHECK_NOTHROW(Journal(path, run_of_two()));
}

TEST_CASE("a new run moves the samples of earlier ones aside, each to a name of its own")
{
    const testing::Folder folder;
    const auto path = folder.path() / "run.samples.jsonl";
    const auto leave = [&](const char* what) {
        Journal journal(path, run_of_two());
        journal.left_out(what);
        journal.add(some_point());
        return journal.earlier();
    };
    CHECK(leave("first").empty());
    CHECK(leave("second") == folder.path() / "run.samples.1.jsonl");
    CHECK(leave("third") == folder.path() / "run.samples.2.jsonl");
    const auto only_left_out = [&](const char* name) {
        return read_journal(folder.path() / name).value().left_out;
    };
    CHECK(only_left_out("run.samples.1.jsonl") == std::vector<std::string>{"first"});
    CHECK(only_left_out("run.samples.2.jsonl") == std::vector<std::string>{"second"});
    CHECK(only_left_out("run.samples.jsonl") == std::vector<std::string>{"third"});
}

TEST_CASE("a new run writes over what holds no samples, and moves what it does not know aside")
{
    const testing::Folder folder;
    const auto path = folder.path() / "run.samples.jsonl";
    Journal(path, run_of_two()).left_out("something");
    CHECK(Journal(path, run_of_two()).earlier().empty());

    std::ofstream(path, std::ios::trunc) << "my notes\n";
    const auto earlier = Journal(path, run_of_two()).earlier();
    REQUIRE_FALSE(earlier.empty());
    CHECK(read_file(earlier) == "my notes\n");
}

TEST_CASE("a journal with a cut last line is read up to it, others are refused with their line")
{
    const testing::Folder folder;
    const auto path = folder.path() / "cut.samples.jsonl";
    {
        Journal journal(path, run_of_two());
        journal.left_out("something");
        journal.add(some_point());
        std::ofstream(path, std::ios::app) << "{\"point\": {\"gro";
    }
    CHECK(read_journal(path).value().left_out == std::vector<std::string>{"something"});

    std::ofstream(path, std::ios::app) << "\n";
    const auto broken = read_journal(path);
    REQUIRE_FALSE(broken);
    CHECK(broken.error().front().line == 4);

    std::ofstream(path, std::ios::trunc) << "{\"format\": \"something else\"}\n";
    CHECK_THAT(read_journal(path).error().front().message, Contains("no file of samples"));
    std::ofstream(path, std::ios::trunc) << "";
    CHECK_FALSE(read_journal(path));
}

TEST_CASE("samples that no run can have measured are refused with their line")
{
    const testing::Folder folder;
    const auto path = folder.path() / "edited.samples.jsonl";
    const auto why_not = [&](const MeasuredRun& run, const MeasuredPoint& point) -> std::string {
        Journal(path, run).add(point);
        const auto read = read_journal(path);
        std::filesystem::remove(path);
        if (read)
            return "";
        return fmt::format("{}: {}", read.error().front().line, read.error().front().message);
    };
    CHECK(why_not(run_of_two(), some_point()).empty());
    const auto edited = [&](auto edit) {
        MeasuredPoint point = some_point();
        edit(point);
        return why_not(run_of_two(), point);
    };
    const auto members = [&](std::vector<int> them) {
        return edited([&](MeasuredPoint& point) { point.point.group.members = std::move(them); });
    };
    CHECK_THAT(members({}), Contains("2: ") && Contains("no members"));
    for (const std::vector<int>& them : {std::vector{0, 2}, {-1, 0}, {1, 1}})
        CHECK_THAT(members(them), Contains("some of the run's 2 ranks"));
    for (const double time : {-1e-3, 1e308, 1e-300})
        CHECK_THAT(edited([&](MeasuredPoint& point) { point.batches = {time}; }),
                   Contains("no seconds"));
    CHECK_THAT(edited([](MeasuredPoint& point) { point.batches = {}; }), Contains("no batches"));
    CHECK_THAT(edited([](MeasuredPoint& point) { point.ops_per_batch = 0; }), Contains("from 1"));
    CHECK_THAT(edited([](MeasuredPoint& point) { point.slowest_rank = 2; }),
               Contains("more ranks"));
    CHECK_THAT(edited([](MeasuredPoint& point) {
                   point.point.work = PingPongWork{0, 5, Bytes(8)};
               }),
               Contains("not between ranks"));
    CHECK_THAT(edited([](MeasuredPoint& point) {
                   point.point.work = ExchangeWork{{{0, -1}}, Bytes(8)};
               }),
               Contains("not between ranks"));
    LocalWork negative;
    negative.m = -1;
    CHECK_THAT(edited([&](MeasuredPoint& point) { point.point.work = negative; }),
               Contains("no kernel"));

    LocalWork narrow; // as a line reads whose "m" is lost
    narrow.n = narrow.k = 64;
    CHECK_THAT(edited([&](MeasuredPoint& point) { point.point.work = narrow; }),
               Contains("no kernel"));

    MeasuredRun run = run_of_two();
    run.ranks[1].place.local_rank = -1;
    CHECK_THAT(why_not(run, some_point()), Contains("1: ") && Contains("place of a rank"));
    run.ranks.clear();
    CHECK_THAT(why_not(run, some_point()), Contains("no ranks"));
    run = run_of_two();
    run.backend = "another";
    CHECK_THAT(why_not(run, some_point()), Contains("backend"));
}

TEST_CASE("a journal keeps what the hosts are made of, and leaves out what cannot be")
{
    const testing::Folder folder;
    const auto path = folder.path() / "hosts.samples.jsonl";
    NodeReport node;
    node.host = "here";
    node.map.switches = {{"cpu0", -1, {}}, {"switch0", 0, Bandwidth(1e9)}};
    node.map.gpus = {{"gpu0", "any", 1, Bandwidth(1e9)}, {"gpu1", "any", 1, Bandwidth(1e9)}};
    node.map.nvlinks = {{0, 1, Bandwidth(1e9)}};
    node.classes = {{"X", "NV1"}, {"NV1", "X"}};
    const auto read_back = [&](const NodeReport& last) {
        {
            Journal journal(path, run_of_two());
            journal.add(some_point());
            journal.machine({});
            journal.machine({last});
        }
        MeasuredRun out = read_journal(path).value();
        std::filesystem::remove(path);
        CHECK(out.points.size() == 1);
        return out;
    };
    CHECK(read_back(node).nodes == std::vector{node});
    const auto left_out = [&](auto edit) {
        NodeReport edited = node;
        edit(edited);
        const MeasuredRun run = read_back(edited);
        CHECK(run.nodes.empty());
        return run.doubts.empty() ? "" : run.doubts.back();
    };
    CHECK_THAT(left_out([](NodeReport& n) { n.map.gpus[0].parent = 2; }), Contains("no tree"));
    CHECK_THAT(left_out([](NodeReport& n) { n.map.switches[0].parent = 1; }), Contains("no tree"));
    CHECK_THAT(left_out([](NodeReport& n) { n.map.nvlinks[0].to = 2; }), Contains("NVLinks"));
    CHECK_THAT(left_out([](NodeReport& n) { n.classes.pop_back(); }), Contains("classes"));
    CHECK_THAT(left_out([](NodeReport& n) { n.map.gpus.clear(); }), Contains("no devices"));
}

TEST_CASE("empty lines in a journal are no samples, and a profile is no journal")
{
    const testing::Folder folder;
    const auto path = folder.path() / "lines.samples.jsonl";
    Journal(path, run_of_two()).add(some_point());
    std::ofstream(path, std::ios::app) << "\n \r\n";
    CHECK(read_journal(path).value().points.size() == 1);
    std::ofstream(path, std::ios::trunc) << "{\n  \"format\": \"trainyard.profile/1\"\n}\n";
    CHECK_THAT(read_journal(path).error().front().message, Contains("no file of samples"));
}

TEST_CASE("a journal without a point is refused with why the run ended")
{
    const testing::Folder folder;
    const auto path = folder.path() / "none.samples.jsonl";
    Journal(path, run_of_two()).ended("interrupted");
    const auto none = read_journal(path);
    REQUIRE_FALSE(none);
    CHECK(none.error().front().message ==
          "it holds no samples: the run measured nothing (interrupted)");
}
