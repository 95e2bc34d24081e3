#pragma once

// What a run measured: every point with all its batches. Fits, tables, reports and files of samples
// are made of it.

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/discover/node_report.h"
#include "calibrate/measure/statistics/estimate.h"
#include "sim/cost/machine_record.h"

namespace trainyard {

// Something to time, in one launch.
struct Point {
    GroupSpec group;
    TimedWork work;
    int launch = 0;

    bool operator==(const Point&) const = default;
};

struct MeasuredPoint {
    Point point;
    int ops_per_batch = 1;
    std::vector<double> batches;         // seconds per op, the slowest rank's, in order of time
    std::vector<double> isolated;        // seconds of ops each behind a barrier; empty: not taken
    std::vector<double> by_rank;         // seconds per op, the median of each member
    std::optional<std::int64_t> wrong;   // elements, over all ranks; empty: not checked
    std::optional<double> slowest_share; // share of batches in which `slowest_rank` was the last
    int slowest_rank = 0;                // of the group
    Estimate estimate;                   // of `batches`; files leave it out
    std::vector<std::string> flags;      // what makes it doubtful

    bool operator==(const MeasuredPoint&) const = default;
};

// Making a communicator.
struct CreationTime {
    GroupSpec group;
    int launch = 0;
    Seconds time; // the slowest rank's

    bool operator==(const CreationTime&) const = default;
};

// Sizes of a curve between which its fit still missed, once no more sizes were added.
struct UnresolvedJump {
    GroupSpec group;
    CollectiveWork curve; // its size does not count
    int launch = 0;
    Bytes from;
    Bytes to;
    double miss = 0; // as a share of the time

    bool operator==(const UnresolvedJump&) const = default;
};

struct RankFacts {
    LaunchPlace place;
    std::string host;
    BackendFacts facts;

    bool operator==(const RankFacts&) const = default;
};

struct MeasuredRun {
    std::string backend;          // "nccl", "mpi", "gloo"
    std::string started;          // UTC, ISO 8601
    std::string launch_style;     // "processes of one host", "Slurm", "mpirun", "torchrun"
    std::vector<RankFacts> ranks; // by world rank
    std::map<std::string, std::string> variables; // that change paths, no others
    std::string kernel;                           // release of Linux, of the first host
    std::optional<MachineRecord> machine;         // the first host
    std::vector<NodeReport> nodes;                // the hosts, in the order of their first ranks
    std::vector<std::string> doubts;              // what makes numbers of the first host doubtful
    std::vector<MeasuredPoint> points;
    std::vector<CreationTime> creations;
    std::vector<UnresolvedJump> jumps;
    std::vector<std::string> left_out; // points that were asked for and not measured, and why
    std::string ended;                 // empty: as planned; else why it stopped

    bool operator==(const MeasuredRun&) const = default;
};

template <>
const FieldTable<Point>& fields_of<Point>();
template <>
const FieldTable<MeasuredPoint>& fields_of<MeasuredPoint>();
template <>
const FieldTable<CreationTime>& fields_of<CreationTime>();
template <>
const FieldTable<UnresolvedJump>& fields_of<UnresolvedJump>();
template <>
const FieldTable<RankFacts>& fields_of<RankFacts>();
template <>
const FieldTable<MeasuredRun>& fields_of<MeasuredRun>();

} // namespace trainyard
