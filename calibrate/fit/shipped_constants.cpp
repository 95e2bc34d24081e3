#include "calibrate/fit/shipped_constants.h"

#include "calibrate/fit/written_constant.h"

#include <array>

namespace trainyard {
namespace {

struct KindGrade {
    std::string_view kind;
    const char* grade;
};
constexpr std::array<KindGrade, 6> grades{{{"spec", "published"},
                                           {"market", "published"},
                                           {"published", "published"},
                                           {"measured", "published"},
                                           {"derived", "datasheet"},
                                           {"recalled", "datasheet"}}};

Diagnostic wrong(const std::string& file, const std::string& path, const std::string& what)
{
    return {file,
            0,
            path,
            what,
            "kinds: spec, market, published, measured, derived, recalled",
            Severity::error};
}

const char* grade_of(const Json& constant)
{
    const Json* kind = constant.find("kind");
    for (const KindGrade& one : grades)
        if (kind != nullptr && kind->is_string() && kind->as_string() == one.kind)
            return one.grade;
    return nullptr;
}

void write_constants(Json& file, const Json& constants, const std::string& name, Problems& problems)
{
    for (const auto& [path, constant] : constants.members()) {
        const char* grade = grade_of(constant);
        const Json* value = constant.find("value");
        const Json* source = constant.find("source");
        if (grade == nullptr || value == nullptr || source == nullptr) {
            problems.push_back(wrong(name, path, "no value, source or known kind"));
            continue;
        }
        Json& member = member_at(file, path);
        member["value"] = *value;
        member["grade"] = grade;
        member["source"] = *source;
    }
}

} // namespace

Checked<std::map<std::string, Json>> shipped_constants(const Json& constants,
                                                       const std::filesystem::path& profiles)
{
    std::map<std::string, Json> out;
    Problems problems;
    const Json* files = constants.find("files");
    if (files == nullptr || !files->is_object())
        return tl::unexpected(Problems{wrong("", "files", "no files")});
    for (const auto& [name, members] : files->members()) {
        Checked<Json> file = read_json_file((profiles / name).string());
        if (!file)
            return tl::unexpected(file.error());
        write_constants(*file, members, name, problems);
        out.emplace(name, std::move(*file));
    }
    if (!problems.empty())
        return tl::unexpected(problems);
    return out;
}

} // namespace trainyard
