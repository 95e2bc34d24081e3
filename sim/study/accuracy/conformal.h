#pragma once

// How far off predictions of jobs like measured ones are, without a shape of the errors assumed:
// split-conformal prediction over groups (Dunn, Wasserman and Ramdas 2022, "Distribution-free
// prediction sets for two-layer hierarchical models").
//
// Runs of one group (one publication's runs of one model on one GPU in one number format) share
// causes of error, so a group counts once however many runs it has, and what is asked for is a
// group that nobody has seen.

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

struct GroupedError {
    std::string group;
    double error = 0; // log(predicted / measured), or of a ratio of two

    bool operator==(const GroupedError&) const = default;
};

// Where the errors of a new group lie with that share. low <= 0 <= high, so that a prediction lies
// in its own interval.
struct ErrorRange {
    double low = 0;
    double high = 0;
    int groups = 0; // that stand behind it
    int runs = 0;

    bool holds(double error) const { return low <= error && error <= high; }
    bool operator==(const ErrorRange&) const = default;
};

int group_count(std::span<const GroupedError> errors);

// The error that a new group stays below with probability `share`: every group has the weight 1,
// the new one a weight of 1 at infinity. Nothing where that is where it lies: too few groups.
std::optional<double> new_group_quantile(std::vector<GroupedError> errors, double share);

// Both tails apart where there are groups enough, (1 + share) / 2 each: 19 for 0.9; else as far
// above as below (9 groups). Nothing with fewer. Requires 0 < share < 1.
std::optional<ErrorRange> range_of(const std::vector<GroupedError>& errors, double share);

// As far above as below.
std::optional<ErrorRange> symmetric_range_of(std::vector<GroupedError> errors, double share);

} // namespace trainyard
