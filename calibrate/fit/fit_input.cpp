#include "calibrate/fit/fit_input.h"

#include "calibrate/fit/clean_sweep.h"
#include "calibrate/fit/configuration.h"
#include "calibrate/fit/fit_report.h"
#include "calibrate/import/read_node.h"
#include "calibrate/import/recognise.h"
#include "sim/base/files.h"
#include "sim/cost/profile_library.h"

#include <fmt/core.h>

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
Checked<FitInput> read_topology(const std::string& text, const std::string& path)
{
    FitInput out;
    const Checked<ImportedTopology> topology = read_node_topology(text, path);
    if (!topology)
        return tl::unexpected(topology.error());
    out.notes = topology->notes;
    out.node = topology->map;
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
    return out;
}

// The same times of the same sizes: one measurement, however often it is given.
bool same_measurement(const Sweep& a, const Sweep& b)
{
    return a.rows == b.rows && configuration_of(a) == configuration_of(b);
}

} // namespace

void append(FitInput& to, FitInput more)
{
    for (Sweep& sweep : more.sweeps) {
        const auto before = std::find_if(to.sweeps.begin(), to.sweeps.end(), [&](const Sweep& b) {
            return same_measurement(b, sweep);
        });
        if (before == to.sweeps.end()) {
            to.sweeps.push_back(std::move(sweep));
            continue;
        }
        std::string flag = fmt::format("the same times again in {}: counted once", sweep.source);
        add_note(more.notes.flagged, flag);
        if (std::find(before->flags.begin(), before->flags.end(), flag) == before->flags.end())
            before->flags.push_back(std::move(flag));
    }
    append(to.notes, more.notes);
    if (!more.topology_device.empty())
        to.topology_device = std::move(more.topology_device);
    if (more.nics_per_node > 0)
        to.nics_per_node = more.nics_per_node;
    if (more.nic_rate.value() > 0)
        to.nic_rate = more.nic_rate;
    if (more.node)
        to.node = std::move(more.node);
}

Checked<FitInput> read_fit_file(const std::string& path)
{
    Checked<ImportedSweeps> sweeps;
    if (is_profile(path)) {
        sweeps = read_profile_sweeps(path);
    } else {
        const std::string text = read_file(path);
        if (is_compressed(text))
            return tl::unexpected(Problems{
                {path, 0, "", "is compressed", "unpack it first: gunzip", Severity::error}});
        const std::vector<ImportKind> kinds = recognise_import(text);
        if (!kinds.empty() && kinds.front() == ImportKind::topology)
            return read_topology(text, path);
        sweeps = read_sweeps(text, path);
    }
    if (!sweeps)
        return tl::unexpected(std::move(sweeps.error()));
    FitInput out;
    append(out, {std::move(sweeps->sweeps), std::move(sweeps->notes), {}, 0, {}, {}});
    return out;
}

Checked<FitInput> read_fit_input(const std::vector<std::string>& files, const WorkControl& work)
{
    FitInput out;
    Problems problems;
    for (const std::string& path : files) {
        work.check();
        Checked<FitInput> of_file = read_fit_file(path);
        if (of_file)
            append(out, std::move(*of_file));
        else
            problems.insert(problems.end(), of_file.error().begin(), of_file.error().end());
    }
    work.check();
    if (!problems.empty())
        return tl::unexpected(problems);
    return out;
}

std::vector<std::string> further_flags(const FitInput& input)
{
    std::vector<std::string> out;
    for (const Sweep& sweep : input.sweeps)
        for (const std::string& flag : clean(sweep).flags)
            if (std::find(sweep.flags.begin(), sweep.flags.end(), flag) == sweep.flags.end())
                out.push_back(fmt::format("{}: {}", sweep.source, flag));
    return out;
}

FitRequest completed(FitRequest request, const FitInput& input, const std::string& output)
{
    if (request.name.empty())
        request.name = std::filesystem::path(output).stem().string();
    request.topology_device = input.topology_device;
    if (request.nics_per_node == 0)
        request.nics_per_node = input.nics_per_node;
    if (!(request.nic_rate.value() > 0))
        request.nic_rate = input.nic_rate;
    return request;
}

} // namespace trainyard
