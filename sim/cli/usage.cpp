#include "sim/cli/usage.h"

#include "sim/base/diagnostic.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

std::vector<std::string> option_names(const CLI::App& app)
{
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames())
            names.push_back("--" + name);
    return names;
}

} // namespace

std::string near_options(const CLI::App& app, int argc, char** argv)
{
    const std::vector<std::string> options = option_names(app);
    std::string out;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const std::string given = word.substr(0, word.find('='));
        if (given.starts_with("--") &&
            std::find(options.begin(), options.end(), given) == options.end())
            if (const std::string near = did_you_mean(given, options); !near.empty())
                out += fmt::format("      {}: did you mean {}?\n", given, near);
    }
    return out;
}

std::string empty_file_name(const CLI::App& app)
{
    for (const CLI::Option* option : app.get_options())
        for (const std::string& given : option->results())
            if (given.empty() && option->get_type_name() == "FILE")
                return option->get_name();
    for (const CLI::App* sub : app.get_subcommands())
        if (std::string found = empty_file_name(*sub); !found.empty())
            return found;
    return {};
}

} // namespace trainyard
