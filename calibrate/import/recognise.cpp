#include "calibrate/import/recognise.h"

#include "calibrate/import/nccl_json.h"
#include "calibrate/import/nccl_text.h"
#include "calibrate/import/pair_text.h"
#include "calibrate/import/smi_matrix.h"
#include "calibrate/import/sweep_collection.h"

#include <array>
#include <utility>

namespace trainyard {
namespace {

constexpr std::array<std::pair<ImportKind, std::string_view>, 4> kind_names{{
    {ImportKind::nccl_tests, "nccl-tests"},
    {ImportKind::nvbandwidth, "nvbandwidth"},
    {ImportKind::p2p, "p2p"},
    {ImportKind::topology, "topo"},
}};

std::vector<ImportKind> kinds_of_json(const Json& json)
{
    if (is_nvbandwidth_json(json))
        return {ImportKind::nvbandwidth};
    if (is_pairs(json))
        return {ImportKind::p2p};
    if (is_sweep_collection(json) || is_nccl_json(json))
        return {ImportKind::nccl_tests};
    return {};
}

std::vector<ImportKind> kinds_of_text(std::string_view text)
{
    std::vector<ImportKind> out;
    ImportNotes ignored;
    if (!read_nccl_text(text, ignored).empty())
        out.push_back(ImportKind::nccl_tests);
    if (const ImportedPairs pairs = read_pair_text(text); !pairs.matrices.empty())
        out.push_back(pairs.matrices.front().title.find("memcpy") == std::string::npos &&
                              pairs.matrices.front().title.find("(row)") == std::string::npos
                          ? ImportKind::p2p
                          : ImportKind::nvbandwidth);
    if (!read_smi_matrices(text).empty())
        out.push_back(ImportKind::topology);
    return out;
}

} // namespace

std::string_view name_of(ImportKind kind)
{
    for (const auto& [known, name] : kind_names)
        if (known == kind)
            return name;
    return "?";
}

std::vector<std::string> import_kind_names()
{
    std::vector<std::string> names;
    for (const auto& [kind, name] : kind_names)
        names.emplace_back(name);
    return names;
}

std::optional<ImportKind> import_kind_named(std::string_view name)
{
    for (const auto& [kind, known] : kind_names)
        if (known == name)
            return kind;
    return std::nullopt;
}

std::vector<ImportKind> recognise_import(std::string_view text)
{
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos)
        return {};
    if (text[start] == '<' && text.find("<system") != std::string_view::npos)
        return {ImportKind::topology};
    if (text[start] == '{' || text[start] == '[')
        if (const Checked<Json> json = parse_json(text, ""))
            return kinds_of_json(*json);
    return kinds_of_text(text);
}

bool is_compressed(std::string_view text)
{
    return text.starts_with("\x1f\x8b");
}

} // namespace trainyard
