// What holds of every algorithm of collectives, whichever there are.

#include "sim/cost/algorithms/algorithm.h"
#include "tests/unit/cost/support.h"

#include <algorithm>
#include <functional>
#include <set>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

// Calls visit(kind, shape, lines) for groups of 2 to 128 ranks with all that algorithms may need,
// as changed by `change`.
void over_shapes(const std::function<void(GroupShape&)>& change,
                 const std::function<void(CollectiveKind, const GroupShape&,
                                          const std::vector<TimeLine>&)>& visit)
{
    const Profile profile = assembled("H100");
    const Hardware& hardware = profile.hardware;
    for (const int per_domain : {1, 2, 4, 8})
        for (const int domains : {1, 2, 3, 16}) {
            GroupShape shape = whole_domains(profile, per_domain, domains, per_domain, 50_GBps);
            shape.network.in_network_reduction = true;
            change(shape);
            for (const auto& [kind, name] : enum_names<CollectiveKind>())
                if (shape.ranks > 1) {
                    INFO(name << " over " << domains << " domains of " << per_domain);
                    visit(kind, shape,
                          time_lines(kind, shape,
                                     {&hardware.fabric, &hardware.network, &hardware.collectives}));
                }
        }
}

void as_it_is(GroupShape&) {}

} // namespace

TEST_CASE("an algorithm is known by one name, and a word of NCCL_ALGO means one algorithm")
{
    std::set<std::string_view> names;
    for (const Algorithm* algorithm : all_algorithms())
        CHECK(names.insert(algorithm->name).second);
    std::set<std::string_view> words;
    for (const auto& [word, algorithm] : nccl_algorithm_words())
        CHECK(words.insert(word).second);
}

TEST_CASE("each algorithm serves some collective of some group, and only what it has a form for")
{
    std::set<const Algorithm*> serving;
    over_shapes(as_it_is, [&](CollectiveKind kind, const GroupShape& shape, const auto& lines) {
        for (const TimeLine& line : lines) {
            serving.insert(line.algorithm);
            const Algorithm& of = *line.algorithm;
            CHECK((shape.domains > 1 ? of.across : of.inside).at(kind) != nullptr);
        }
    });
    const auto all = all_algorithms();
    CHECK(serving == std::set<const Algorithm*>(all.begin(), all.end()));
}

TEST_CASE("whatever an algorithm does takes time at once and more with every byte")
{
    over_shapes(as_it_is, [](CollectiveKind, const GroupShape&, const auto& lines) {
        for (const TimeLine& line : lines) {
            INFO(line.algorithm->name);
            CHECK(line.alpha > Seconds(0));
            CHECK(line.beta > 0);
        }
    });
}

TEST_CASE("every collective goes without switches that add, and then nothing counts on them")
{
    const auto without = [](GroupShape& shape) {
        shape.in_switch_reduction = shape.network.in_network_reduction = false;
    };
    const auto adds_on_ranks = [](const TimeLine& line) {
        return line.algorithm->sums == Sums::on_ranks;
    };
    over_shapes(without, [&](CollectiveKind, const GroupShape&, const auto& lines) {
        CHECK_FALSE(lines.empty());
        CHECK(std::ranges::all_of(lines, adds_on_ranks));
    });
    over_shapes(as_it_is, [&](CollectiveKind, const GroupShape&, const auto& lines) {
        CHECK(std::ranges::any_of(lines, adds_on_ranks));
    });
}

TEST_CASE("an algorithm asked for is taken where it serves")
{
    over_shapes(as_it_is, [](CollectiveKind, const GroupShape&, const auto& lines) {
        for (const TimeLine& wanted : lines) {
            NcclSettings settings;
            settings.algorithms = {wanted.algorithm};
            for (const TimeLine& line : settings.allowed(lines))
                CHECK(line.algorithm == wanted.algorithm);
        }
    });
}

TEST_CASE("what NVSwitches add goes over their links, and nothing else does")
{
    for (const Algorithm* algorithm : all_algorithms()) {
        INFO(algorithm->name);
        CHECK((algorithm->sums == Sums::in_nvswitches) ==
              (algorithm->pattern == TrafficPattern::nvls));
    }
}
