#include "sim/cli/command.h"
#include "sim/cli/file_kinds.h"
#include "sim/cli/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace trainyard {
namespace {

std::vector<FileKind> kinds_with_schema()
{
    std::vector<FileKind> kinds = file_kinds();
    std::erase_if(kinds, [](const FileKind& kind) { return kind.schema == nullptr; });
    return kinds;
}

int run_schema(const std::string& name)
{
    if (name.empty()) {
        for (const FileKind& kind : kinds_with_schema())
            print_data(fmt::format("{:<10}  {}\n", kind.name, kind.format));
        return exit_ok;
    }
    for (const FileKind& kind : kinds_with_schema())
        if (kind.name == name) {
            Json schema = Json::object();
            schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
            const Json body = kind.schema();
            for (const Json::Member& member : body.members())
                schema[member.first] = member.second;
            print_data(to_text(schema) + "\n");
            return exit_ok;
        }
    std::vector<std::string> names;
    for (const FileKind& kind : kinds_with_schema())
        names.emplace_back(kind.name);
    print_talk(
        fmt::format("error: there is no schema \"{}\"\n      {}\n", name, suggestion(name, names)));
    return exit_usage;
}

} // namespace

void add_schema(CLI::App& program, Command& chosen)
{
    CLI::App* const sub =
        program.add_subcommand("schema", "Print the JSON Schema of a kind of file");
    auto name = std::make_shared<std::string>();
    sub->add_option("name", *name, "kind of file; none lists them");
    sub->footer("Example: trainyard schema scenario > scenario.schema.json");
    sub->callback([&chosen, name] { chosen = [name] { return run_schema(*name); }; });
}

} // namespace trainyard
