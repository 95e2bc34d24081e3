#include "calibrate/fit/fit_profile.h"
#include "calibrate/fit/fit_report.h"
#include "calibrate/fit/reference.h"
#include "calibrate/fit/table_text.h"
#include "calibrate/fit/tuner.h"
#include "sim/cost/cost_model.h"
#include "tests/catch.h"
#include "tests/support/folder.h"
#include "tests/unit/fit/support.h"

#include <algorithm>
#include <cmath>

using namespace trainyard;

namespace {

// A node of H100 that is `factor` times slower than a plain line.
Sweep node_sweep(double factor, int ranks = 8)
{
    Sweep out = made_sweep(1 << 10, 22,
                           [&](double size) { return factor * (20e-6 + 1.75 * size / 400e9); });
    out.source = "node.log";
    out.device = "NVIDIA H100 80GB HBM3";
    out.ranks = ranks;
    out.data_type = "bfloat16";
    out.nccl_version = "2.28.3";
    return out;
}

// The profile as a scenario gets it: written, then read.
Profile written_and_read(const FittedProfile& fitted)
{
    const testing::Folder folder;
    const Checked<ProfileFile> file =
        load_profile(folder.file("node.json", to_text(fitted.profile)));
    REQUIRE(file);
    return file->profile;
}

GroupShape group_of(int ranks)
{
    GroupShape out;
    out.ranks = out.ranks_per_domain = out.ranks_per_node = ranks;
    out.nvlink = Bandwidth(450e9);
    out.nvswitch = out.in_switch_reduction = true;
    out.gpus_per_node = 8;
    return out;
}

Seconds all_reduce_time_of(const Profile& profile, const GroupShape& group, Bytes size)
{
    return CostModel(profile)
        .collective(CollectiveKind::all_reduce, size, group, Backend::nccl)
        .total;
}

Seconds all_reduce_time(const Profile& profile, int ranks, Bytes size)
{
    return all_reduce_time_of(profile, group_of(ranks), size);
}

} // namespace

TEST_CASE("a profile made of a log predicts the log's times")
{
    for (const double factor : {1.0, 3.0}) {
        const std::vector<Sweep> sweeps{node_sweep(factor)};
        const Checked<FittedProfile> fitted = fit_profile(sweeps, {.name = "node"});
        REQUIRE(fitted);
        const Profile profile = written_and_read(*fitted);
        const double in_situ = profile.hardware.fabric.in_situ;
        for (const SweepRow& row : sweeps[0].rows)
            CHECK_THAT(all_reduce_time(profile, 8, row.size).value(),
                       WithinRel(in_situ * row.out_of_place->time.value(), 1e-6));
    }
}

TEST_CASE("what no log covers follows the measured machine through the closed form")
{
    const std::vector<Sweep> fast{node_sweep(3)};
    const std::vector<Sweep> slow{node_sweep(9)};
    const Profile a = written_and_read(*fit_profile(fast, {.name = "a"}));
    const Profile b = written_and_read(*fit_profile(slow, {.name = "b"}));
    const auto broadcast = [](const Profile& profile, Bytes size) {
        return CostModel(profile)
            .collective(CollectiveKind::broadcast, size, group_of(8), Backend::nccl)
            .total;
    };
    for (const Bytes size : {Bytes(4096), Bytes(1U << 30)})
        CHECK_THAT(broadcast(b, size) / broadcast(a, size), WithinRel(3.0, 0.05));
}

TEST_CASE("published times stand in on a machine like the published ones, on no other")
{
    const auto gathers_as_shipped = [](double factor) {
        Sweep sweep = node_sweep(1);
        const Profile shipped = load_profile("h100-sxm-ndr400")->profile;
        for (SweepRow& row : sweep.rows)
            row.out_of_place->time =
                factor / shipped.hardware.fabric.in_situ * all_reduce_time(shipped, 8, row.size);
        const Profile own =
            written_and_read(*fit_profile(std::vector<Sweep>{sweep}, {.name = "node"}));
        const auto gather = [](const Profile& profile) {
            return CostModel(profile)
                .collective(CollectiveKind::all_gather, Bytes(1 << 26), group_of(8), Backend::nccl)
                .total;
        };
        return gather(own) / gather(shipped);
    };
    CHECK(gathers_as_shipped(1) == 1);
    CHECK(gathers_as_shipped(3) > 2.5);
}

