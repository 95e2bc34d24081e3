#include "sim/cli/sister_programs.h"

#include "sim/cli/command.h"
#include "sim/cli/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace trainyard {
namespace {

namespace fs = std::filesystem;

// A program that stands beside this one and runs in its place. It is apart, for it needs libraries
// that a machine which only simulates does not have.
struct Sister {
    const char* command;
    const char* program;
    const char* instead; // what does part of it without that program
    const char* says;
};

constexpr std::array sisters{
    Sister{"calibrate", "trainyard-measure",
           "logs of nccl-tests make a profile without it: trainyard fit LOG... -o FILE",
           "Measure this machine: a profile and a topology that simulations trust"},
    Sister{"gui", "trainyard-gui",
           "without Qt, a report with pictures: trainyard simulate SCENARIO --html FILE",
           "Explore a scenario in a window: change it and see at once"},
};

const Sister& sister_of(std::string_view command)
{
    return *std::find_if(sisters.begin(), sisters.end(),
                         [&](const Sister& sister) { return sister.command == command; });
}

int run_sister(const Sister& sister, const std::vector<std::string>& arguments)
{
    std::error_code ignored;
    const std::string program =
        (fs::read_symlink("/proc/self/exe", ignored).parent_path() / sister.program).string();
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(program.c_str(), pointers.data());
    const bool absent = errno == ENOENT;
    print_talk(fmt::format("error: cannot run {}: {}\n", program, std::strerror(errno)));
    if (absent)
        print_talk(
            fmt::format("      it is not here (package {}); from the source tree: ./trainyard {}\n"
                        "      {}\n",
                        sister.program, sister.command, sister.instead));
    return exit_missing_hardware;
}

// Its options, --help among them, are those of the other program.
void add_sister(CLI::App& program, Command& chosen, const Sister& sister)
{
    CLI::App* const sub = program.add_subcommand(sister.command, sister.says);
    sub->prefix_command();
    sub->set_help_flag();
    sub->callback([&chosen, sub, sister] {
        std::vector<std::string> arguments = sub->remaining();
        chosen = [sister, arguments] { return run_sister(sister, arguments); };
    });
}

} // namespace

int run_sister_program(const std::string& command, const std::vector<std::string>& arguments)
{
    return run_sister(sister_of(command), arguments);
}

void add_calibrate(CLI::App& program, Command& chosen)
{
    add_sister(program, chosen, sister_of("calibrate"));
}

void add_gui(CLI::App& program, Command& chosen)
{
    add_sister(program, chosen, sister_of("gui"));
}

} // namespace trainyard
