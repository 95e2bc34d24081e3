#include "sim/api/file_kinds.h"
#include "sim/cli/command.h"
#include "sim/cli/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace trainyard {
namespace {

int run_schema(const std::string& name)
{
    const std::vector<std::string> names = schema_names();
    if (name.empty()) {
        for (const std::string& one : names)
            print_data(fmt::format("{:<10}  {}\n", one, kind_with_schema(one)->format));
        return exit_ok;
    }
    if (const FileKind* const kind = kind_with_schema(name)) {
        print_data(to_text(schema_document(*kind)) + "\n");
        return exit_ok;
    }
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
