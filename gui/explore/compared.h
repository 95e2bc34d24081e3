#pragma once

// Scenarios beside each other, those that did not run yet simulated whole.

#include "gui/model/live_run.h"
#include "sim/report/compare/compare.h"

namespace trainyard::gui {

// One that is compared: `run` where it has run already, else its scenario.
struct Compared {
    QString name;
    Json scenario;
    std::string file; // paths inside the scenario are relative to its folder
    std::shared_ptr<const RunView> run;
};

struct ComparedResult {
    Comparison comparison;
    std::vector<QString> names;
    std::vector<RunFigures> summaries;
    QString problem; // of those that could not run: they are left out
};

// Throws Cancelled and WorldError.
std::shared_ptr<const ComparedResult> compare_all(const std::vector<Compared>& wanted,
                                                  Session& session, const WorkControl& work);

} // namespace trainyard::gui
