// What a store keeps of plans, and shards of a plan put together again.

#include "sim/base/files.h"
#include "sim/study/session.h"
#include "sim/study/store/shards.h"
#include "sim/study/store/stored_points.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/folder.h"
#include "tests/unit/study/swept.h"

#include <atomic>

using namespace trainyard;

namespace {

SearchBase dense_base()
{
    return search_base(shipped("llama3-8b-h100-8.json", {{"training.global_batch", "16"}})).value();
}

SearchRequest dense_request(const SearchBase& base)
{
    SearchRequest request;
    request.space = usual_space(base.file.scenario, base.facts);
    for (const char* axis :
         {"strategy.vpp=1,2", "strategy.schedule=1f1b,zb-v", "training.recompute=none,full:2,full"})
        REQUIRE(restrict(request.space, parse_axis(axis).value()).empty());
    request.top = 3;
    request.threads = 1;
    return request;
}

void check_same(const PossibleLayouts& a, const PossibleLayouts& b)
{
    REQUIRE(a.layouts.size() == b.layouts.size());
    for (std::size_t i = 0; i < a.layouts.size(); ++i) {
        CHECK(a.layouts[i].choice == b.layouts[i].choice);
        CHECK(a.layouts[i].number == b.layouts[i].number);
        CHECK(a.layouts[i].least.time == b.layouts[i].least.time);
        CHECK(a.layouts[i].least.memory == b.layouts[i].least.memory);
    }
    REQUIRE(a.excluded.size() == b.excluded.size());
    for (const auto& [why, count] : a.excluded) {
        CHECK(b.excluded.at(why).points == count.points);
        CHECK(b.excluded.at(why).example == count.example);
        CHECK(b.excluded.at(why).first == count.first);
    }
    REQUIRE(a.nearest.has_value() == b.nearest.has_value());
    if (a.nearest)
        CHECK(a.nearest->memory == b.nearest->memory);
}

void check_same(const SearchResult& a, const SearchResult& b)
{
    REQUIRE(a.best.size() == b.best.size());
    for (std::size_t i = 0; i < a.best.size(); ++i) {
        CHECK(a.best[i].choice == b.best[i].choice);
        CHECK(a.best[i].step_time == b.best[i].step_time);
    }
    CHECK(a.points == b.points);
    CHECK(a.possible == b.possible);
    CHECK(a.simulated == b.simulated);
    REQUIRE(a.excluded.size() == b.excluded.size());
    for (const auto& [why, count] : a.excluded)
        CHECK(b.excluded.at(why).points == count.points);
}

// Counts what it is asked to simulate.
class CountedPoints final : public Points {
public:
    explicit CountedPoints(Points& source) : source_(source) {}
    int at_once() const override { return source_.at_once(); }
    PointFacts facts(const LayoutChoice& choice, const PointLimits& limits,
                     const std::optional<PointFacts>& known) override
    {
        simulated += known ? 0 : 1;
        return source_.facts(choice, limits, known);
    }

    std::atomic<int> simulated = 0;

private:
    Points& source_;
};

// A search of the share in front of which a store stands; how many points it simulated.
int search_into(const std::string& path, const SearchBase& base, const SearchRequest& request,
                const SpaceShare& share = {})
{
    PlanStore store(path, DatabaseAccess::write);
    Session session;
    EnginePoints engine(base, session, nullptr, 1);
    CountedPoints counted(engine);
    StoredPoints points(base, {&store}, &store, counted);
    const PossibleLayouts found =
        possible_layouts(request.space, base, room_of(base, request), {}, share);
    const std::int64_t row = store.keep_bounds(
        {0, Questions(base).plan(request), share.shard, share.shards, {}}, {}, found, base.facts);
    best_of(found, base, request, points);
    store.finish(row, request.top, "");
    return counted.simulated;
}

std::string thrown(const std::string& path, DatabaseAccess access)
{
    try {
        const PlanStore store(path, access);
    } catch (const WorldError& error) {
        return error.message;
    }
    return {};
}

std::vector<std::unique_ptr<PlanStore>> opened(const std::vector<std::string>& paths)
{
    std::vector<std::unique_ptr<PlanStore>> out;
    for (const std::string& path : paths)
        out.push_back(std::make_unique<PlanStore>(path, DatabaseAccess::read));
    return out;
}

} // namespace

