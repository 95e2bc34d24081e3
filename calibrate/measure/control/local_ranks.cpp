#include "calibrate/measure/control/local_ranks.h"

#include "calibrate/measure/control/connection.h"
#include "sim/base/diagnostic.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr const char* address_variable = "TRAINYARD_COORDINATOR"; // host port token
constexpr const char* place_variable = "TRAINYARD_PLACE";         // rank ranks
constexpr std::chrono::milliseconds to_end_alone{2'000};

std::optional<std::string> given(const char* variable)
{
    const char* const value = std::getenv(variable);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// The environment of a child: ours, changed.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& changes)
{
    std::vector<std::string> out;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (!changes.count(text.substr(0, text.find('='))))
            out.push_back(text);
    }
    for (const auto& [name, value] : changes)
        out.push_back(fmt::format("{}={}", name, value));
    return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts)
{
    std::vector<char*> out;
    for (std::string& text : texts)
        out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

void require_mpirun()
{
    const std::string folders = given("PATH").value_or("") + ":";
    for (std::size_t begin = 0; begin < folders.size();) {
        const std::size_t end = folders.find(':', begin);
        const fs::path file = fs::path(folders.substr(begin, end - begin)) / "mpirun";
        if (::access(file.c_str(), X_OK) == 0)
            return;
        begin = end + 1;
    }
    throw MeasureFailure{FailureKind::missing,
                         "no folder of PATH has mpirun, which starts MPI's ranks",
                         "install openmpi-bin, or set PATH"};
}

std::vector<std::string> mpirun_command(const RankProgram& program)
{
    std::vector<std::string> out{
        "mpirun",          "-n",        std::to_string(program.ranks),
        "--oversubscribe", "--bind-to", "none"}; // a rank has threads of its own
    if (::geteuid() == 0)
        out.push_back("--allow-run-as-root"); // it refuses root without
    out.push_back(program.program);
    return out;
}

// What was written to it so far; of very much, the last part.
std::string text_of(const Descriptor& output)
{
    constexpr off_t most = off_t{1} << 20;
    struct stat file {};
    ::fstat(output.number(), &file);
    std::string out(static_cast<std::size_t>(std::min(file.st_size, most)), '\0');
    const off_t begin = file.st_size - static_cast<off_t>(out.size());
    const ssize_t got = ::pread(output.number(), out.data(), out.size(), begin);
    out.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return out;
}

std::string last_line(const std::string& text)
{
    std::string out;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        if (line.find_first_not_of(" -\t\r") != std::string::npos)
            out = line;
        begin = end + 1;
    }
    return out;
}

// "mpirun noticed that process rank 1 with PID 123 on node box exited on signal 9 (Killed).", or
// "... exited with exit code 1": from "exited" on; empty when it says nothing of that rank.
std::string mpirun_on(int rank, const std::string& text)
{
    const std::size_t place = text.find(fmt::format("process rank {} with", rank));
    const std::size_t exited = text.find("exited", place);
    if (place == std::string::npos || exited == std::string::npos)
        return {};
    return text.substr(exited, text.find_first_of(".\n", exited) - exited);
}

std::string words_for(int status)
{
    if (WIFSIGNALED(status))
        return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                           ::strsignal(WTERMSIG(status)));
    return fmt::format("ended with code {}", WEXITSTATUS(status));
}

// In the child: from here on only calls that are safe after fork.
// `last_signal`: when this process is gone, however it went.
[[noreturn]] void become(char* const* arguments, char* const* environment, int output,
                         int last_signal)
{
    ::setpgid(0, 0); // Ctrl-C is the coordinator's business
    ::prctl(PR_SET_PDEATHSIG, last_signal);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execvpe(arguments[0], arguments, environment);
    ::_exit(127);
}

} // namespace

struct LocalRanks::Child {
    int process = 0;
    std::optional<int> rank;   // nothing: it is mpirun
    Descriptor output;         // of memory: nothing is left whatever ends this process
    std::optional<int> status; // once it has ended

