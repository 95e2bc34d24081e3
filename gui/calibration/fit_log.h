#pragma once

// What was done with measured files in a session: which were read, which profiles were saved of
// them, and what went wrong.

#include "gui/widgets/panel.h"
#include "sim/base/json.h"

#include <string>
#include <vector>

namespace trainyard::gui {

struct FitLogEntry {
    enum class What : std::uint8_t { opened, saved, refused };

    std::string time; // local, "2026-11-27 17:05:09"
    What what = What::opened;
    std::vector<std::string> files; // measured
    std::string result;             // the profile; or why there is none

    bool operator==(const FitLogEntry&) const = default;
};

using FitLog = std::vector<FitLogEntry>; // the oldest first

// Of now.
FitLogEntry fit_log_entry(FitLogEntry::What what, std::vector<std::string> files,
                          std::string result);

// For sessions; entries that are none are left out.
Json to_json(const FitLog& log);
FitLog fit_log_from(const Json& json);

TableData table_of(const FitLog& log);

} // namespace trainyard::gui
