#include "sim/cost/profile.h"

#include "sim/base/fields.h"
#include "sim/base/reader.h"
#include "sim/cost/profile_parts.h"

#include <algorithm>

namespace trainyard {

template <>
const FieldTable<Installation>& fields_of<Installation>()
{
    using I = Installation;
    static const auto table =
        FieldTable<I>("installation", "This installation against others of its kind.")
            .field("factor", &I::factor,
                   {.help = "of compute rates: clocks, power, cooling", .min = 0.05, .max = 5})
            .field("environment", &I::environment, {.help = "where it was measured"});
    return table;
}

namespace {

template <class Part>
void add_provenance(ProvenanceMap& out, const std::string& prefix, const Part& part)
{
    for (const auto& [path, origin] : part.provenance)
        out.emplace(prefix + "." + path, origin);
}

// {"hardware": {"device": {...: value}}} from "hardware.device...".
Json nested(const std::string& path, const Json& value)
{
    const std::size_t dot = path.rfind('.');
    Json inner = Json::object();
    inner[dot == std::string::npos ? path : path.substr(dot + 1)] = value;
    return dot == std::string::npos ? inner : nested(path.substr(0, dot), inner);
}

// A bare value has no known origin: drops what stood at and below `path`.
void forget(ProvenanceMap& provenance, const std::string& path)
{
    std::erase_if(provenance, [&](const auto& entry) {
        return entry.first == path || entry.first.rfind(path + ".", 0) == 0;
    });
}

} // namespace

Json to_json(const Profile& profile)
{
    Json out = Json::object();
    out["format"] = profile_format;
    out["name"] = profile.name;
    if (!profile.description.empty())
        out["description"] = profile.description;
    Json& hardware = out["hardware"];
    hardware["device"] = part_json(profile.hardware.device);
    hardware["fabric"] = part_json(profile.hardware.fabric);
    hardware["network"] = part_json(profile.hardware.network);
    hardware["collectives"] = part_json(profile.hardware.collectives);
    hardware["gloo"] = part_json(profile.hardware.gloo);
    hardware["ucx"] = part_json(profile.hardware.ucx);
    hardware["nvshmem"] = part_json(profile.hardware.nvshmem);
    hardware["mpi"] = part_json(profile.hardware.mpi);
    if (profile.hardware.interference != InterferenceTable{})
        hardware["interference"] = part_json(profile.hardware.interference);
    if (profile.hardware.kernels != MeasuredKernels{})
        hardware["kernels"] = part_json(profile.hardware.kernels);
    hardware["knots"] = FieldValue<std::vector<KnotTable>>::write(profile.hardware.knots);
    out["software"] = part_json(profile.software);
    out["installation"] = part_json(profile.installation);
    if (profile.own_steps)
        out["own_steps"] = fields_of<OwnStepsMark>().write(*profile.own_steps);
    return out;
}

ProvenanceMap provenance_of(const Profile& profile)
{
    ProvenanceMap out;
    for_each_part(profile, [&](const std::string& prefix, const auto& part) {
        add_provenance(out, prefix, part);
    });
    return out;
}

Checked<Profile> with_override(Profile profile, const std::string& path, const Json& value)
{
    if (path == "hardware.device.sustained_clock")
        return with_override(std::move(profile), "hardware.device.under_load.clock", value);
    const Json whole = nested(path, value);
    Problems problems;
    const PlainTree tree = without_provenance(Reader(whole, "", problems));
    bool found = false;
    for_each_part(profile, [&](const std::string& prefix, auto& part) {
        if (path.rfind(prefix + ".", 0) != 0)
            return;
        found = true;
        const ProvenanceMap given = below(tree.provenance, prefix);
        forget(part.provenance, path.substr(prefix.size() + 1));
        Reader reader(tree.json, "", problems);
        for (std::size_t begin = 0; begin <= prefix.size();) {
            const std::size_t end = std::min(prefix.find('.', begin), prefix.size());
            reader = reader.member(prefix.substr(begin, end - begin));
            begin = end + 1;
        }
        read_part(reader, given, part);
        check_part(reader, part);
    });
    if (!found)
        problems.push_back({"", 0, "", "no constant \"" + path + "\" in a profile",
                            "begin with hardware.device, hardware.fabric, hardware.network, "
                            "hardware.collectives, hardware.gloo, hardware.ucx, hardware.nvshmem, "
                            "hardware.mpi, hardware.interference, hardware.kernels, "
                            "software or installation",
                            Severity::error});
    if (has_errors(problems))
        return tl::unexpected(problems);
    return profile;
}

} // namespace trainyard
