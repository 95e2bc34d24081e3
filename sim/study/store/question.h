#pragma once

// What a plan asks, as a number: all that changes an answer. Points are the same job in whatever
// plan they occur, so a point's own number depends on nothing but its scenario.

#include "sim/study/search/search.h"

namespace trainyard {

// "0.1.0 3f2a...": the version, and the hash of the program that runs. Between two versions many
// programs give different answers.
std::string program_name();

// Makes the numbers of a plan's points, for any number of threads.
class Questions {
public:
    explicit Questions(const SearchBase& base);

    // Of the space with its bounds: for a device of so much room.
    std::string plan(const SearchRequest& request) const;
    std::string point(const LayoutChoice& choice) const;

private:
    const SearchBase& base_;
    std::uint64_t surroundings_; // model, cluster, constants
};

// The values of each size, by the names of fields.
Json to_json(const SearchSpace& space);

} // namespace trainyard
