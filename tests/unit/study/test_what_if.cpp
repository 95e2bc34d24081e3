#include "sim/base/build_info.h"
#include "sim/study/sensitivity/what_if.h"
#include "tests/catch.h"
#include "tests/support/shipped_outcome.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::vector<WhatIf> rows_of(const Outcome& outcome, int threads = 2)
{
    const Checked<std::vector<WhatIf>> rows = what_if(outcome, {threads, {}});
    REQUIRE(rows);
    return *rows;
}

// The gain of that resource; -1 when the job does not use it.
double gain(const std::vector<WhatIf>& rows, const std::string& resource)
{
    const auto row = std::ranges::find(rows, resource, &WhatIf::resource);
    return row == rows.end() ? -1 : row->gain;
}

double share(const Outcome& outcome, TimeKind kind)
{
    const StepResult& result = *outcome.result;
    const LaneTotals& lane = result.lanes[result.critical_lane.value];
    return static_cast<double>(lane.time[static_cast<std::size_t>(kind)].value()) /
           static_cast<double>(result.step_time.value());
}

} // namespace

TEST_CASE("what changes no number of a job is no resource of it")
{
    const Outcome alone =
        outcome_of("llama3-8b-h100-8.json", {{"topology", "h100-1x8"}, {"strategy.zero", "3"}});
    const std::vector<WhatIf> rows = rows_of(alone);
    CHECK(gain(rows, "NVLink") >= 0);
    CHECK(gain(rows, "GEMMs") > 0);
    // One node: no NIC is used. Nothing is copied, loaded, slow, or handed on.
    for (const char* unused : {"network ib_ndr", "PCIe", "host memory", "devices and links",
                               "pipeline", "pipeline messages", "storage", "TP communication"})
        CHECK(gain(rows, unused) == -1);
}

TEST_CASE("a job that waits for its network gains most from a faster one, half of what it waits")
{
    // Llama 3.1 8B under FSDP over two servers with 100 Gb/s TCP: hardly anything but waiting.
    const Outcome outcome = outcome_of("two-nodes-tcp.json");
    REQUIRE(share(outcome, TimeKind::exposed_dp) > 0.9);
    const std::vector<WhatIf> rows = rows_of(outcome);
    CHECK(gain(rows, "all communication") >= rows.front().gain);
    const double network = gain(rows, "network tcp");
    for (const char* other :
         {"NVLink", "GEMMs", "HBM", "attention", "kernel launches", "latencies", "interference"})
        CHECK(network > gain(rows, other));
    CHECK(network > 0.45);
    CHECK(network <= 0.5);
}

TEST_CASE("a network that is not the limit gains nothing, and is shown all the same")
{
    // Rings of 16 L40S are held back by PCIe inside each server.
    const std::vector<WhatIf> rows = rows_of(outcome_of("ddp-no-overlap.json"));
    CHECK(gain(rows, "network roce_100") == 0);
    CHECK(gain(rows, "PCIe") > 0.2);
    CHECK(gain(rows, "PCIe") <= gain(rows, "DP communication") / 2);
}

TEST_CASE("what hides behind compute gains less than it takes")
{
    const Outcome hidden = outcome_of("ddp-overlap.json");
    const Outcome exposed = outcome_of("ddp-no-overlap.json");
    CHECK(gain(rows_of(hidden), "DP communication") < gain(rows_of(exposed), "DP communication"));
}

TEST_CASE("a tenth more of the peak shortens no step by more than a tenth of itself")
{
    const std::vector<WhatIf> rows = rows_of(outcome_of("llama3-70b-h100-64.json"));
    // 1 - 1 / 1.1 = 9.1 %.
    CHECK(gain(rows, "GEMMs") > 0.02);
    CHECK(gain(rows, "GEMMs") < 0.0910);
    CHECK(gain(rows, "attention") > 0);
    CHECK(gain(rows, "GEMMs") + gain(rows, "attention") < 0.0910);
}

TEST_CASE("without slow devices the step is that of healthy ones, to the picosecond")
{
    const Outcome slow = outcome_of("llama2-7b-tp2-pp2-dp2.json",
                                    {{"perturbations", R"([{"device": 3, "slowdown": 1.2}])"}});
    const Outcome healthy = outcome_of("llama2-7b-tp2-pp2-dp2.json");
    const std::vector<WhatIf> rows = rows_of(slow);
    const auto row = std::ranges::find(rows, "devices and links", &WhatIf::resource);
    REQUIRE(row != rows.end());
    CHECK(row->step_time == to_seconds(healthy.result->step_time));
    CHECK(gain(rows_of(healthy), "devices and links") == -1);
}

TEST_CASE("a pipeline without waits takes the time of its busiest stage")
{
    // 1F1B of p even stages and m micro-batches leaves (p - 1) / (m + p - 1) of the step idle:
    // 1 / 9 for 2 stages and 8 micro-batches.
    const Outcome outcome =
        outcome_of("llama2-7b-tp2-pp2-dp2.json",
                   {{"training.global_batch", "16"}, {"training.micro_batch", "1"}});
    REQUIRE(outcome.job.micro_batches() == 8);
    const double saved = gain(rows_of(outcome), "pipeline");
    CHECK(saved > 0.07);
    CHECK(saved < 1.0 / 9 + 0.02); // its messages too
}

TEST_CASE("free communication of all groups helps at least as much as that of each")
{
    const std::vector<WhatIf> rows = rows_of(outcome_of("mixtral-8x7b-ep8-h100-64.json"));
    const double all = gain(rows, "all communication");
    REQUIRE(all > 0);
    int groups = 0;
    for (const WhatIf& row : rows)
        if (row.resource.ends_with("communication")) {
            ++groups;
            CHECK(row.gain <= all);
        }
    CHECK(groups > 2); // EP among them
    CHECK(gain(rows, "EP communication") > 0);
}

TEST_CASE("a job that waits for its samples gains most from its loader")
{
    const std::vector<WhatIf> rows = rows_of(outcome_of("resnet50-naive-loader.json"));
    CHECK(rows.front().resource == "data loader");
    CHECK(rows.front().gain > 0.3);
}

TEST_CASE("what-ifs are the same on one thread and on many, largest gain first")
{
    const Outcome outcome = outcome_of("llama2-7b-tp2-pp2-dp2.json");
    const std::vector<WhatIf> rows = rows_of(outcome, 1);
    CHECK(rows_of(outcome, 4) == rows);
    CHECK(std::ranges::is_sorted(rows, std::ranges::greater{}, &WhatIf::gain));
}

TEST_CASE("links that transfers share become as much wider as the costs take them for")
{
    const std::vector<WhatIf> rows =
        rows_of(outcome_of("two-nodes-tcp.json", {{"run.fidelity", "bundle"}}));
    CHECK(gain(rows, "network tcp") > 0.45);
}
