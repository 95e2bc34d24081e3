#include "sim/cost/profile_builder.h"

#include "sim/base/fields.h"
#include "sim/base/reader.h"

#include <fmt/core.h>

namespace trainyard {

void add_companions(ProfileBuilder& builder, const Reader& where,
                    const std::set<std::string>& given, Hardware& hardware)
{
    if (!given.count("fabric") && !hardware.device.fabric.empty())
        builder.from_file(where, fabric_kind, hardware.device.fabric, hardware.fabric);
    if (!given.count("knots") && !hardware.device.knots.empty() &&
        hardware.fabric.name == hardware.device.fabric)
        builder.knots_file(where, hardware.device.knots, hardware.knots);
    if (!given.count("kernels") && !hardware.device.kernels.empty())
        builder.from_file(where, kernels_kind, hardware.device.kernels, hardware.kernels);
    if (!given.count("collectives"))
        builder.from_file(where, collectives_kind, "nccl", hardware.collectives);
    if (!given.count("gloo"))
        builder.from_file(where, gloo_kind, "gloo", hardware.gloo);
    if (!given.count("ucx"))
        builder.from_file(where, ucx_kind, "ucx", hardware.ucx);
    if (!given.count("nvshmem"))
        builder.from_file(where, nvshmem_kind, "nvshmem", hardware.nvshmem);
    if (!given.count("mpi"))
        builder.from_file(where, mpi_kind, "mpi", hardware.mpi);
    builder.check_chip(where, hardware);
}

void ProfileBuilder::check_chip(const Reader& where, const Hardware& hardware)
{
    const int measured = hardware.kernels.compute_capability;
    const int here = hardware.device.compute_capability;
    if (measured == 0 || measured == here)
        return;
    const auto version = [](int capability) {
        return fmt::format("{}.{}", capability / 10, capability % 10);
    };
    Diagnostic problem{
        "",
        0,
        "/kernels",
        here == 0
            ? fmt::format("kernels \"{}\" were measured on compute capability {}, {} states none",
                          hardware.kernels.name, version(measured), hardware.device.name)
            : fmt::format("kernels \"{}\" were measured on compute capability {}, {} has {}",
                          hardware.kernels.name, version(measured), hardware.device.name,
                          version(here)),
        "kernels of the same chip, or \"kernels\": \"\" for peak and efficiency alone",
        here == 0 ? Severity::warning : Severity::error};
    if (where.node().find(kernels_kind.key) != nullptr) {
        const Reader at = where.member(kernels_kind.key);
        here == 0 ? at.warn(problem.message, problem.hint)
                  : at.error(problem.message, problem.hint);
        return;
    }
    problem.file = paths_[device_kind.key];
    problems_.push_back(std::move(problem));
}

namespace {

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
                         {"installation", false},
                         {"own_steps", false}},
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
        if (has(root_, "own_steps"))
            fields_of<OwnStepsMark>().read(root_.member("own_steps"), out.own_steps.emplace());
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
                         {"ucx", false},
                         {"nvshmem", false},
                         {"mpi", false},
                         {"interference", false},
                         {"kernels", false},
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
        one(ucx_kind, out.ucx);
        one(nvshmem_kind, out.nvshmem);
        one(mpi_kind, out.mpi);
        one(interference_kind, out.interference);
        one(kernels_kind, out.kernels);
        if (has(reader, "knots")) {
            given.insert("knots");
            read_knots(builder_, reader.member("knots"), out.knots);
        }
        const std::size_t before = reader.error_count();
        add_companions(builder_, reader, given, out);
        if (before == 0 && reader.error_count() == 0 && !(out.fabric.base_ll.value() > 0))
            reader.error("no fabric: neither the profile nor its device names one",
                         "add \"fabric\": \"nvlink4\" or another class of fabrics/");
    }

    Reader root_;
    const ProvenanceMap& provenance_;
    std::map<std::string, std::string> bases_;
    ProfileBuilder& builder_;
};

} // namespace

Profile read_profile(const PartFile& file, ProfileBuilder& builder, Problems& problems)
{
    Json plain = file.plain.json;
    auto bases = take_bases(plain, Reader(plain, file.path, problems));
    return ProfileReader(Reader(plain, file.path, problems), file.plain.provenance,
                         std::move(bases), builder)
        .read();
}

} // namespace trainyard