TEST_CASE("shares of a space are the space, however many")
{
    for (const char* scenario : {"llama3-8b-h100-8.json", "mixtral-8x7b-ep8-h100-64.json"}) {
        const SearchBase base =
            search_base(shipped(scenario, {{"training.global_batch", "64"}})).value();
        SearchSpace space = usual_space(base.file.scenario, base.facts);
        REQUIRE(restrict(space, parse_axis("strategy.vpp=1,2").value()).empty());
        REQUIRE(restrict(space, parse_axis("training.recompute=none").value()).empty());
        REQUIRE(restrict(space, parse_axis("training.micro_batch=1,2").value()).empty());
        const Bytes room = scaled(device_memory(base.parts.cost->profile()).capacity, 0.7);
        const PossibleLayouts whole = possible_layouts(space, base, room, {});
        CHECK(whole.points() == space.points());
        for (const auto& [shards, lanes] : {std::pair(1, 2), std::pair(3, 1), std::pair(4, 3)}) {
            std::vector<PossibleLayouts> parts;
            for (int shard = 0; shard < shards; ++shard)
                parts.push_back(
                    possible_layouts(space, base, room, {}, {shard, shards, 0, lanes}, lanes));
            check_same(together(std::move(parts)), whole);
        }
    }
}

TEST_CASE("a store gives back what is known of a point")
{
    const testing::Folder folder;
    const std::string path = (folder.path() / "plan.db").string();
    const SearchBase base = dense_base();
    LayoutChoice choice{.tp = 2, .schedule = find_schedule("1f1b")};
    choice.recompute = {Recompute::full, 3};
    const PointFacts timed{
        PointFacts::Kind::timed, Seconds(0.1 + 0.2), Bytes(1ULL << 36), Bytes(5), Bytes(7), ""};
    const PointFacts large{PointFacts::Kind::too_large, {}, Bytes(9), Bytes(8), {}, ""};
    const PointFacts refused{PointFacts::Kind::refused, {}, {}, {}, {}, "/strategy/pp"};
    {
        PlanStore store(path, DatabaseAccess::write);
        store.put("a", choice, 4, timed);
        store.put("b", choice, 4, large);
        store.put("c", choice, 4, refused);
        store.commit();
        CHECK(store.find("a") == timed);
    }
    PlanStore store(path, DatabaseAccess::read);
    CHECK(store.find("a") == timed);
    CHECK(store.find("b") == large);
    CHECK(store.find("c") == refused);
    CHECK_FALSE(store.find("d"));
}

TEST_CASE("points that a store has are not simulated again, whatever plan asks")
{
    const testing::Folder folder;
    const std::string path = (folder.path() / "plan.db").string();
    const SearchBase base = dense_base();
    SearchRequest request = dense_request(base);
    const int first = search_into(path, base, request);
    CHECK(first > 3);
    CHECK(search_into(path, base, request) == 0);
    request.top = 2;
    CHECK(search_into(path, base, request) == 0);
    REQUIRE(restrict(request.space, parse_axis("strategy.tp=2").value()).empty());
    CHECK(search_into(path, base, request) < first / 2);
    const SearchBase longer =
        search_base(shipped("llama3-8b-h100-8.json", {{"training.global_batch", "16"},
                                                      {"training.sequence_length", "4096"}}))
            .value();
    CHECK(search_into(path, longer, dense_request(longer)) > 3);
}

