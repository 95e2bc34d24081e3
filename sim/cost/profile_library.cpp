#include "sim/cost/profile_library.h"

#include "sim/base/build_info.h"
#include "sim/cost/part_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace trainyard {
namespace {

class ProfileBuilder {
public:
    ProfileBuilder(const Folders& folders, Problems& problems)
        : files_(folders, problems), problems_(problems)
    {}

    // `name` is a file of `kind`; errors are placed at `where`.
    template <class Part>
    void from_file(const Reader& where, const PartKind& kind, const std::string& name, Part& out)
    {
        const std::optional<std::filesystem::path> path = files_.find(where, kind, name);
        if (!path)
            return;
        if (const auto file = files_.open(*path, kind.format)) {
            const Reader reader(file->plain.json, file->path, problems_);
            read_part(reader, file->plain.provenance, out);
            check_part(reader, out);
        }
    }

    // The part `key` of `parent`: a name, an object, or an object on a "base".
    template <class Part>
    void part(const Reader& parent, const PartKind& kind, const ProvenanceMap& provenance,
              const std::map<std::string, std::string>& bases, Part& out)
    {
        const Reader reader = parent.member(kind.key);
        if (reader.node().is_string()) {
            from_file(reader, kind, reader.node().as_string(), out);
            return;
        }
        if (const auto base = bases.find(reader.pointer()); base != bases.end())
            from_file(reader, kind, base->second, out);
        read_part(reader, provenance, out);
        check_part(reader, out);
    }

    // Tables of a file of knots, appended.
    void knots_file(const Reader& where, const std::string& name, std::vector<KnotTable>& out)
    {
        const auto path = files_.find(where, knots_kind, name);
        if (!path)
            return;
        if (const auto file = files_.open_raw(*path, knots_kind.format)) {
            const Reader reader(file->json, file->path, problems_);
            if (!check_keys(reader, {{"tables", true}, {"description", false}}, "knots") ||
                file->json.find("tables") == nullptr)
                return;
            std::vector<KnotTable> tables;
            FieldValue<std::vector<KnotTable>>::read(reader.member("tables"), tables);
            out.insert(out.end(), tables.begin(), tables.end());
        }
    }

private:
    PartFiles files_;
    Problems& problems_;
};

// What a device brings with it unless the profile says otherwise.
void default_companions(ProfileBuilder& builder, const Reader& where,
                        const std::set<std::string>& given, Hardware& hardware)
{
    if (!given.count("fabric") && !hardware.device.fabric.empty())
        builder.from_file(where, fabric_kind, hardware.device.fabric, hardware.fabric);
    if (!given.count("knots") && !hardware.device.knots.empty() &&
        hardware.fabric.name == hardware.device.fabric)
        builder.knots_file(where, hardware.device.knots, hardware.knots);
    if (!given.count("collectives"))
        builder.from_file(where, collectives_kind, "nccl", hardware.collectives);
    if (!given.count("gloo"))
        builder.from_file(where, gloo_kind, "gloo", hardware.gloo);
}

// A list of names of files, or of tables in place, or one name.
void read_knots(ProfileBuilder& builder, const Reader& reader, std::vector<KnotTable>& out)
{
    if (reader.node().is_string()) {
        builder.knots_file(reader, reader.node().as_string(), out);
        return;
    }
    if (!reader.node().is_array()) {
        reader.error("expected a list of tables or of files of tables");
        return;
    }
    for (std::size_t i = 0; i < reader.node().items().size(); ++i) {
        const Reader item = reader.element(i);
        if (item.node().is_string()) {
            builder.knots_file(item, item.node().as_string(), out);
            continue;
        }
        KnotTable table;
        FieldValue<KnotTable>::read(item, table);
        out.push_back(std::move(table));
    }
}

// Takes "base" members out of the parts: pointer of the part -> file.
std::map<std::string, std::string> take_bases(Json& root, const Reader& reader)
{
    std::map<std::string, std::string> out;
    const auto take = [&](Json* part, const std::string& pointer) {
        if (part == nullptr || !part->is_object())
            return;
        if (const Json* base = part->find("base"); base != nullptr && base->is_string())
            out[pointer] = base->as_string();
        else if (base != nullptr)
            reader.error("\"base\" of " + pointer + " is not the name of a file");
        std::erase_if(part->members(), [](const Json::Member& m) { return m.first == "base"; });
    };
    if (Json* hardware = root.find("hardware"); hardware != nullptr && hardware->is_object())
        for (Json::Member& member : hardware->members())
            take(&member.second, "/hardware/" + member.first);
    take(root.find("software"), "/software");
    return out;
}

class ProfileReader {
public:
    ProfileReader(const Reader& root, const ProvenanceMap& provenance,
                  std::map<std::string, std::string> bases, ProfileBuilder& builder)
        : root_(root), provenance_(provenance), bases_(std::move(bases)), builder_(builder)
    {}

