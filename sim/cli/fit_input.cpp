#include "sim/cli/fit_input.h"

#include "calibrate/fit/configuration.h"
#include "calibrate/fit/fit_report.h"
#include "calibrate/import/read_node.h"
#include "calibrate/import/recognise.h"
#include "sim/base/files.h"
#include "sim/base/progress.h"
#include "sim/cli/terminal.h"
#include "sim/cost/profile_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

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

// Device (where it is named, not guessed) and NICs of a topology file.
Problems take_topology(const std::string& text, const std::string& path, FitInput& out)
{
    const Checked<ImportedTopology> topology = read_node_topology(text, path);
    if (!topology)
        return topology.error();
    append(out.notes, topology->notes);
    const ExplicitDescription& node = topology->description;
    if (!node.devices.empty() && !topology->guessed_model)
        out.topology_device = node.devices.front().model;
    out.nics_per_node = static_cast<int>(node.nics.size());
    for (const ExplicitLink& link : node.links) {
        const auto is = [&](const std::string& end) {
            return std::any_of(node.nics.begin(), node.nics.end(),
                               [&](const ExplicitNic& nic) { return nic.name == end; });
        };
        const auto network = [&](const std::string& end) {
            return std::any_of(node.switches.begin(), node.switches.end(),
                               [&](const ExplicitSwitch& one) {
                                   return one.name == end && one.kind == SwitchKind::network;
                               });
        };
        if ((is(link.from) && network(link.to)) || (network(link.from) && is(link.to)))
            out.nic_rate = link.bandwidth;
    }
    return {};
}

// The same times of the same sizes: one measurement, however often it is given.
bool same_measurement(const Sweep& a, const Sweep& b)
{
    return a.rows == b.rows && configuration_of(a) == configuration_of(b);
}

// Copies of a log are no further launches: they would make it look reproducible.
void add_new(std::vector<Sweep> sweeps, FitInput& out)
{
    for (Sweep& sweep : sweeps) {
        const auto before = std::find_if(out.sweeps.begin(), out.sweeps.end(), [&](const Sweep& b) {
            return same_measurement(b, sweep);
        });
        if (before == out.sweeps.end()) {
            out.sweeps.push_back(std::move(sweep));
            continue;
        }
        std::string flag = fmt::format("the same times again in {}: counted once", sweep.source);
        add_note(out.notes.flagged, flag);
        if (std::find(before->flags.begin(), before->flags.end(), flag) == before->flags.end())
            before->flags.push_back(std::move(flag));
    }
}

Problems take_file(const std::string& path, FitInput& out)
{
    Checked<ImportedSweeps> sweeps;
    if (is_profile(path)) {
        sweeps = read_profile_sweeps(path);
    } else {
        const std::string text = read_file(path);
        if (is_compressed(text))
            return {{path, 0, "", "is compressed", "unpack it first: gunzip", Severity::error}};
        const std::vector<ImportKind> kinds = recognise_import(text);
        if (!kinds.empty() && kinds.front() == ImportKind::topology)
            return take_topology(text, path, out);
        sweeps = read_sweeps(text, path);
    }
    if (!sweeps)
        return sweeps.error();
    add_new(std::move(sweeps->sweeps), out);
    append(out.notes, sweeps->notes);
    return {};
}

} // namespace

Checked<FitInput> read_fit_input(const std::vector<std::string>& files)
{
    FitInput out;
    Problems problems;
    for (const std::string& path : files) {
        WorkControl{&interrupt_flag(), {}}.check();
        const Problems of_file = take_file(path, out);
        problems.insert(problems.end(), of_file.begin(), of_file.end());
    }
    WorkControl{&interrupt_flag(), {}}.check();
    if (!problems.empty())
        return tl::unexpected(problems);
    return out;
}

} // namespace trainyard
