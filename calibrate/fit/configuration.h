#pragma once

// Which sweeps measure the same thing, so that several of them are launches of one configuration.

#include "calibrate/fit/clean_sweep.h"

#include <span>

namespace trainyard {

// Of a sweep: what is measured (the first four), how, and where.
struct Configuration {
    CollectiveKind collective = CollectiveKind::all_reduce;
    Backend backend = Backend::nccl;
    int ranks = 0;
    int nodes = 1;
    std::string algorithm;
    std::string protocol;
    std::string data_type;
    std::string hardware; // the device where it is known, else as the source words it
    std::string nccl_version;
    std::map<std::string, std::string> variables; // without those that differ between any launches

    auto operator<=>(const Configuration&) const = default;
};

Configuration configuration_of(const Sweep& sweep);

struct Launches {
    Configuration configuration;
    std::vector<const Sweep*> sweeps;
};

// Sweeps by configuration, in the order of its members. Pointers are into `sweeps`.
std::vector<Launches> by_configuration(std::span<const Sweep> sweeps);

// One curve's points from several launches: at every size the median over those that have it.
struct MergedSize {
    TimedSize point;
    Seconds
        low; // 95 % interval of the median by order statistics (6 launches or more), the extremes
    Seconds high; // of 2 to 5; of one launch the time itself
    int launches = 0;
};
std::vector<MergedSize> merged(std::span<const std::vector<TimedSize>> launches);

} // namespace trainyard
