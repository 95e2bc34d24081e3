#include "calibrate/measure/discover/verdict.h"
#include "sim/base/random.h"
#include "tests/catch.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

using namespace trainyard;

namespace {

constexpr double nvlink = 382e9; // what one copy over NV18 reaches on an H100
constexpr double pcie = 52e9;

// A node: what each ordered pair reaches when it is measured for the n-th time.
struct Node {
    int gpus = 8;
    std::function<double(int from, int to)> rate = [](int, int) { return nvlink; };
    std::function<std::string(int, int)> word = [](int, int) { return std::string("NV18"); };
    double noise = 0.01; // standard deviation of a measurement
    std::vector<SharedPart> parts;
};

double measured(const Node& node, const OrderedPair& pair, std::uint64_t seed, int time)
{
    Random random(hash_key(seed, static_cast<std::uint64_t>(pair.from),
                           static_cast<std::uint64_t>(pair.to), static_cast<std::uint64_t>(time)));
    return node.rate(pair.from, pair.to) * (1 + node.noise * random.normal());
}

// The protocol: all pairs once, suspects twice more.
PairStudy study_of(const Node& node, std::uint64_t seed = 1)
{
    PairStudy out;
    const auto count = static_cast<std::size_t>(node.gpus);
    out.rates.assign(count, std::vector<std::optional<double>>(count));
    out.classes.assign(count, std::vector<std::string>(count, "X"));
    for (int a = 0; a < node.gpus; ++a) {
        out.names.push_back(fmt::format("GPU {}", a));
        for (int b = 0; b < node.gpus; ++b) {
            if (a == b)
                continue;
            out.classes[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = node.word(a, b);
            out.rates[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] =
                measured(node, {a, b}, seed, 0);
        }
    }
    out.parts = node.parts;
    for (const OrderedPair& pair : to_measure_again(out))
        out.again.push_back({pair, {measured(node, pair, seed, 1), measured(node, pair, seed, 2)}});
    return out;
}

const SlowVerdict& only_verdict(const PairVerdicts& found)
{
    REQUIRE(found.slow.size() == 1);
    return found.slow.front();
}

bool is(int a, int b, int from, int to)
{
    return a == from && b == to;
}

// Two PCIe switches with four GPUs each, two root ports, two CPUs; no NVLink.
NodeMap two_switches()
{
    NodeMap map;
    map.name = "node";
    const Bandwidth rate{63e9};
    map.switches = {{"cpu0", -1, {}}, {"cpu1", -1, {}}, {"switchA", 0, rate}, {"switchB", 1, rate}};
    for (int i = 0; i < 8; ++i)
        map.gpus.push_back({fmt::format("gpu{}", i), "h100_pcie_80", i < 4 ? 2 : 3, rate});
    return map;
}

Node pcie_node(const NodeMap& map)
{
    Node node;
    const Words classes = classes_of(map);
    node.word = [classes](int a, int b) {
        return classes[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
    };
    node.rate = [](int a, int b) { return a / 4 == b / 4 ? pcie : 0.6 * pcie; };
    node.parts = shared_parts(describe_node(map, std::nullopt));
    return node;
}

} // namespace

TEST_CASE("one slow direction of one pair blames the link, with numbers")
{
    Node node;
    node.rate = [](int a, int b) { return is(a, b, 3, 5) ? 121e9 : nvlink; };
    node.noise = 0;
    const PairStudy study = study_of(node);
    CHECK(to_measure_again(study) == std::vector<OrderedPair>{{3, 5}});
    const PairVerdicts found = verdicts(study);
    const SlowVerdict& verdict = only_verdict(found);
    CHECK(verdict.culprit == SlowKind::one_way);
    CHECK(verdict.what == "GPU 3 -> GPU 5");
    CHECK(verdict.evidence ==
          "121 GB/s; the 55 other NV18 pairs 382 GB/s median; measured again: 121, 121");
    CHECK_THAT(verdict.share, WithinRel(121.0 / 382, 1e-9));
    CHECK(found.recovered.empty());
}

TEST_CASE("a pair that is slow both ways is one verdict")
{
    Node node;
    node.rate = [](int a, int b) { return a + b == 8 && a * b == 15 ? 100e9 : nvlink; };
    const PairVerdicts found = verdicts(study_of(node));
    CHECK(only_verdict(found).culprit == SlowKind::both_ways);
    CHECK(only_verdict(found).what == "GPU 3 <-> GPU 5");
    CHECK(only_verdict(found).pairs.size() == 2);
}

TEST_CASE("a GPU is blamed when most of its row and column is low")
{
    const int gpus = GENERATE(3, 4, 8, 72);
    INFO(gpus);
    Node node;
    node.gpus = gpus;
    node.rate = [](int a, int b) { return a == 2 || b == 2 ? 0.5 * nvlink : nvlink; };
    const PairVerdicts found = verdicts(study_of(node));
    CHECK(only_verdict(found).culprit == SlowKind::gpu);
    CHECK(only_verdict(found).what == "GPU 2");
    CHECK(only_verdict(found).pairs.size() == 2 * static_cast<std::size_t>(gpus - 1));
    CHECK_THAT(only_verdict(found).evidence,
               StartsWith(fmt::format("{0} of its {0} pairs", 2 * (gpus - 1))));
}

TEST_CASE("a GPU that only sends slowly is blamed for sending")
{
    Node node;
    node.rate = [](int a, int) { return a == 6 ? 0.7 * nvlink : nvlink; };
    const PairVerdicts found = verdicts(study_of(node));
    CHECK(only_verdict(found).culprit == SlowKind::sending);
    CHECK(only_verdict(found).what == "GPU 6 sending");
}

TEST_CASE("a slow GPU and a slow link elsewhere are two verdicts, the larger first")
{
    Node node;
    node.rate = [](int a, int b) {
        return a == 1 || b == 1 ? 0.6 * nvlink : is(a, b, 4, 7) ? 0.3 * nvlink : nvlink;
    };
    const PairVerdicts found = verdicts(study_of(node));
    REQUIRE(found.slow.size() == 2);
    CHECK(found.slow[0].what == "GPU 1");
    CHECK(found.slow[1].what == "GPU 4 -> GPU 7");
}

TEST_CASE("a slow switch of a two-switch node is blamed, not the GPUs below it")
{
    Node node = pcie_node(two_switches());
    node.rate = [](int a, int b) {
        const double usual = a / 4 == b / 4 ? pcie : 0.6 * pcie;
        return a >= 4 || b >= 4 ? 0.5 * usual : usual; // every pair that crosses switch B
    };
    const PairVerdicts found = verdicts(study_of(node));
    CHECK(only_verdict(found).culprit == SlowKind::part);
    CHECK_THAT(only_verdict(found).what, StartsWith("switch switchB"));
    // Of the pairs between the CPUs all cross it: they tell nothing.
    CHECK(only_verdict(found).pairs.size() == 12);
}

TEST_CASE("a slow NIC is blamed when the GPU's pairs inside its node are sound")
{
    // Two nodes of four GPUs, NVLink inside, one NIC per GPU.
    Node node;
    const auto across = [](int a, int b) { return a / 4 != b / 4; };
    node.word = [across](int a, int b) { return across(a, b) ? "network" : "NV18"; };
    node.rate = [across](int a, int b) {
        return !across(a, b) ? nvlink : (a == 2 || b == 2) ? 20e9 : 48e9;
    };
    SharedPart nic{"NIC mlx5_2", {}};
    SharedPart leaf{"switch leaf", {}};
    for (int a = 0; a < 8; ++a)
        for (int b = 0; b < 8; ++b) {
            if (across(a, b) && (a == 2 || b == 2))
                nic.crossing.push_back({a, b});
            if (across(a, b))
                leaf.crossing.push_back({a, b});
        }
    node.parts = {leaf, nic};
    const PairVerdicts found = verdicts(study_of(node));
    CHECK(only_verdict(found).culprit == SlowKind::part);
    CHECK(only_verdict(found).what == "NIC mlx5_2");
    CHECK(only_verdict(found).pairs.size() == 8);
    CHECK_THAT(only_verdict(found).evidence, ContainsSubstring("24 other network pairs 48"));
}

TEST_CASE("a noisy but sound node is blamed for nothing")
{
    // Noise of 3 % and one measurement in fifty a third too low: a suspect has to be low three
    // times, which chance gives about 56 x 0.02^3 = 0.04 % of nodes.
    int blamed = 0;
    int suspected = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        Node node;
        node.noise = 0.03;
        std::uint64_t call = 0;
        node.rate = [&](int a, int b) {
            const std::uint64_t word = hash_key(seed, static_cast<std::uint64_t>(a),
                                                static_cast<std::uint64_t>(b), ++call);
            return to_unit_interval(word) < 0.02 ? 0.67 * nvlink : nvlink;
        };
        const PairVerdicts found = verdicts(study_of(node, seed));
        blamed += found.slow.empty() ? 0 : 1;
        suspected += found.recovered.empty() ? 0 : 1;
    }
    CHECK(blamed <= 5);     // 0.5 %
    CHECK(suspected > 500); // the bad measurements were there
}

TEST_CASE("noise beyond a tenth raises the bar instead of false alarms")
{
    int blamed = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        Node node;
        node.noise = 0.1;
        blamed += verdicts(study_of(node, seed)).slow.empty() ? 0 : 1;
    }
    CHECK(blamed <= 10); // 1 %
}