    Profile read()
    {
        Profile out;
        if (!check_keys(root_,
                        {{"name", false},
                         {"description", false},
                         {"hardware", true},
                         {"software", false},
                         {"installation", false}},
                        "profile"))
            return out;
        text("name", out.name);
        text("description", out.description);
        if (has(root_, "hardware"))
            hardware(root_.member("hardware"), out.hardware);
        if (has(root_, "software"))
            builder_.part(root_, software_kind, below(provenance_, "software"), bases_,
                          out.software);
        else
            assume_software(out.software);
        if (has(root_, "installation"))
            read_part(root_.member("installation"), below(provenance_, "installation"),
                      out.installation);
        return out;
    }

private:
    static bool has(const Reader& reader, const char* key)
    {
        return reader.node().find(key) != nullptr;
    }

    void assume_software(SoftwareClass& out)
    {
        root_.warn("no software layer", "mcore-2024 is assumed unless a scenario says otherwise");
        builder_.from_file(root_, software_kind, "mcore-2024", out);
    }

    void text(const char* key, std::string& out)
    {
        if (has(root_, key))
            FieldValue<std::string>::read(root_.member(key), out);
    }

    void hardware(const Reader& reader, Hardware& out)
    {
        if (!check_keys(reader,
                        {{"device", true},
                         {"fabric", false},
                         {"network", true},
                         {"collectives", false},
                         {"gloo", false},
                         {"knots", false}},
                        "hardware"))
            return;
        std::set<std::string> given;
        const auto one = [&](const PartKind& kind, auto& part) {
            if (!has(reader, kind.key))
                return;
            given.insert(kind.key);
            builder_.part(reader, kind, below(provenance_, std::string("hardware.") + kind.key),
                          bases_, part);
        };
        one(device_kind, out.device);
        one(fabric_kind, out.fabric);
        one(network_kind, out.network);
        one(collectives_kind, out.collectives);
        one(gloo_kind, out.gloo);
        if (has(reader, "knots")) {
            given.insert("knots");
            read_knots(builder_, reader.member("knots"), out.knots);
        }
        default_companions(builder_, reader, given, out);
    }

    Reader root_;
    const ProvenanceMap& provenance_;
    std::map<std::string, std::string> bases_;
    ProfileBuilder& builder_;
};

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
    Json plain = file->plain.json;
    auto bases = take_bases(plain, Reader(plain, file->path, problems));
    ProfileBuilder builder(around, problems);
    ProfileFile out;
    out.profile = ProfileReader(Reader(plain, file->path, problems), file->plain.provenance,
                                std::move(bases), builder)
                      .read();
    if (out.profile.name.empty())
        out.profile.name = path.stem().string();
    if (has_errors(problems))
        return tl::unexpected(problems);
    out.warnings = std::move(problems);
    return out;
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
        default_companions(builder, where, given, hardware);
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

Checked<SoftwareClass> load_software(const std::string& name, const Folders& folders)
{
    Problems problems;
    const Json nothing;
    SoftwareClass out;
    ProfileBuilder(folders, problems)
        .from_file(Reader(nothing, "", problems), software_kind, name, out);
    if (has_errors(problems))
        return tl::unexpected(problems);
    return out;
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

Problems mismatches(const Profile& profile, const Topology& topology)
{
    Problems out;
    const auto warn = [&](std::string message, std::string hint) {
        out.push_back({"", 0, "", std::move(message), std::move(hint), Severity::warning});
    };
    if (topology.device_count() == 0)
        return out;
    const DeviceAttachment device = topology.device(DeviceId{0});
    if (!answers_to(profile.hardware.device.name, profile.hardware.device.aliases, device.model))
        warn(fmt::format("profile \"{}\" is of {}, the topology has {}", profile.name,
                         profile.hardware.device.name, device.model),
             "times are those of the profile's device");
    const bool nvlink = device.nvlink.value() > 0;
    if (nvlink != (profile.hardware.device.nvlink.value() > 0))
        warn(nvlink ? "the topology has NVLink, the profile's device has none"
                    : "the topology has no NVLink, the profile's device has",
             "choose a profile of the same kind of server");
    const NodeNetwork network = topology.network(device.node);
    if (network.transport != Transport::none && !network.name.empty() &&
        !answers_to(profile.hardware.network.name, profile.hardware.network.aliases, network.name))
        warn(fmt::format("profile \"{}\" is of network {}, the topology has {}", profile.name,
                         profile.hardware.network.name, network.name),
             "line rates are the topology's, latency and efficiency the profile's");
    return out;
}

} // namespace trainyard
