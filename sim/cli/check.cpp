#include "sim/api/file_kinds.h"
#include "sim/cli/command.h"
#include "sim/cli/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace trainyard {
namespace {

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
