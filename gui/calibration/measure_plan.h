#pragma once

// What `trainyard calibrate` is asked to measure, and the words of its command line. No widgets.

#include <QStringList>
#include <string>

namespace trainyard::gui {

struct MeasurePlan {
    bool collectives = true;
    bool pairs = true;
    bool kernels = true;
    std::string backend = "gloo"; // "nccl", "gloo", "mpi"
    int ranks = 0;                // 0: as many as the program takes
    bool quick = true;
    std::string min_size; // of collectives, "64KiB"; empty: the program's
    std::string max_size;
    int timeout = 30; // seconds
    std::string name; // of what is written, with its folder and without an ending

    bool operator==(const MeasurePlan&) const = default;
};

// Files of that name.
std::string samples_of(const MeasurePlan& plan);
std::string profile_of(const MeasurePlan& plan);

// Whether a profile can be made of it: one of CPUs needs their kernels.
bool makes_profile(const MeasurePlan& plan);
// Whether its samples are curves or pairs, which the view shows.
bool makes_curves(const MeasurePlan& plan);

// Behind the program's name.
QStringList arguments_of(const MeasurePlan& plan);

// For a cluster: srun starts a rank on every GPU (of the other back ends: so many on each node).
// The output's folder is left to where it is run.
QString srun_line(const MeasurePlan& plan, int nodes, int per_node);

} // namespace trainyard::gui
