#include "sim/base/input_limits.h"
#include "sim/cli/command.h"
#include "sim/cli/file_kinds.h"
#include "sim/cli/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <filesystem>
#include <fstream>

namespace trainyard {
namespace {

struct CheckedFile {
    std::string path;
    std::string kind; // empty when it was not recognised
    Problems problems;
    bool read = true; // false: the system did not give it
};

// Only lists of records may be large. A pipe cannot be looked at before it is read.
JsonLimits limits_of(const std::string& path)
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        return record_limits;
    std::ifstream in(path);
    char first = '\0';
    in >> first; // past blanks
    return first == '[' ? record_limits : input_limits;
}

CheckedFile check_content(const std::string& path)
{
    CheckedFile out{path, "", {}};
    const Checked<Json> json = read_json_file(path, limits_of(path));
    if (!json) {
        out.problems = json.error();
        return out;
    }
    const FileKind* const kind = recognise(*json);
    if (kind == nullptr) {
        std::string formats;
        for (const FileKind& known : file_kinds())
            formats += fmt::format("{}\"{}\"", formats.empty() ? "" : ", ", known.format);
        out.problems.push_back({path, json->line(), "", "this is no kind of file known here",
                                fmt::format("say which with \"format\": one of {}", formats),
                                Severity::error});
        return out;
    }
    out.kind = kind->name;
    out.problems = kind->check(*json, path);
    return out;
}

// A file that cannot be read does not keep the others from being checked.
CheckedFile check_file(const std::string& path)
{
    try {
        return check_content(path);
    } catch (const WorldError& error) {
        return {path, "", {{"", 0, "", error.message, "", Severity::error}}, false};
    }
}

Json to_json(const CheckedFile& file)
{
    Json out = Json::object();
    out["file"] = file.path;
    out["kind"] = file.kind;
    out["ok"] = !has_errors(file.problems);
    out["problems"] = Json::array();
    for (const Diagnostic& problem : file.problems) {
        Json entry = Json::object();
        entry["severity"] = problem.severity == Severity::error ? "error" : "warning";
        entry["file"] = problem.file;
        entry["line"] = problem.line;
        entry["pointer"] = problem.pointer;
        entry["message"] = problem.message;
        entry["hint"] = problem.hint;
        out["problems"].push_back(std::move(entry));
    }
    return out;
}

int run_check(const std::vector<std::string>& paths, bool as_json)
{
    Json report = Json::array();
    bool good = true;
    bool all_read = true;
    for (const std::string& path : paths) {
        const CheckedFile file = check_file(path);
        good = good && !has_errors(file.problems);
        all_read = all_read && file.read;
        if (as_json) {
            report.push_back(to_json(file));
            continue;
        }
        print_problems(file.problems, fmt::format("{} is not right.", path));
        if (!has_errors(file.problems))
            print_data(fmt::format("{}: ok ({})\n", path, file.kind));
    }
    if (as_json)
        print_data(to_text(report) + "\n");
    return good ? exit_ok : all_read ? exit_invalid_input : exit_input_output;
}

} // namespace

void add_check(CLI::App& program, Command& chosen)
{
    CLI::App* const sub =
        program.add_subcommand("check", "Is this file right? Every problem, with line and fix");
    auto paths = std::make_shared<std::vector<std::string>>();
    auto as_json = std::make_shared<bool>(false);
    sub->add_option("files", *paths,
                    "scenarios, topologies, models, profiles and their parts, records")
        ->required()
        ->type_name("FILE");
    sub->add_flag("--json", *as_json, "print the findings as JSON");
    sub->footer("Example: trainyard check scenarios/*.json topologies/*.json");
    sub->callback([&chosen, paths, as_json] {
        chosen = [paths, as_json] { return run_check(*paths, *as_json); };
    });
}

} // namespace trainyard
