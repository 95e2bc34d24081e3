#include "sim/study/record.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

Checked<RecordFile> read(std::string_view text)
{
    const Checked<Json> json = parse_json(text, "runs.json");
    REQUIRE(json.has_value());
    return records_from(*json, "runs.json");
}

} // namespace

TEST_CASE("a record keeps what its table said")
{
    const auto file = read(R"([{"id": "a", "quality": "A", "n_gpus": 16,
        "source": {"key": "t", "date": "2024-05"},
        "hardware": {"gpu": "H100-80GB", "nic_gbps_per_gpu": 400},
        "model": {"name": "m", "arch": "moe-decoder", "hidden": 4096, "params_total": 1.5e9},
        "parallel": {"tp": 2, "shard_group": 8}, "overlap": {"async_tp": true},
        "measured": {"peak_allocated_GiB": 2},
        "derived": {"step_time_s": 1.25}, "flags": ["odd"]}])");
    REQUIRE(file.has_value());
    REQUIRE(file->records.size() == 1);
    const MeasuredRecord& record = file->records.front();
    CHECK(record.id == "a");
    CHECK(record.gpus == 16);
    CHECK(record.hardware.nic_gbps_per_gpu == 400.0);
    CHECK(record.model.hidden == 4096);
    CHECK(record.model.parameters == 1.5e9);
    CHECK(record.parallel.shard_group == 8);
    CHECK(record.overlap.tp == true);
    CHECK_FALSE(record.overlap.dp.has_value());
    CHECK(record.peak_memory == 2147483648.0);
    CHECK(record.step_time == 1.25);
    CHECK(record.flags == std::vector<std::string>{"odd"});
}

TEST_CASE("a measured step counts as one that was derived from a rate")
{
    const auto file = read(R"([{"id": "a", "measured": {"step_time_s": 2.5}},
        {"id": "b", "measured": {"step_time_s": 2.41}, "derived": {"step_time_s": 2.4}},
        {"id": "c", "measured": {"step_time_ms": 2500}}])");
    REQUIRE(file.has_value());
    CHECK(file->records[0].step_time == 2.5);
    CHECK(file->records[1].step_time == 2.4);
    CHECK(file->records[2].step_time == 2.5);
}

TEST_CASE("step times of one record that contradict each other are a problem of both places")
{
    const auto file = read(R"([{"id": "a", "measured": {"step_time_s": 2.5, "step_time_ms": 2500},
        "derived": {"step_time_s": 2.4}}, {"id": "b"}])");
    REQUIRE(file);
    REQUIRE(file->unreadable.size() == 1);
    const Problems& problems = file->unreadable.front().problems;
    REQUIRE(problems.size() == 2);
    CHECK(problems[0].pointer == "/0/measured/step_time_s");
    CHECK(problems[0].message == "a step of 2.5 s contradicts /0/derived/step_time_s (2.4 s)");
    CHECK(problems[1].pointer == "/0/measured/step_time_ms");
}

TEST_CASE("nothing but a name has to be there")
{
    const auto file = read(R"({"records": [{"id": "bare"}]})");
    REQUIRE(file.has_value());
    REQUIRE(file->records.size() == 1);
    CHECK(file->unreadable.empty());
    CHECK_FALSE(file->records.front().gpus.has_value());
}

TEST_CASE("null means not stated, and unknown members are nobody's fault")
{
    const auto file = read(R"([{"id": "a", "micro_batch": null, "recompute": null,
                               "parallel": null, "weather": "fine"}])");
    REQUIRE(file.has_value());
    REQUIRE(file->records.size() == 1);
    CHECK_FALSE(file->records.front().micro_batch.has_value());
}

TEST_CASE("a bad record is reported with line and pointer and leaves the good ones alone")
{
    const auto file = read("[\n"
                           "{\"id\": \"good\"},\n"
                           "{\"id\": \"bad\",\n"
                           " \"n_gpus\": \"eight\",\n"
                           " \"model\": {\"layers\": 2.5, \"heads\": -3}},\n"
                           "17]");
    REQUIRE(file.has_value());
    CHECK(file->records.size() == 1);
    REQUIRE(file->unreadable.size() == 2);
    const UnreadableRecord& bad = file->unreadable.front();
    CHECK(bad.id == "bad");
    REQUIRE(bad.problems.size() == 3);
    CHECK(bad.problems[0].pointer == "/1/n_gpus");
    CHECK(bad.problems[0].line == 4);
    CHECK(bad.problems[0].file == "runs.json");
    CHECK_THAT(bad.problems[1].message, ContainsSubstring("whole number"));
    CHECK_THAT(bad.problems[2].message, ContainsSubstring("out of range"));
    CHECK(file->unreadable.back().id == "#2");
}

TEST_CASE("a record may say as a scenario what ran, and a wrong scenario makes it unreadable")
{
    const auto file = read(R"([
        {"id": "own", "scenario": {"model": {"file": "m.json"}, "training": {"global_batch": 8},
                                   "topology": "t.json", "profile": "p.json"}},
        {"id": "wrong", "scenario": {"model": {"file": "m.json"}, "training": {"global_batch": 8},
                                     "topology": "t.json",
                                     "profil": "p.json"}},
        {"id": "silent", "scenario": null}])");
    REQUIRE(file.has_value());
    REQUIRE(file->records.size() == 2);
    CHECK(file->records[0].scenario.find("profile")->as_string() == "p.json");
    CHECK(file->records[0].file == "runs.json");
    CHECK(file->records[1].scenario.is_null());
    REQUIRE(file->unreadable.size() == 1);
    const UnreadableRecord& wrong = file->unreadable.front();
    CHECK(wrong.id == "wrong");
    REQUIRE(wrong.problems.size() == 1);
    CHECK(wrong.problems[0].pointer == "/1/scenario/profil");
    CHECK(wrong.problems[0].line == 6);
}

TEST_CASE("a whole number may be written with a point")
{
    const auto file = read(R"([{"id": "a", "global_batch": 512.0}])");
    REQUIRE(file.has_value());
    REQUIRE(file->records.size() == 1);
    CHECK(file->records.front().global_batch == 512);
}

TEST_CASE("what is no list of records is refused as a whole")
{
    const char* texts[] = {"17",
                           "\"records\"",
                           "{}",
                           "[]",
                           "[1, 2]",
                           R"({"records": 3})",
                           R"({"format": "trainyard.scenario/1", "model": {}})",
                           "[[]]",
                           "null"};
    for (const char* text : texts) {
        INFO(text);
        const auto file = read(text);
        REQUIRE_FALSE(file.has_value());
        CHECK(file.error().size() == 1);
        CHECK(file.error().front().file == "runs.json");
    }
}
