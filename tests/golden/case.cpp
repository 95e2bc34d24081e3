#include "tests/golden/case.h"

#include <fmt/core.h>

#include <sstream>
#include <stdexcept>

namespace trainyard::golden {
namespace {

// Where the lines after "--- <name> <argument>" go; null when the header holds all.
std::string* section(Case& golden, const std::string& name, const std::string& argument)
{
    if (name == "file") {
        golden.files.emplace_back(argument, "");
        return &golden.files.back().second;
    }
    if (name == "stdout")
        return &golden.expected.out;
    if (name == "stderr")
        return &golden.expected.err;
    if (name == "wrote")
        return &golden.expected.wrote;
    if (name == "exit")
        golden.expected.exit = std::stoi(argument);
    else if (name == "tolerance")
        golden.tolerance = std::stod(argument) / 100;
    else
        throw std::runtime_error("unknown section --- " + name);
    return nullptr;
}

} // namespace

Case parse_case(const std::string& text)
{
    Case golden;
    std::istringstream lines(text);
    std::string* current = &golden.about;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("--- ")) {
            std::istringstream header(line.substr(4));
            std::string name;
            std::string argument;
            header >> name >> argument;
            current = section(golden, name, argument);
        } else if (current == &golden.about && line.starts_with("$ ")) {
            golden.command = line.substr(2);
        } else if (current != nullptr) {
            *current += line + '\n';
        } else if (!line.empty()) {
            throw std::runtime_error("a line stands outside of every section: " + line);
        }
    }
    if (golden.command.empty() || golden.about.empty())
        throw std::runtime_error("a case needs a sentence and a command");
    return golden;
}

std::string to_text(const Case& golden)
{
    std::string text = fmt::format("{}$ {}\n", golden.about, golden.command);
    for (const auto& [name, content] : golden.files)
        text += fmt::format("--- file {}\n{}", name, content);
    if (golden.tolerance > 0)
        text += fmt::format("--- tolerance {} %\n", golden.tolerance * 100);
    text += fmt::format("--- exit {}\n", golden.expected.exit);
    const Outputs& expected = golden.expected;
    for (const auto& [name, content] :
         {std::pair<const char*, const std::string&>{"stdout", expected.out},
          {"stderr", expected.err},
          {"wrote", expected.wrote}})
        if (!content.empty())
            text += fmt::format("--- {}\n{}{}", name, content, content.back() == '\n' ? "" : "\n");
    return text;
}

} // namespace trainyard::golden
