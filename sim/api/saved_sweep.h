#pragma once

// Sweeps that were written to a file: the JSON and the CSV of `trainyard sweep` and of the window,
// and the points that a store of plans holds.

#include "sim/report/sweep/sweep_output.h"

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

// The scenario that was swept, and the base of its points: with what follows from the axes left to
// follow.
struct SweptScenario {
    ScenarioFile own;
    ScenarioFile base;
    std::vector<FollowingField> following;
};

struct SavedSweep {
    std::string file;
    SweepTitle title; // `end`: points of the whole sweep, and those that the file has
    double headroom = usual_headroom; // share of a device's memory that was to stay free
    // Each point of the grid at most once. Of a point that can be, figures that the file lacks are
    // NaN (shares, rates, ends of the interval) or 0 (bytes, devices).
    std::vector<PointRow> rows;
    // What a reader has to know beside it: rows of another program, memory without the allocator.
    Problems notes;
};

// Whether a file is one of these, by its first bytes. False for what cannot be read.
bool is_saved_sweep(const std::string& file);

// Reads a whole one into memory. Problems: what is damaged or goes beyond the limits (1 GB of JSON,
// 1 GB of CSV), with its line. Throws WorldError and Cancelled.
Checked<SavedSweep> read_saved_sweep(const std::string& file, const WorkControl& work);

// The scenario that the file holds, else the one it names, looked for from the current folder and
// from the file's own; null: it names none, or one that is not there.
std::optional<Checked<SweptScenario>> swept_scenario(const SavedSweep& saved);

// The same sweep over a scenario of one's own, where the file has none. Problems: fields that it
// does not have.
Checked<SweptScenario> swept_scenario(const SavedSweep& saved, const ScenarioFile& own);

} // namespace trainyard