    std::string name() const { return rank ? fmt::format("rank {}", *rank) : "mpirun"; }

    std::string end() const
    {
        const std::string said = last_line(text_of(output));
        return words_for(*status) + (said.empty() ? "" : ": " + said);
    }

    bool has_ended()
    {
        int now = 0;
        if (!status && ::waitpid(process, &now, WNOHANG) == process)
            status = now;
        return status.has_value();
    }
};

LocalRanks::LocalRanks(const RankProgram& program, const CoordinatorAddress& address)
{
    if (program.start == RankStart::mpirun)
        require_mpirun();
    const bool by_mpirun = program.start == RankStart::mpirun;
    const int processes = program.start == RankStart::each ? program.ranks : 1;
    for (int i = 0; i < processes; ++i) {
        std::vector<std::string> command =
            by_mpirun ? mpirun_command(program) : std::vector<std::string>{program.program};
        command.insert(command.end(), program.arguments.begin(), program.arguments.end());
        std::map<std::string, std::string> changes{
            {address_variable, fmt::format("{} {} {}", address.host, address.port, address.token)}};
        if (program.start == RankStart::each)
            changes[place_variable] = fmt::format("{} {}", i, program.ranks);
        std::vector<std::string> variables = environment_with(changes);
        const std::vector<char*> arguments = pointers_to(command);
        const std::vector<char*> environment = pointers_to(variables);

        auto child = std::make_unique<Child>();
        if (!by_mpirun)
            child->rank = i; // the only one beside a launched coordinator is rank 0
        // Appended to, for all processes of an mpirun write to it.
        child->output = Descriptor(::memfd_create("what a rank says", MFD_CLOEXEC));
        const bool ready = child->output && ::fcntl(child->output.number(), F_SETFL, O_APPEND) == 0;
        child->process = ready ? ::fork() : -1;
        if (child->process == 0)
            become(arguments.data(), environment.data(), child->output.number(),
                   by_mpirun ? SIGTERM : SIGKILL); // mpirun tidies up after itself
        const int error = errno;
        if (child->process < 0)
            throw WorldError{
                fmt::format("cannot start {}: {}", child->name(), std::strerror(error))};
        children_.push_back(std::move(child));
    }
}

// First those that end by themselves, for the connection is closed; then by force.
LocalRanks::~LocalRanks()
{
    const auto end = std::chrono::steady_clock::now() + to_end_alone;
    const auto all_ended = [&] {
        bool all = true;
        for (const auto& child : children_)
            all = child->has_ended() && all;
        return all;
    };
    while (!all_ended() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (const auto& child : children_)
        if (!child->status) {
            ::kill(-child->process, SIGKILL);
            ::waitpid(child->process, nullptr, 0);
        }
}

std::string LocalRanks::first_end()
{
    for (const auto& child : children_)
        if (child->has_ended())
            return child->name() + " " + child->end();
    return {};
}

std::string LocalRanks::fate_of(int rank)
{
    for (const auto& child : children_) {
        if (child->rank == rank && child->has_ended())
            return child->end();
        if (!child->rank)
            if (std::string said = mpirun_on(rank, text_of(child->output)); !said.empty())
                return said;
    }
    return {};
}

std::optional<CoordinatorAddress> address_given()
{
    const auto text = given(address_variable);
    if (!text)
        return std::nullopt;
    const std::size_t first = text->find(' ');
    const std::size_t second = text->find(' ', first + 1);
    if (first == std::string::npos || second == std::string::npos)
        return std::nullopt;
    return CoordinatorAddress{text->substr(0, first),
                              std::atoi(text->substr(first + 1, second - first - 1).c_str()),
                              text->substr(second + 1)};
}

std::optional<LaunchPlace> place_given()
{
    const auto text = given(place_variable);
    if (!text)
        return std::nullopt;
    LaunchPlace out;
    out.rank = std::atoi(text->c_str());
    out.ranks = std::atoi(text->substr(text->find(' ') + 1).c_str());
    out.local_rank = out.rank;
    out.local_ranks = out.ranks;
    return out;
}

} // namespace trainyard
