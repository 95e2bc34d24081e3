#include "sim/cli/manual.h"

#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/cli/command.h"
#include "sim/cli/sister_programs.h"
#include "sim/cli/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

namespace trainyard {
namespace {

constexpr std::string_view whole_program = "trainyard";

// Text that macros leave as it is.
std::string roff_text(std::string_view text)
{
    std::string out;
    bool begins_line = true;
    for (const char c : text) {
        if (begins_line && (c == '.' || c == '\''))
            out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-') // that of options, to be copied
            out += "\\-";
        else
            out += c;
        begins_line = c == '\n';
    }
    return out;
}

std::string page_name(std::string_view path)
{
    std::string name(path);
    std::replace(name.begin(), name.end(), ' ', '-');
    return name;
}

std::string page_reference(const std::string& path)
{
    return fmt::format(".BR {} (1)", roff_text(page_name(path)));
}

// An option or operand: what stands on its left in --help, then what it does.
std::string described(const CLI::Option& option, bool is_operand)
{
    const CLI::Formatter help;
    return fmt::format(
        ".TP\n.B {}\n{}\n",
        roff_text(help.make_option_name(&option, is_operand) + help.make_option_opts(&option)),
        roff_text(help.make_option_desc(&option)));
}

std::string described(const std::vector<const CLI::Option*>& options, bool are_operands)
{
    std::string out;
    for (const CLI::Option* const option : options)
        out += described(*option, are_operands);
    return out;
}

std::vector<const CLI::Option*> shown_options(const CLI::App& command, bool operands)
{
    return command.get_options([operands](const CLI::Option* option) {
        return !option->get_group().empty() && option->get_positional() == operands;
    });
}

std::string synopsis(const CLI::App& command, const std::string& path)
{
    std::string out = fmt::format(".B {}\n", roff_text(path));
    out += "[OPTIONS]";
    for (const CLI::Option* const operand : shown_options(command, true))
        out += fmt::format(fmt::runtime(operand->get_required() ? " {}" : " [{}]"),
                           roff_text(CLI::Formatter().make_option_name(operand, true)));
    if (!command.get_subcommands({}).empty())
        out += " COMMAND ...";
    return out + "\n";
}

// Each line of a footer by itself; those of several examples are aligned by blanks.
std::string paragraphs(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const std::size_t first = line.find_first_not_of(' ');
        if (first != std::string_view::npos)
            out += (out.empty() ? "" : ".PP\n") + roff_text(line.substr(first)) + "\n";
    }
    return out;
}

// The commands of the program, by name; the parts of a command, in full.
std::string commands_below(const CLI::App& command, const std::string& path)
{
    std::string out;
    for (const CLI::App* const sub : command.get_subcommands({})) {
        const std::string longer = path + " " + sub->get_name();
        if (path == whole_program)
            out += fmt::format(".TP\n{}\n{}\n", page_reference(longer),
                               roff_text(sub->get_description()));
        else
            out += fmt::format(".SS {}\n{}\n.PP\n{}{}{}", roff_text(longer),
                               roff_text(sub->get_description()), synopsis(*sub, longer),
                               described(shown_options(*sub, true), true),
                               described(shown_options(*sub, false), false));
    }
    return out;
}

std::string section(std::string_view title, const std::string& body)
{
    return body.empty() ? "" : fmt::format(".SH {}\n{}", title, body);
}

// Commands whose pages are made by their own programs.
bool is_sister(const CLI::App& command)
{
    return command.get_prefix_command();
}

const CLI::App* find_command(const CLI::App& program, const std::string& name)
{
    for (const CLI::App* const sub : program.get_subcommands({}))
        if (sub->get_name() == name)
            return sub;
    return nullptr;
}

std::string page_of(const CLI::App& program, const CLI::App& command)
{
    return manual_page(command, &command == &program
                                    ? program.get_name()
                                    : program.get_name() + " " + command.get_name());
}

int write_pages(const CLI::App& program, const std::string& folder)
{
    std::vector<const CLI::App*> commands = program.get_subcommands({});
    std::erase_if(commands, [](const CLI::App* command) { return is_sister(*command); });
    commands.push_back(&program);
    FilesTogether files;
    for (const CLI::App* const command : commands) {
        std::string name = program.get_name();
        if (command != &program)
            name += "-" + command->get_name();
        files.add(std::filesystem::path(folder) / (name + ".1"), page_of(program, *command));
    }
    files.publish();
    return exit_ok;
}

int run_manual(const CLI::App& program, const std::string& name, const std::string& folder)
{
    if (!folder.empty())
        return write_pages(program, folder);
    const CLI::App* const command = name.empty() ? &program : find_command(program, name);
    if (command == nullptr) {
        std::vector<std::string> names;
        for (const CLI::App* const sub : program.get_subcommands({}))
            names.push_back(sub->get_name());
        print_talk(fmt::format("error: \"{}\" is no command of {}\n      {}\n", name,
                               program.get_name(), suggestion(name, names)));
        return exit_usage;
    }
    if (is_sister(*command))
        return run_sister_program(name, {"--manual"});
    print_data(page_of(program, *command));
    return exit_ok;
}

} // namespace

std::string manual_page(const CLI::App& command, const std::string& path)
{
    const std::string name = page_name(path);
    std::string upper = name;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const bool is_program = path == whole_program;
    const std::string says = command.get_description();
    std::string out = fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n", roff_text(upper),
                                  whole_program, version());
    out += section("NAME", fmt::format("{} \\- {}\n", roff_text(name), roff_text(says)));
    out += section("SYNOPSIS", synopsis(command, path));
    out += section("ARGUMENTS", described(shown_options(command, true), true));
    out += section("OPTIONS", described(shown_options(command, false), false));
    out += section("COMMANDS", commands_below(command, path));
    out += section("NOTES", paragraphs(command.get_footer()));
    if (!is_program)
        out += section("SEE ALSO", page_reference(std::string(whole_program)) + "\n");
    return out;
}

void add_manual_option(CLI::App& program, const std::string& path)
{
    program
        .add_flag_callback("--manual",
                           [&program, path] {
                               print_data(manual_page(program, path));
                               throw CLI::Success();
                           })
        ->group(""); // not of the help that it prints
}

void add_manual(CLI::App& program, Command& chosen)
{
    CLI::App* const sub = program.add_subcommand("manual", "Print the manual page of a command");
    auto name = std::make_shared<std::string>();
    auto folder = std::make_shared<std::string>();
    CLI::Option* const command =
        sub->add_option("command", *name, "of this command; else of the program itself");
    sub->add_option("-o,--output", *folder,
                    "write the pages of all commands into this folder, which exists")
        ->type_name("FOLDER")
        ->excludes(command);
    sub->footer("Example: trainyard manual simulate | man -l -");
    sub->callback([&program, &chosen, name, folder] {
        chosen = [&program, name, folder] { return run_manual(program, *name, *folder); };
    });
}

} // namespace trainyard
