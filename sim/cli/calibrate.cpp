#include "sim/cli/command.h"
#include "sim/cli/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace trainyard {
namespace {

namespace fs = std::filesystem;

// Runs the program that measures in place of this one. It is apart, for it needs what a machine
// that only simulates does not have.
int run_measuring_program(const std::vector<std::string>& arguments)
{
    std::error_code ignored;
    const std::string program =
        (fs::read_symlink("/proc/self/exe", ignored).parent_path() / "trainyard-measure").string();
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
        print_talk("      it was not built here; from the source tree: ./trainyard calibrate\n"
                   "      logs of nccl-tests make a profile without it: trainyard fit LOG... -o "
                   "FILE\n");
    return exit_missing_hardware;
}

} // namespace

void add_calibrate(CLI::App& program, Command& chosen)
{
    CLI::App* const sub = program.add_subcommand(
        "calibrate", "Measure this machine: a profile and a topology that simulations trust");
    // Its options, --help among them, are those of the program that measures.
    sub->prefix_command();
    sub->set_help_flag();
    sub->callback([&chosen, sub] {
        std::vector<std::string> arguments = sub->remaining();
        chosen = [arguments] { return run_measuring_program(arguments); };
    });
}

} // namespace trainyard
