#pragma once

// What a run has measured so far, kept in a file that grows line by line: whatever ends the run,
// what was measured before is there.

#include "calibrate/measure/control/connection.h"
#include "calibrate/measure/samples.h"

#include <filesystem>
#include <fstream>

namespace trainyard {

inline constexpr std::string_view samples_format = "trainyard.samples/1";

// One JSON object per line: first the run without its points, then what came.
class Journal {
public:
    // Starts the file anew, unless another run writes to it. What an earlier run left there is
    // moved aside: no samples are ever written over. Throws WorldError.
    Journal(std::filesystem::path path, const MeasuredRun& run);

    // On disk when they return. Throw WorldError.
    void add(const MeasuredPoint& point);
    void add(const CreationTime& creation);
    void add(const UnresolvedJump& jump);
    void left_out(const std::string& what);
    void machine(const std::vector<NodeReport>& nodes); // in place of what was told before
    void ended(const std::string& why);

    const std::filesystem::path& path() const { return path_; }

    // Where what was there before is now; empty: there was nothing.
    const std::filesystem::path& earlier() const { return earlier_; }

private:
    void write(const Json& line);

    std::filesystem::path path_;
    std::filesystem::path earlier_;
    Descriptor lock_; // on the file, as long as this lives
    std::ofstream file_;
};

// Of a journal that another run left. A last line that was cut is left out; one without a single
// point is a problem, hosts that cannot be are a doubt. Throws WorldError for a file that cannot be
// read.
Checked<MeasuredRun> read_journal(const std::filesystem::path& path);

} // namespace trainyard
