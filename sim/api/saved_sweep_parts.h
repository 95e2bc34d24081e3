#pragma once

// Readers of saved_sweep.h, one for each form.

#include "sim/api/saved_sweep.h"

#include <string_view>

namespace trainyard {

// What is unknown of a row until the file says it.
PointRow unknown_row();

// Sets the figure of that key ("step_time_s"); of keys that no row keeps nothing.
void set_figure(PointRow& row, std::string_view key, double value);

// Places of rows in a grid, where a file has values alone. Values are collected first.
class GridOfValues {
public:
    explicit GridOfValues(std::vector<std::string> fields);

    void add(const std::vector<std::string>& values); // one of each field
    // Numbers by size, other values as they came; nothing where there are more combinations than
    // can be counted.
    std::optional<SweepGrid> grid();
    // Requires values that were added, and `grid`.
    std::size_t index_of(const std::vector<std::string>& values) const;

private:
    std::vector<SweepAxis> axes_;
    std::vector<std::map<std::string, std::size_t>> places_;
};

bool begins_as_sweep_csv(std::string_view text);

Checked<SavedSweep> sweep_from_json(const Json& json, const std::string& file,
                                    const WorkControl& work);
Checked<SavedSweep> sweep_from_csv(std::string_view text, const std::string& file,
                                   const WorkControl& work);
Checked<SavedSweep> sweep_from_store(const std::string& file, const WorkControl& work);

} // namespace trainyard