TEST_CASE("a slow link is found in noise")
{
    int found = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Node node;
        node.noise = 0.03;
        node.rate = [](int a, int b) { return is(a, b, 0, 7) ? 0.75 * nvlink : nvlink; };
        const PairVerdicts all = verdicts(study_of(node, seed));
        found += all.slow.size() == 1 && all.slow[0].what == "GPU 0 -> GPU 7" ? 1 : 0;
    }
    CHECK(found >= 195);
}

TEST_CASE("a suspect that recovers is no verdict but is told")
{
    Node node;
    node.noise = 0;
    PairStudy study = study_of(node);
    study.rates[3][5] = 121e9;
    study.again = {{{3, 5}, {380e9, 382e9}}};
    const PairVerdicts found = verdicts(study);
    CHECK(found.slow.empty());
    REQUIRE(found.recovered.size() == 1);
    CHECK(found.recovered[0] == "GPU 3 -> GPU 5 reached 121 GB/s once, 382 when measured again");
    study.again.clear();
    CHECK_THAT(verdicts(study).slow.at(0).evidence, EndsWith("not measured again"));
}

TEST_CASE("two GPUs: the slower direction is a link, equal ones are sound")
{
    Node node;
    node.gpus = 2;
    CHECK(verdicts(study_of(node)).slow.empty());
    node.rate = [](int a, int) { return a == 0 ? 0.4 * nvlink : nvlink; };
    const PairVerdicts found = verdicts(study_of(node));
    CHECK(only_verdict(found).what == "GPU 0 -> GPU 1");
    CHECK_THAT(only_verdict(found).evidence, ContainsSubstring("the other NV18 pair "));
}