TEST_CASE("sweeps of two libraries give tables of each, and estimates from neither together")
{
    Sweep gloo = node_sweep(50, 2);
    gloo.backend = Backend::gloo;
    const std::vector<Sweep> sweeps{node_sweep(1, 8), gloo};
    const Checked<FittedProfile> fitted = fit_profile(sweeps, {.name = "node"});
    REQUIRE(fitted);
    CHECK(std::ranges::none_of(
        fitted->tables, [](const KnotTable& table) { return table.grade == Grade::extrapolated; }));
    const CostModel model(written_and_read(*fitted));
    const Bytes size(1 << 20);
    const double in_situ = model.profile().hardware.fabric.in_situ;
    const auto total = [&](int ranks, Backend backend) {
        return model.collective(CollectiveKind::all_reduce, size, group_of(ranks), backend)
            .total.value();
    };
    const double alone = 20e-6 + 1.75 * 1048576 / 400e9;
    CHECK_THAT(total(2, Backend::gloo), WithinRel(50 * alone, 1e-6));
    CHECK_THAT(total(8, Backend::nccl), WithinRel(in_situ * alone, 1e-6));
}

TEST_CASE("measured tables are graded measured, estimated ones never")
{
    const std::vector<Sweep> sweeps{node_sweep(0.6, 2), node_sweep(1, 8)};
    const Checked<FittedProfile> fitted = fit_profile(sweeps, {.name = "node"});
    REQUIRE(fitted);
    int estimated = 0;
    for (const KnotTable& table : fitted->tables) {
        const bool measured = table.ranks_per_domain != 4;
        CHECK((table.grade == Grade::measured) == measured);
        CHECK(table.raw.samples.empty() == !measured);
        estimated += measured ? 0 : 1;
    }
    CHECK(estimated == 1);
    const Profile profile = written_and_read(*fitted);
    const Bytes size(1 << 20);
    CHECK(all_reduce_time(profile, 4, size) > all_reduce_time(profile, 2, size));
    CHECK(all_reduce_time(profile, 4, size) < all_reduce_time(profile, 8, size));
}

TEST_CASE("more domains than were measured cost more, and the measured ones stay")
{
    Sweep two = node_sweep(2, 16);
    two.nodes = 2;
    const Checked<FittedProfile> fitted =
        fit_profile(std::vector<Sweep>{two}, {.name = "nodes", .network = "ib-ndr"});
    REQUIRE(fitted);
    std::map<int, const KnotTable*> tables;
    for (const KnotTable& table : fitted->tables)
        if (!table.in_place)
            tables[table.domains] = &table;
    REQUIRE(tables.count(4));
    CHECK(tables.at(2)->grade == Grade::measured);
    CHECK(tables.at(4)->grade == Grade::extrapolated);
    const Bytes small(1024);
    CHECK(time_at(tables.at(4)->samples, small) > time_at(tables.at(2)->samples, small));
    CHECK(time_at(tables.at(64)->samples, small) > time_at(tables.at(4)->samples, small));
    const auto width = [&](int domains) {
        const Knot& knot = tables.at(domains)->samples.knots.front();
        return knot.high / knot.time;
    };
    CHECK(width(2) < width(4));
    CHECK(width(4) < width(64));
}

TEST_CASE("a profile's report is that of its logs")
{
    std::vector<Sweep> sweeps{node_sweep(1)};
    double bend = 1;
    for (SweepRow& row : sweeps[0].rows) {
        bend = 2.05 - bend; // 1, 1.05, 1, ...
        row.out_of_place->time *= bend;
        row.in_place.reset();
    }
    const Profile profile = written_and_read(*fit_profile(sweeps, {.name = "node"}));
    const FitReport of_profile = report_on(measured_sweeps(profile));
    const FitReport of_logs = report_on(sweeps);
    REQUIRE(of_profile.fits.size() == 1);
    CHECK_THAT(of_profile.summary.loo_median, WithinRel(of_logs.summary.loo_median, 1e-6));
    CHECK(of_logs.summary.loo_median > 0.02);
}

TEST_CASE("the environment of the logs is kept")
{
    std::vector<Sweep> sweeps{node_sweep(1)};
    sweeps[0].variables["NCCL_IB_HCA"] = "mlx5";
    const Profile profile =
        written_and_read(*fit_profile(sweeps, {.name = "node", .date = "2026-01-02"}));
    const Environment& kept = profile.installation.environment;
    CHECK(kept.nccl == "2.28.3");
    CHECK(kept.date == "2026-01-02");
    CHECK(kept.variables.at("NCCL_IB_HCA") == "mlx5");
    Environment used;
    used.variables["NCCL_IB_HCA"] = "mlx5";
    CHECK(differences(kept, used).empty());
    used.nccl = "2.29.1";
    used.variables.clear();
    CHECK(differences(kept, used).size() == 2);
}

