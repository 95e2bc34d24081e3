#pragma once

// What `trainyard fit` is given: logs, or a profile that it wrote.

#include "calibrate/import/read_sweeps.h"

namespace trainyard {

struct FitInput {
    std::vector<Sweep> sweeps;
    ImportNotes notes;
};

// Logs give their sweeps, profiles those that they were made of. Every problem of every file.
// Throws WorldError when a file cannot be read.
Checked<FitInput> read_fit_input(const std::vector<std::string>& files);

} // namespace trainyard
