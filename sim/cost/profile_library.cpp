#include "sim/cost/profile_library.h"

#include "sim/base/build_info.h"
#include "sim/base/file_format.h"
#include "sim/base/input_limits.h"
#include "sim/base/reader.h"
#include "sim/cost/profile_builder.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// The network class for an unnamed or unknown network.
std::string network_by_transport(const NodeNetwork& network)
{
    const double gbps = network.nic_rate.value() * 8e-9;
    switch (network.transport) {
    case Transport::roce:
        return gbps > 150 ? "roce-400" : "roce-100";
    case Transport::efa:
        return gbps > 300         ? "efa-v4"
               : gbps > 150       ? "efa-v3"
               : network.nics > 4 ? "efa-v2"
                                  : "efa-v1";
    case Transport::tcp:
        return "tcp";
    case Transport::infiniband:
    case Transport::none:
        break;
    }
    if (network.transport == Transport::none || (gbps > 300 && gbps < 700))
        return "ib-ndr";
    return gbps >= 700 ? "ib-xdr" : gbps > 150 ? "ib-hdr" : "ib-edr";
}

Checked<ProfileFile> checked_profile(const PartFile& file, const Folders& around,
                                     Problems& problems)
{
    ProfileBuilder builder(around, problems);
    ProfileFile out;
    out.profile = read_profile(file, builder, problems);
    if (has_errors(problems))
        return tl::unexpected(problems);
    out.warnings = std::move(problems);
    return out;
}

} // namespace

Folders shipped_profiles()
{
    return {data_dir() / "calibrate" / "profiles"};
}

Checked<ProfileFile> load_profile(const std::string& name_or_path, const Folders& folders)
{
    Problems problems;
    const Json nothing;
    const bool is_path =
        name_or_path.find('/') != std::string::npos ||
        (name_or_path.size() > 5 && name_or_path.compare(name_or_path.size() - 5, 5, ".json") == 0);
    std::filesystem::path path = name_or_path;
    if (!is_path) {
        const auto found = PartFiles(folders, problems)
                               .find(Reader(nothing, "", problems), profile_kind, name_or_path);
        if (!found)
            return tl::unexpected(problems);
        path = *found;
    }
    Folders around = folders; // parts beside the profile win
    around.insert(around.begin(), path.parent_path());
    const auto file = PartFiles(around, problems).open(path, profile_format);
    if (!file)
        return tl::unexpected(problems);
    Checked<ProfileFile> out = checked_profile(*file, around, problems);
    if (out && out->profile.name.empty())
        out->profile.name = path.stem().string();
    return out;
}

Checked<ProfileFile> profile_of_json(const Json& json, const std::string& name,
                                     const Folders& folders)
{
    Problems problems;
    Json layers = json;
    std::erase_if(layers.members(), [](const Json::Member& m) { return m.first == "format"; });
    const PartFile file{name, without_provenance(Reader(layers, name, problems))};
    return checked_profile(file, folders, problems);
}

