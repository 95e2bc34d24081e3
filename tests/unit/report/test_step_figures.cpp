#include "sim/report/step_figures.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

#include <cmath>
#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr std::array all_places{in_json,       in_csv,       in_comparison, in_health,
                                in_sweep_json, in_sweep_csv, in_sweep_text, in_window};

} // namespace

TEST_CASE("no two figures of a place have one key")
{
    for (const FigurePlace place : all_places) {
        std::set<std::string> keys;
        for (const Figure* figure : figures_in(place)) {
            INFO(figure->key);
            CHECK(keys.insert(figure->key).second);
            CHECK(&figure_of(figure->key) == figure);
        }
        CHECK(!keys.empty());
    }
}

TEST_CASE("figures that people are shown have a title and are numbers")
{
    for (const FigurePlace place : {in_comparison, in_health, in_sweep_text})
        for (const Figure* figure : grouped_figures_in(place)) {
            INFO(figure->key);
            CHECK(!figure->title_for("GPU").empty());
            CHECK(figure->unit != FigureUnit::word);
            CHECK(std::isfinite(figure->number(small_summary())));
        }
}

TEST_CASE("a window names a figure once for models of either unit of work")
{
    for (const WorkUnit work : {WorkUnit::tokens, WorkUnit::samples}) {
        std::set<std::string_view> names;
        for (const Figure* figure : figures_in(in_window))
            if (!figure->window.key.empty() && figure->counts_in(work)) {
                INFO(figure->key);
                CHECK(names.insert(figure->window.key).second);
                CHECK(!figure->title.empty());
            }
        CHECK(names.size() > 5);
    }
}

TEST_CASE("figures are read as their units are")
{
    const Summary summary = small_summary();
    const auto text = [&](std::string_view key) {
        const Figure& figure = figure_of(key);
        return figure.text(figure.number(summary));
    };
    CHECK(text("step_time_s") == "100 ms");
    CHECK(text("mfu") == "41.2 %");
    CHECK(text("tokens_per_s_per_gpu") == "20.5 k");
    CHECK(text("peak_memory_bytes") == "60.0 GB");
    CHECK(text("cost_per_day") == "96"); // 4 devices, at one each in an hour
    CHECK(figure_of("tokens_per_s_per_gpu").title_for("GPU") == "tokens/s per GPU");
    CHECK(figure_of("tokens_per_s_per_gpu").heading_for("device") == "per device");
    CHECK(figure_of("mfu").heading_for("GPU") == "MFU");
}

TEST_CASE("what a billion tokens cost follows from the rate of a device")
{
    // 20480 tokens/s are 73.728 million an hour, so that 10^9 take 13.563 hours of a device.
    CHECK_THAT(figure_of("cost_per_billion_tokens").number(small_summary()),
               WithinRel(1e9 / (3600 * 20480.0), 1e-12));
}
