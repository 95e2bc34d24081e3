#include "sim/cli/fit_input.h"

#include "calibrate/fit/fit_report.h"
#include "sim/cost/profile_library.h"

#include <filesystem>
#include <iterator>

namespace trainyard {
namespace {

bool is_profile(const std::string& path)
{
    if (std::filesystem::path(path).extension() != ".json")
        return false;
    const Checked<Json> json = read_json_file(path);
    const Json* hardware = json ? json->find("hardware") : nullptr;
    return hardware != nullptr && hardware->is_object();
}

Checked<ImportedSweeps> read_profile_sweeps(const std::string& path)
{
    // A name without a slash is a file here, not a shipped profile.
    const Checked<ProfileFile> file = load_profile((std::filesystem::path(".") / path).string());
    if (!file)
        return tl::unexpected(file.error());
    ImportedSweeps out{measured_sweeps(file->profile), {}};
    if (out.sweeps.empty())
        return tl::unexpected(
            Problems{{path, 0, "/hardware/knots", "this profile holds no measured samples",
                      "profiles that `trainyard fit` writes do", Severity::error}});
    return out;
}

} // namespace

Checked<FitInput> read_fit_input(const std::vector<std::string>& files)
{
    FitInput out;
    Problems problems;
    for (const std::string& path : files) {
        Checked<ImportedSweeps> file =
            is_profile(path) ? read_profile_sweeps(path) : read_sweeps_file(path);
        if (!file) {
            problems.insert(problems.end(), file.error().begin(), file.error().end());
            continue;
        }
        std::move(file->sweeps.begin(), file->sweeps.end(), std::back_inserter(out.sweeps));
        append(out.notes, file->notes);
    }
    if (!problems.empty())
        return tl::unexpected(problems);
    return out;
}

} // namespace trainyard
