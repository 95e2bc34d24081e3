#include "calibrate/fit/fabric_fit.h"
#include "sim/cost/collective_form.h"
#include "sim/cost/profile_library.h"
#include "tests/catch.h"
#include "tests/unit/fit/support.h"

#include <algorithm>

using namespace trainyard;

namespace {

// Sweeps whose times are those of the closed form with the constants of `fabric`.
std::vector<Sweep> sweeps_made_of(const FabricClass& fabric)
{
    const CollectiveForm form;
    std::vector<Sweep> out;
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::all_to_all})
        for (const int ranks : {2, 4, 8}) {
            GroupShape shape;
            shape.ranks = shape.ranks_per_domain = ranks;
            shape.nvlink = Bandwidth(450e9);
            shape.in_switch_reduction = true;
            const auto lines = time_lines(kind, shape, {&fabric, nullptr, &form});
            out.push_back(made_sweep(512, 24, [&](double size) {
                const Bytes bytes(static_cast<std::uint64_t>(size));
                return lowest(lines, bytes).at(bytes).value();
            }));
            out.back().collective = kind;
            out.back().ranks = ranks;
            out.back().data_type = "half";
        }
    return out;
}

} // namespace

TEST_CASE("the constants that made a fabric's times are found again")
{
    const auto profile = load_profile("h100-sxm-ndr400");
    REQUIRE(profile);
    const FabricClass& fabric = profile->profile.hardware.fabric;
    const std::vector<Sweep> made = sweeps_made_of(fabric);
    std::vector<FabricSweep> sweeps;
    for (const Sweep& sweep : made)
        sweeps.push_back({&sweep, Bandwidth(450e9), true});
    const FabricFit fit = fit_fabric(sweeps);
    CHECK(fit.sweeps == 9);
    CHECK(fit.error < 0.01);
    const auto value = [&](const char* path) {
        const auto found =
            std::find_if(fit.constants.begin(), fit.constants.end(),
                         [&](const FittedConstant& one) { return one.path == path; });
        REQUIRE(found != fit.constants.end());
        CHECK(found->low < found->value);
        CHECK(found->value <= found->high);
        return found->value;
    };
    CHECK_THAT(value("base_ll"), WithinRel(fabric.base_ll.value(), 0.05));
    CHECK_THAT(value("hop_ll"), WithinRel(fabric.hop_ll.value(), 0.05));
    CHECK_THAT(value("efficiency_ll128"), WithinRel(fabric.efficiency_ll128, 0.05));
    CHECK_THAT(value("nvls_efficiency"), WithinRel(fabric.nvls_efficiency, 0.02));
    CHECK_THAT(value("nvls_per_rank"), WithinRel(fabric.nvls_per_rank.value(), 0.05));
}

TEST_CASE("no sweep, no constants, and none of the switch where none reduces")
{
    CHECK(fit_fabric({}).sweeps == 0);
    const Sweep sweep = made_sweep(512, 20, [](double size) { return 1e-5 + size / 1e11; });
    const std::vector<FabricSweep> sweeps{{&sweep, Bandwidth(300e9), false}};
    for (const FittedConstant& constant : fit_fabric(sweeps).constants)
        CHECK(constant.path.find("nvls") == std::string::npos);
}
