#include "sim/cli/command.h"
#include "sim/cli/terminal.h"
#include "tests/catch.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST_CASE("long work says how much there is, how long it takes and what is shorter")
{
    const LongWork work{"simulating {} operations", "--fidelity alpha-beta is faster"};
    CHECK(long_work_notice(work, 65536, 4'194'304, 1.5) ==
          "simulating 4.19 million operations: about 96 s; --fidelity alpha-beta is faster\n");
    CHECK(long_work_notice({"simulating {} operations", ""}, 4096, 81920, 1) ==
          "simulating 82 thousand operations: about 20 s\n");
}