Problems check_profile_file(const std::string& path, const Folders& folders)
{
    const Checked<Json> json = read_json_file(path, input_limits);
    if (!json)
        return json.error();
    const Json* format = json->find("format");
    const std::string kind = format != nullptr && format->is_string() ? format->as_string() : "";
    Problems problems;
    ProfileBuilder builder(folders, problems);
    const auto as = [&](const PartKind& part_kind, auto part) {
        builder.from_path(path, part_kind, part);
        return problems;
    };
    if (same_kind(kind, device_format))
        return as(device_kind, Device{});
    if (same_kind(kind, fabric_format))
        return as(fabric_kind, FabricClass{});
    if (same_kind(kind, network_format))
        return as(network_kind, NetworkClass{});
    if (same_kind(kind, collectives_format))
        return as(collectives_kind, CollectiveForm{});
    if (same_kind(kind, gloo_format))
        return as(gloo_kind, GlooClass{});
    if (same_kind(kind, ucx_format))
        return as(ucx_kind, UcxClass{});
    if (same_kind(kind, nvshmem_format))
        return as(nvshmem_kind, NvshmemClass{});
    if (same_kind(kind, mpi_format))
        return as(mpi_kind, MpiClass{});
    if (same_kind(kind, interference_format))
        return as(interference_kind, InterferenceTable{});
    if (same_kind(kind, kernels_format))
        return as(kernels_kind, MeasuredKernels{});
    if (same_kind(kind, software_format))
        return as(software_kind, SoftwareClass{});
    if (same_kind(kind, storage_format))
        return as(storage_kind, StorageClass{});
    if (same_kind(kind, host_format))
        return as(host_kind, HostClass{});
    if (same_kind(kind, knots_format)) {
        std::vector<KnotTable> tables;
        builder.knots_from_path(path, tables);
        return problems;
    }
    const auto profile = load_profile(path, folders);
    return profile ? profile->warnings : profile.error();
}

Checked<Profile> assemble(const ProfileRequest& request, const Folders& folders)
{
    Problems problems;
    const Json nothing;
    const Reader where(nothing, "", problems);
    ProfileBuilder builder(folders, problems);
    PartFiles files(folders, problems);
    Profile out;
    Hardware& hardware = out.hardware;
    builder.from_file(where, device_kind, request.device, hardware.device);
    std::set<std::string> given;
    if (!request.fabric.empty()) {
        given.insert("fabric");
        builder.from_file(where, fabric_kind, request.fabric, hardware.fabric);
    }
    if (!has_errors(problems))
        add_companions(builder, where, given, hardware);
    const bool named =
        !request.network.name.empty() && files.exists(network_kind, request.network.name);
    builder.from_file(where, network_kind,
                      named ? request.network.name : network_by_transport(request.network),
                      hardware.network);
    builder.from_file(where, software_kind, request.software, out.software);
    if (has_errors(problems))
        return tl::unexpected(problems);
    out.name =
        fmt::format("{} + {} + {}", hardware.device.name, hardware.network.name, out.software.name);
    out.installation.provenance["factor"] = {
        Grade::published, "one machine against others of its kind: clocks, power, cooling", 0.88,
        1.12};
    return out;
}

namespace {

template <class Part>
Checked<Part> load_part(const PartKind& kind, const std::string& name, const Folders& folders)
{
    Problems problems;
    const Json nothing;
    Part out;
    ProfileBuilder(folders, problems).from_file(Reader(nothing, "", problems), kind, name, out);
    if (has_errors(problems))
        return tl::unexpected(problems);
    return out;
}

} // namespace

Checked<SoftwareClass> load_software(const std::string& name, const Folders& folders)
{
    return load_part<SoftwareClass>(software_kind, name, folders);
}
Checked<FabricClass> load_fabric(const std::string& name, const Folders& folders)
{
    return load_part<FabricClass>(fabric_kind, name, folders);
}
Checked<NetworkClass> load_network(const std::string& name, const Folders& folders)
{
    return load_part<NetworkClass>(network_kind, name, folders);
}
Checked<StorageClass> load_storage(const std::string& name, const Folders& folders)
{
    return load_part<StorageClass>(storage_kind, name, folders);
}
Checked<HostClass> load_host(const std::string& name, const Folders& folders)
{
    return load_part<HostClass>(host_kind, name, folders);
}

std::vector<std::string> known_profiles(const Folders& folders)
{
    return names_in(folders, profile_kind);
}
std::vector<std::string> known_devices(const Folders& folders)
{
    return names_in(folders, device_kind);
}
std::vector<std::string> known_networks(const Folders& folders)
{
    return names_in(folders, network_kind);
}
std::vector<std::string> known_software(const Folders& folders)
{
    return names_in(folders, software_kind);
}

} // namespace trainyard
