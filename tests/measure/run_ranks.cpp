#include "tests/measure/run_ranks.h"

#include "tests/support/folder.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <thread>

namespace trainyard::testing {
namespace {

// Ends ranks that hang; no measure of how fast they are.
constexpr std::chrono::minutes limit(20);

pid_t start(std::vector<std::string> command, const std::string& output)
{
    std::vector<char*> arguments;
    for (std::string& word : command)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child != 0)
        return child;
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    setpgid(0, 0); // what it starts ends with it
    // Libraries that are not ours leak at their end, and the sanitizers do not see their locks.
    setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
    setenv("TSAN_OPTIONS", "ignore_noninstrumented_modules=1 detect_deadlocks=0", 0);
    execvp(arguments[0], arguments.data());
    std::_Exit(127);
}

// Whether it ended by itself, with 0.
bool ended_well(pid_t child, std::chrono::steady_clock::time_point end)
{
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > end) {
            kill(-child, SIGKILL);
            waitpid(child, &status, 0);
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

RanksOutcome run_all(const std::vector<std::vector<std::string>>& commands, const Folder& folder)
{
    const auto end = std::chrono::steady_clock::now() + limit;
    std::vector<pid_t> children;
    std::vector<std::string> outputs;
    for (const std::vector<std::string>& command : commands) {
        outputs.push_back((folder.path() / ("output" + std::to_string(outputs.size()))).string());
        children.push_back(start(command, outputs.back()));
    }
    RanksOutcome outcome{.succeeded = true, .output = ""};
    for (std::size_t i = 0; i < children.size(); ++i) {
        outcome.succeeded &= ended_well(children[i], end);
        std::ostringstream text;
        text << std::ifstream(outputs[i]).rdbuf();
        outcome.output += text.str();
    }
    return outcome;
}

} // namespace

RanksOutcome run_ranks(const std::string& module, const std::string& checks, int ranks)
{
    const Folder folder;
    std::vector<std::vector<std::string>> commands;
    for (int rank = 0; rank < ranks; ++rank)
        commands.push_back({RANK_OF_MODULE, module, checks, folder.path().string(),
                            std::to_string(rank), std::to_string(ranks)});
    return run_all(commands, folder);
}

RanksOutcome run_mpi_ranks(const std::string& mpirun, const std::string& module,
                           const std::string& checks, int ranks)
{
    const Folder folder;
    return run_all({{mpirun, "--oversubscribe", "--allow-run-as-root", "-n", std::to_string(ranks),
                     RANK_OF_MODULE, module, checks, folder.path().string()}},
                   folder);
}

} // namespace trainyard::testing
