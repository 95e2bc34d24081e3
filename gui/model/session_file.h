#pragma once

// What a session file keeps: the scenario as edited, what it is compared with, and what is seen.
// Also written by itself while one works, so that a crash loses nothing.

#include "gui/model/headline.h"
#include "gui/model/view_state.h"

#include <filesystem>

namespace trainyard::gui {

struct SessionContent {
    std::string file; // of the scenario; paths inside it are relative to its folder
    Json scenario;
    Json baseline;             // a scenario; null: none
    std::string baseline_file; // as `file`, of the baseline; empty: `file`
    std::optional<TimeRange> range;
    Selection selection;
    Price price;
    Json lanes;                        // of the timeline; null: as at the first start
    Json explore;                      // of the explorer; null: none
    Json plan;                         // what the planner is asked; null: nothing
    std::vector<std::string> measured; // files of the calibration view
    Json fit_log;                      // of the calibration view; null: none
    std::vector<std::string> recorded; // traces
    std::string view;                  // key of the panel in front
    std::string layout;                // of the docks, base64

    bool operator==(const SessionContent&) const = default;
};

inline constexpr std::string_view session_format = "trainyard.session/1";

Json to_json(const SessionContent& content);

// Where a file of the content (the scenario's, the baseline's) is not where it was but beside the
// session `session`, that one counts: they were moved together.
void follow_moved_files(SessionContent& content, const std::filesystem::path& session);

// `file` is the name for diagnostics. A newer version is a problem that says so.
Checked<SessionContent> session_from(const Json& json, const std::string& file);

// Sessions that ended without saying goodbye. Each running program has one file of its own, and a
// lock beside it that the system lets go of when the program ends, in whatever way: whether it
// runs is asked of the lock, not of its process number, which lives on in what nobody waited for
// (a killed child) and is soon another's (in a container).
class Autosave {
public:
    // Files lie in `folder`, which is made when the first is written.
    explicit Autosave(std::filesystem::path folder);
    ~Autosave(); // a goodbye: removes this program's file
    Autosave(const Autosave&) = delete;
    Autosave& operator=(const Autosave&) = delete;

    // Throws WorldError.
    void write(const SessionContent& content);
    const std::filesystem::path& file() const { return file_; }

    // Files of programs that are gone, the youngest first.
    std::vector<std::filesystem::path> left_behind() const;
    // Takes such a file away, with its lock.
    static void forget(const std::filesystem::path& file);

private:
    std::filesystem::path folder_;
    std::filesystem::path file_;
    int lock_ = -1; // descriptor; -1: nothing was written yet
};

} // namespace trainyard::gui