TEST_CASE("logs of two kinds of machine are refused, and logs of none ask which it was")
{
    std::vector<Sweep> sweeps{node_sweep(1), node_sweep(1)};
    sweeps[1].device = "NVIDIA A100-SXM4-80GB";
    const Checked<FittedProfile> mixed = fit_profile(sweeps, {.name = "node"});
    REQUIRE_FALSE(mixed);
    CHECK(mixed.error().front().message.find("several devices") != std::string::npos);
    sweeps.pop_back();
    sweeps[0].device.clear();
    const Checked<FittedProfile> unknown = fit_profile(sweeps, {.name = "node"});
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().front().hint.find("--device") != std::string::npos);
    CHECK(fit_profile(sweeps, {.name = "node", .device = "H100"}));
    CHECK_FALSE(fit_profile({}, {.name = "node"}));
}

TEST_CASE("times that the device's links cannot give are refused, whatever the log calls itself")
{
    const std::vector<Sweep> sweeps{node_sweep(0.3)}; // 1,300 GB/s over 450
    const Checked<FittedProfile> fitted = fit_profile(sweeps, {.name = "node"});
    REQUIRE_FALSE(fitted);
    CHECK(fitted.error().front().message.find("more than the links") != std::string::npos);
}

TEST_CASE("times a thousand times too long are refused, tenfold ones doubted")
{
    const Checked<FittedProfile> off = fit_profile(std::vector<Sweep>{node_sweep(1000)}, {});
    REQUIRE_FALSE(off);
    CHECK_THAT(off.error()[0].message, Catch::Matchers::Contains("times as long as published"));
    const Checked<FittedProfile> slow = fit_profile(std::vector<Sweep>{node_sweep(30)}, {});
    REQUIRE(slow);
    CHECK(std::ranges::any_of(slow->found, [](const std::string& found) {
        return found.find("times as long as published") != std::string::npos;
    }));
}

TEST_CASE("launches that are no two of one machine are refused, and doubted where they may be")
{
    const auto fitted = [](double factor) {
        return fit_profile(std::vector<Sweep>{node_sweep(1), node_sweep(factor)}, {});
    };
    CHECK(fitted(1.1));
    const Checked<FittedProfile> doubtful = fitted(1.4);
    REQUIRE(doubtful);
    CHECK(std::ranges::any_of(doubtful->found, [](const std::string& found) {
        return found.find("off each other") != std::string::npos;
    }));
    const Checked<FittedProfile> unlike = fitted(3);
    REQUIRE_FALSE(unlike);
    CHECK_THAT(unlike.error()[0].message, Catch::Matchers::Contains("off each other"));
}

TEST_CASE("a network is scaled only as far as its logs gain by it")
{
    // An all-reduce over two domains as shipped, but for 5 % that come and go.
    const auto across = [](double factor) {
        const Profile shipped = load_profile("h100-sxm-ndr400")->profile;
        GroupShape group = group_of(16);
        group.ranks_per_domain = group.ranks_per_node = 8;
        group.domains = group.nodes = 2;
        group.network.name = shipped.hardware.network.name;
        group.network.transport = Transport::infiniband;
        group.network.nics = 8;
        group.network.nic_rate = Bandwidth(50e9);
        Sweep sweep = node_sweep(1, 16);
        sweep.nodes = 2;
        int i = 0;
        for (SweepRow& row : sweep.rows)
            row.out_of_place->time = (++i % 2 == 0 ? 1.05 : 0.95) * factor /
                                     shipped.hardware.network.in_situ *
                                     all_reduce_time_of(shipped, group, row.size);
        const FittedProfile own = *fit_profile(std::vector<Sweep>{sweep}, {.name = "node"});
        return written_and_read(own).hardware.network.efficiency /
               shipped.hardware.network.efficiency;
    };
    CHECK(across(1) == 1);
    CHECK(across(4) < 0.4);
}

