#include "sim/cli/command.h"
#include "sim/cli/terminal.h"
#include "sim/report/text/paint.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

using namespace trainyard;

namespace {

// The exit code of the program when its standard output is a full disk, in a process of its own:
// a stream that failed keeps what it could not write.
int exit_code_on_a_full_disk(std::vector<std::string> words)
{
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO);
        ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
        std::vector<char*> arguments;
        for (std::string& word : words)
            arguments.push_back(word.data());
        arguments.push_back(nullptr);
        ::_exit(run_program(static_cast<int>(words.size()), arguments.data()));
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

} // namespace

TEST_CASE("output that cannot be written is a failure, of help as of results")
{
    CHECK(exit_code_on_a_full_disk({"trainyard", "--help"}) == exit_input_output);
    CHECK(exit_code_on_a_full_disk({"trainyard", "--version"}) == exit_input_output);
    CHECK(exit_code_on_a_full_disk({"trainyard", "topo", "--help"}) == exit_input_output);
    CHECK(exit_code_on_a_full_disk({"trainyard", "schema", "scenario"}) == exit_input_output);
}

TEST_CASE("a terminal is sent the report's colours and nothing that a file may say to it")
{
    CHECK(for_terminal(Paint(Colour::ansi).alarm("no") + "\n\tyes\n") ==
          "\x1b[1;31mno\x1b[0m\n\tyes\n");
    CHECK(for_terminal("\x1b[1;31mno\x1b[0m") == "\\x1b[1;31mno\\x1b[0m");
    CHECK(for_terminal("a\x1b]0;title\x07|\r\x1b[2K|\x1b[8m") ==
          "a\\x1b]0;title\\x07|\\x0d\\x1b[2K|\\x1b[8m");
    CHECK(for_terminal("\xC2\x9B|\xFF\xC3\xA9") == "\\xc2\\x9b|\\xff\xC3\xA9");
}

TEST_CASE("work that never looks up is ended by the first signal")
{
    const testing::Folder folder;
    const std::string pipe = (folder.path() / "pipe.json").string(); // nobody writes to it
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
            std::string program = "trainyard";
            std::string command = "check";
            std::string file = pipe;
            std::array arguments{program.data(), command.data(), file.data(),
                                 static_cast<char*>(nullptr)};
            listen_for_interrupts();
            ::kill(::getpid(), signal);
            ::_exit(run_program(3, arguments.data()));
        }
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        REQUIRE(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == code);
    }
}

TEST_CASE("long work says how much there is, how long it takes and what is shorter")
{
    const LongWork work{"simulating {} operations", "--fidelity alpha-beta is faster"};
    CHECK(long_work_notice(work, 65536, 4'194'304, 1.5) ==
          "simulating 4.19 million operations: about 96 s; --fidelity alpha-beta is faster\n");
    CHECK(long_work_notice({"simulating {} operations", ""}, 4096, 81920, 1) ==
          "simulating 82 thousand operations: about 20 s\n");
}