TEST_CASE("equal values, single cells, missing cells and ragged rows are no cause for blame")
{
    Node node;
    node.noise = 0; // MAD 0
    CHECK(verdicts(study_of(node)).slow.empty());

    PairStudy study = study_of(node);
    study.classes[0][1] = "PIX"; // a class of one cell has nothing to be compared with
    study.rates[0][1] = 10e9;
    CHECK(verdicts(study).slow.empty());

    study.rates[2].clear();
    study.rates[4].resize(3);
    study.rates[5][6].reset();
    study.rates[6][5] = 0; // no measurement
    study.classes.resize(6);
    study.again = {{{70, 80}, {1.0}}};
    CHECK(verdicts(study).slow.empty());
    CHECK(verdicts({}).slow.empty());
}

TEST_CASE("a class at two levels by nature is judged at the higher one, one fast cell is no level")
{
    const SlowRule rule;
    // 1 of 6 twice as fast: the five are sound.
    const ClassLevel lone = level_of({1, 1, 1, 1, 1, 2}, rule);
    CHECK(lone.median == 1);
    CHECK_FALSE(is_slow(1, lone, rule));
    // Half at the lower level: slow.
    const ClassLevel half = level_of({1, 1, 1, 2, 2, 2}, rule);
    CHECK(half.median == 2);
    CHECK(is_slow(1, half, rule));
    // 0.91 of the median is not below 0.9 of it, whatever the MAD.
    CHECK_FALSE(is_slow(0.91, level_of({0.91, 1, 1, 1, 1, 1}, rule), rule));
    CHECK(is_slow(0.89, level_of({0.89, 1, 1, 1, 1, 1}, rule), rule));
    // A wide class: median 1, MAD 0.08, so that 0.8 is within 3 MAD.
    CHECK_FALSE(is_slow(0.8, level_of({0.8, 0.88, 0.92, 1, 1.05, 1.08, 1.15}, rule), rule));
}

TEST_CASE("verdicts do not depend on how ranks are numbered")
{
    Node node;
    node.rate = [](int a, int b) { return a == 1 || b == 1 ? 0.6 * nvlink : nvlink; };
    node.noise = 0;
    Node turned = node;
    turned.rate = [&node](int a, int b) { return node.rate(7 - a, 7 - b); };
    const PairVerdicts here = verdicts(study_of(node));
    const PairVerdicts there = verdicts(study_of(turned));
    CHECK(only_verdict(here).what == "GPU 1");
    CHECK(only_verdict(there).what == "GPU 6");
    CHECK(only_verdict(here).evidence == only_verdict(there).evidence);
}