TEST_CASE("a sweep of one size is left out aloud")
{
    std::vector<Sweep> sweeps{node_sweep(1), node_sweep(1, 4)};
    sweeps[1].rows.resize(1);
    sweeps[1].source = "short.log";
    const Checked<FittedProfile> fitted = fit_profile(sweeps, {.name = "node"});
    REQUIRE(fitted);
    CHECK(std::find(fitted->found.begin(), fitted->found.end(),
                    "left out: short.log has 1 usable size") != fitted->found.end());
}

TEST_CASE("a forced algorithm that beats NCCL's choice becomes a tuner line over its sizes")
{
    Sweep chosen =
        made_sweep(1 << 10, 14, [](double size) { return 1e-6 * std::pow(size / 1024, 0.7); });
    Sweep forced = chosen;
    forced.algorithm = "Ring";
    forced.protocol = "LL128";
    for (SweepRow& row : forced.rows)
        if (row.size >= Bytes(1 << 16) && row.size <= Bytes(1 << 20))
            row.out_of_place->time *= 0.65; // still growing: 0.65 x 2^0.7 > 1
    const std::vector<KnotTable> tables = tables_of(std::vector<Sweep>{chosen, forced}, {});
    const TunerAdvice advice = tuner_advice(tables);
    REQUIRE(advice.lines.size() == 1);
    CHECK(advice.lines[0].min_size == Bytes(1 << 16));
    CHECK(advice.lines[0].max_size == Bytes(1 << 20));
    CHECK_THAT(advice.lines[0].gain, WithinRel(1 / 0.65, 1e-6));
    CHECK(tuner_csv(advice.lines).find("\nallreduce,65536,1048576,ring,ll128,-1,1,8,-1,-1\n") !=
          std::string::npos);
}

TEST_CASE("a forced algorithm within the noise of NCCL's choice is no advice")
{
    Sweep forced = node_sweep(0.98);
    forced.algorithm = "Tree";
    forced.protocol = "Simple";
    const std::vector<KnotTable> tables = tables_of(std::vector<Sweep>{node_sweep(1), forced}, {});
    CHECK(tuner_advice(tables).lines.empty());
}

TEST_CASE("published figures stand as published, and a node half as fast is slower")
{
    std::vector<Sweep> published;
    for (const double factor : {0.97, 1.0, 1.03, 1.01})
        published.push_back(node_sweep(factor));
    const std::vector<ReferenceGroup> reference = reference_of(published);
    REQUIRE(reference.size() == 1);
    CHECK(reference[0].device == "H100-SXM5-80GB");
    const auto verdicts = [&](double factor) {
        const std::vector<KnotTable> tables = tables_of(std::vector<Sweep>{node_sweep(factor)}, {});
        const auto standings = compare_with(tables, "H100-SXM5-80GB", reference);
        REQUIRE(!standings.empty());
        return standings[0].bands;
    };
    for (const BandStanding& band : verdicts(1.0))
        CHECK(band.standing == Standing::as_published);
    for (const BandStanding& band : verdicts(2.0)) {
        CHECK(band.standing == Standing::slower);
        CHECK_THAT(band.ratio, WithinRel(2.0, 0.03));
    }
    for (const BandStanding& band : verdicts(0.5))
        CHECK(band.standing == Standing::faster);
}

TEST_CASE("published figures read as they were written")
{
    const std::vector<Sweep> published{node_sweep(1), node_sweep(1.1)};
    const std::vector<ReferenceGroup> reference = reference_of(published);
    const auto read = read_reference(to_json(reference), "reference.json");
    REQUIRE(read);
    REQUIRE(read->size() == 1);
    CHECK(read->front().sweeps == 2);
    REQUIRE(read->front().sizes.size() == reference[0].sizes.size());
    CHECK_THAT(read->front().sizes[3].high.value(),
               WithinRel(reference[0].sizes[3].high.value(), 1e-4));
}

TEST_CASE("a file of tables has a line per row and holds the same")
{
    Json json = Json::object();
    json["name"] = "a [ \"b\" ] {";
    for (int i = 0; i < 2; ++i) {
        Json row = Json::array();
        row.push_back(i);
        row.push_back("x,\n [y]");
        json["rows"].push_back(row);
    }
    json["none"] = Json::array();
    const std::string text = table_text(json);
    const auto read = parse_json(text, "test");
    REQUIRE(read);
    CHECK(*read == json);
    CHECK(std::count(text.begin(), text.end(), '\n') == 8);
    CHECK(text.find("[1, \"x,\\n [y]\"]") != std::string::npos);
}
