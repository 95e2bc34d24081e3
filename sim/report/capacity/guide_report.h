#pragma once

// A guide to strategies, in words and as data.

#include "sim/report/step_figures.h"
#include "sim/report/text/paint.h"
#include "sim/report/text/table.h"
#include "sim/study/capacity/strategy_guide.h"

namespace trainyard {

struct GuideRow {
    StrategyFamily family = StrategyFamily::all;
    std::string layout;                 // in words; empty where none runs
    std::optional<Bytes> needed;        // of a device at least, where none runs for want of memory
    std::optional<StepFigures> figures; // of the best
    double behind = 0;                  // the quickest family, as a share of its pace
};

struct GuideSizeReport {
    int gpus = 0;
    std::vector<GuideRow> rows; // the simplest first
    std::optional<StrategyFamily> advised;
    std::string reason; // why that one
};

struct GuideReport {
    std::string cluster; // its kind
    std::string model;
    std::vector<GuideSizeReport> sizes; // the smallest first
    bool interrupted = false;
};

GuideReport guide_report(const StrategyGuide& guide, std::string model);

std::string_view title_of(StrategyFamily family);

// A row for each size: what each family's step takes, or what it lacks; what to take. Columns of
// words are the last.
TableCells guide_table(const GuideReport& report);

std::string guide_text(const GuideReport& report, const Paint& paint, std::size_t width);
std::string guide_html(const GuideReport& report); // of a page
Json to_json(const GuideReport& report);

} // namespace trainyard
