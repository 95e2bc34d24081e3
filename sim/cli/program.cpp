#include "sim/base/build_info.h"
#include "sim/base/diagnostic.h"
#include "sim/base/freed_memory.h"
#include "sim/base/progress.h"
#include "sim/cli/command.h"
#include "sim/cli/terminal.h"
#include "sim/cli/usage.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <sstream>

namespace trainyard {
namespace {

std::vector<std::string> subcommand_names(const CLI::App& command)
{
    std::vector<std::string> names;
    for (const CLI::App* sub : command.get_subcommands({}))
        names.push_back(sub->get_name());
    return names;
}

// How far the words of a command line name commands: "topo", then "topo show".
struct Named {
    const CLI::App* command;
    std::string path;    // "trainyard topo"
    std::string unknown; // the first word that should name a command and does not; may be empty
};

Named named_command(const CLI::App& program, int argc, char** argv)
{
    Named out{&program, program.get_name(), ""};
    for (int i = 1; i < argc; ++i) {
        const std::vector<std::string> names = subcommand_names(*out.command);
        if (names.empty())
            break;
        const std::string word = argv[i];
        if (word.starts_with('-'))
            continue;
        if (std::find(names.begin(), names.end(), word) == names.end()) {
            out.unknown = word;
            break;
        }
        out.command = out.command->get_subcommand(word);
        out.path += " " + word;
    }
    return out;
}

// CLI11's message, and the name that was probably meant.
int report_usage(const CLI::App& program, const CLI::ParseError& error, int argc, char** argv)
{
    if (error.get_exit_code() == 0) { // --help, --version
        std::ostringstream text;
        program.exit(error, text, text);
        print_data(text.str());
        return exit_ok;
    }
    const Named named = named_command(program, argc, argv);
    if (!named.unknown.empty()) {
        print_talk(fmt::format("error: \"{}\" is no command of {}\n      {}\n", named.unknown,
                               named.path,
                               suggestion(named.unknown, subcommand_names(*named.command))));
        return exit_usage;
    }
    print_talk(fmt::format("error: {}\n", error.what()));
    print_talk(near_options(*named.command, argc, argv));
    print_talk(fmt::format("      {} --help shows what there is\n", named.path));
    return exit_usage;
}

// Parses the command line and runs what it asks for.
int parse_and_run(int argc, char** argv)
{
    CLI::App program{"Simulator and capacity planner for distributed training", "trainyard"};
    program.set_version_flag("--version", std::string(version()));
    program.require_subcommand(1);
    program.failure_message(CLI::FailureMessage::simple);
    Command chosen;
    for (const AddCommand add :
         {add_init, add_simulate, add_compare, add_sweep, add_plan, add_memory, add_check,
          add_model, add_topo, add_import, add_export, add_calibrate, add_fit, add_validate,
          add_gui, add_schema, add_completion, add_manual})
        add(program, chosen);
    if (argc == 1) {
        print_talk(program.help());
        return exit_usage;
    }
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return report_usage(program, error, argc, argv);
    }
    if (const std::string empty = empty_file_name(program); !empty.empty()) {
        print_talk(fmt::format("error: the file name of {} is empty\n", empty));
        return exit_usage;
    }
    return chosen();
}

} // namespace

int run_program(int argc, char** argv)
{
    keep_freed_memory();
    listen_for_interrupts();
    try {
        return parse_and_run(argc, argv);
    } catch (const WorldError& error) {
        print_talk(fmt::format("error: {}\n", error.message));
        return exit_input_output;
    } catch (const Cancelled&) {
        const ExitCode code = interrupted_exit();
        print_talk("interrupted; nothing was written\n");
        return code;
    } catch (const std::bad_alloc&) {
        print_talk("error: out of memory\n");
        return exit_input_output;
    } catch (const std::exception& error) {
        print_talk(fmt::format(
            "internal error: {}\n      this is a bug of trainyard {}; please report it with the "
            "command and its input\n",
            error.what(), version()));
        return exit_our_bug;
    }
}

} // namespace trainyard