TEST_CASE("shards put together give the result of one search and simulate nothing more")
{
    const testing::Folder folder;
    const SearchBase base = dense_base();
    const SearchRequest request = dense_request(base);
    std::vector<std::string> paths;
    for (int shard = 0; shard < 3; ++shard) {
        paths.push_back((folder.path() / std::to_string(shard)).string());
        search_into(paths.back(), base, request, {shard, 3});
    }
    const std::vector<std::unique_ptr<PlanStore>> stores = opened(paths);
    const std::string question = Questions(base).plan(request);
    const PossibleLayouts merged = merged_bounds(stores, question, 3).value();
    check_same(merged, possible_layouts(request.space, base, room_of(base, request), {}));
    Session session;
    EnginePoints engine(base, session, nullptr, 1);
    CountedPoints counted(engine);
    StoredPoints points(base, {stores[0].get(), stores[1].get(), stores[2].get()}, nullptr,
                        counted);
    check_same(best_of(merged, base, request, points), search(base, request, session));
    CHECK(counted.simulated == 0);

    const auto refusal = [&](const std::vector<std::string>& files, const std::string& of,
                             std::size_t shown) {
        const Checked<PossibleLayouts> out = merged_bounds(opened(files), of, shown);
        return out ? std::string() : out.error().back().message;
    };
    CHECK(refusal({paths[0], paths[2]}, question, 3) == "of 3 shards these are missing: 2");
    CHECK(refusal({paths[0], paths[1], paths[2], paths[1]}, question, 3) ==
          "shard 2/3 is in " + paths[1] + " too");
    CHECK(refusal({paths[0]}, "another", 3) == "holds no shard of this plan");
    CHECK(refusal({paths[0]}, question, 4) == "shard 1/3 was made with --top 3");
}

TEST_CASE("files that are no store of this program are refused and left as they are")
{
    const testing::Folder folder;
    const std::string good = (folder.path() / "good.db").string();
    search_into(good, dense_base(), dense_request(dense_base()));
    const std::string whole = read_file(good);
    const auto with = [&](std::size_t at, std::string_view bytes) {
        return std::string(whole).replace(at, bytes.size(), bytes);
    };
    std::string other = whole;
    const std::size_t at = other.find(program_name());
    REQUIRE(at != std::string::npos);
    other.replace(at, 5, "9.9.9");
    const std::vector<std::pair<std::string, std::string>> files = {
        {"no database at all", "no store of plans"},
        {with(68, "FOSS"), "no store of plans"},
        {with(60, std::string_view("\0\0\0\7", 4)), "another version of trainyard (schema 7"},
        {whole.substr(0, whole.size() / 2), "is damaged"},
        {other, "results of another trainyard (9.9.9"}};
    for (const auto& [content, says] : files) {
        INFO(says);
        const std::string path = folder.file("bad.db", content);
        for (const DatabaseAccess access : {DatabaseAccess::write, DatabaseAccess::read}) {
            CHECK(thrown(path, access).find(says) != std::string::npos);
            CHECK(read_file(path) == content);
        }
        CHECK(folder.entries() == 2);
    }
    CHECK(thrown(folder.path().string(), DatabaseAccess::write).find("is a folder") !=
          std::string::npos);
    CHECK(thrown((folder.path() / "none" / "a.db").string(), DatabaseAccess::write)
              .find("there is no folder") != std::string::npos);
}

TEST_CASE("a full disk is told, and what was committed before stays")
{
    const testing::Folder folder;
    const std::string path = (folder.path() / "plan.db").string();
    const LayoutChoice choice{.schedule = find_schedule("1f1b")};
    {
        PlanStore store(path, DatabaseAccess::write);
        store.put("kept", choice, 1, {});
        store.commit();
        const testing::FileSizeLimit full(40'000);
        CHECK_THROWS_AS(
            [&] {
                for (int i = 0; i < 10'000; ++i)
                    store.put(std::to_string(i), choice, 1, {});
                store.commit();
            }(),
            WorldError);
    }
    PlanStore store(path, DatabaseAccess::write);
    CHECK(store.find("kept"));
}

TEST_CASE("a shard is named by its number and how many there are")
{
    CHECK(parse_shard("3/16") == ShardNumber{2, 16});
    CHECK(parse_shard("1/1") == ShardNumber{0, 1});
    for (const char* text : {"", "3", "0/4", "5/4", "1/", "/4", "1/4x", "-1/4", "a/b"})
        CHECK_FALSE(parse_shard(text));
}
