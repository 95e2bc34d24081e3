#include "sim/cost/part_files.h"

#include "sim/base/file_format.h"
#include "sim/base/input_limits.h"
#include "sim/base/reader.h"
#include "sim/base/spelling.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// The names that the file itself gives; nothing when it cannot be parsed or is of another kind
// (whoever uses the file reports that).
struct Names {
    std::string name;
    std::vector<std::string> aliases;
};
std::optional<Names> names_of(const std::filesystem::path& path, std::string_view format)
{
    const Checked<Json> json = read_json_file(path.string(), input_limits);
    if (!json || !json->is_object())
        return std::nullopt;
    const Json* kind = json->find("format");
    if (kind != nullptr && kind->is_string() && kind->as_string() != format)
        return std::nullopt;
    Names out{path.stem().string(), {}};
    if (const Json* name = json->find("name"); name != nullptr && name->is_string())
        out.name = name->as_string();
    if (const Json* aliases = json->find("aliases"); aliases != nullptr && aliases->is_array())
        for (const Json& alias : aliases->items())
            if (alias.is_string())
                out.aliases.push_back(alias.as_string());
    return out;
}

std::optional<std::filesystem::path> existing(const std::filesystem::path& path)
{
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error))
        return path.lexically_normal();
    return std::nullopt;
}

} // namespace

bool answers_to(const std::string& name, const std::vector<std::string>& aliases,
                std::string_view wanted)
{
    const std::string plain = plain_name(wanted);
    return plain_name(name) == plain ||
           std::any_of(aliases.begin(), aliases.end(),
                       [&](const std::string& alias) { return plain_name(alias) == plain; });
}

std::vector<std::filesystem::path> files_of(const Folders& folders, const PartKind& kind)
{
    std::vector<std::filesystem::path> out;
    for (const std::filesystem::path& folder : folders) {
        const auto first = static_cast<std::ptrdiff_t>(out.size());
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(folder / kind.folder, error))
            if (entry.path().extension() == ".json" && entry.is_regular_file(error))
                out.push_back(entry.path());
        std::sort(out.begin() + first, out.end());
    }
    return out;
}

std::vector<std::string> names_in(const Folders& folders, const PartKind& kind)
{
    std::vector<std::string> out;
    for (const std::filesystem::path& path : files_of(folders, kind))
        if (const auto names = names_of(path, kind.format))
            out.push_back(names->name);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::optional<std::filesystem::path> PartFiles::locate(const PartKind& kind,
                                                       const std::string& name) const
{
    for (const std::filesystem::path& folder : folders_)
        for (const std::filesystem::path& candidate :
             {folder / name, folder / kind.folder / name, folder / kind.folder / (name + ".json")})
            if (candidate.extension() == ".json")
                if (const auto found = existing(candidate))
                    return found;
    const std::vector<std::filesystem::path> files = files_of(folders_, kind);
    for (const std::filesystem::path& path : files)
        if (plain_name(path.stem().string()) == plain_name(name))
            return path;
    for (const std::filesystem::path& path : files)
        if (const auto names = names_of(path, kind.format);
            names && answers_to(names->name, names->aliases, name))
            return path;
    return std::nullopt;
}

bool PartFiles::exists(const PartKind& kind, const std::string& name) const
{
    return locate(kind, name).has_value();
}

std::optional<std::filesystem::path> PartFiles::find(const Reader& where, const PartKind& kind,
                                                     const std::string& name) const
{
    if (name.empty()) {
        where.error(fmt::format("no {} is named", kind.key));
        return std::nullopt;
    }
    if (auto path = locate(kind, name))
        return path;
    const std::vector<std::string> known = names_in(folders_, kind);
    std::string all;
    for (const std::string& one : known)
        all += (all.empty() ? "known: " : ", ") + one;
    const std::string near = did_you_mean(name, known);
    where.error(fmt::format("unknown {} \"{}\"", kind.key, name),
                near.empty() ? all : fmt::format("did you mean \"{}\"? ({})", near, all));
    return std::nullopt;
}

namespace {

// Devices of before under_load had a clock.
void take_clock(Json* device)
{
    const Json* clock = device != nullptr ? device->find("sustained_clock") : nullptr;
    if (clock == nullptr)
        return;
    const Json value = *clock;
    const Json* load = device->find("under_load");
    if (load != nullptr && (!load->is_object() || load->find("clock") != nullptr))
        return; // two clocks: the older one is an unknown key
    std::erase_if(device->members(),
                  [](const Json::Member& m) { return m.first == "sustained_clock"; });
    (*device)["under_load"]["clock"] = value;
}

} // namespace

std::optional<RawFile> PartFiles::open_raw(const std::filesystem::path& path,
                                           std::string_view format) const
{
    Checked<Json> json = read_json_file(path.string(), input_limits);
    if (!json) {
        problems_->insert(problems_->end(), json.error().begin(), json.error().end());
        return std::nullopt;
    }
    const Reader reader(*json, path.string(), *problems_);
    if (!json->is_object()) {
        reader.error(fmt::format("expected an object, found {}", json->kind_name()));
        return std::nullopt;
    }
    if (!expect_format(reader, format))
        return std::nullopt;
    if (format == device_format)
        take_clock(&*json);
    Json* const hardware = format == profile_format ? json->find("hardware") : nullptr;
    if (hardware != nullptr && hardware->is_object())
        if (Json* const device = hardware->find("device"); device && device->is_object())
            take_clock(device);
    return RawFile{path.string(), std::move(*json)};
}

std::optional<PartFile> PartFiles::open(const std::filesystem::path& path,
                                        std::string_view format) const
{
    std::optional<RawFile> raw = open_raw(path, format);
    if (!raw)
        return std::nullopt;
    const std::size_t before = problems_->size();
    PlainTree plain = without_provenance(Reader(raw->json, raw->path, *problems_));
    if (has_errors(std::span(*problems_).subspan(before)))
        return std::nullopt;
    return PartFile{raw->path, std::move(plain)};
}

} // namespace trainyard
