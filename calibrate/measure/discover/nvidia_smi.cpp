#include "calibrate/measure/discover/nvidia_smi.h"

#include "calibrate/import/notes.h"
#include "calibrate/import/smi_matrix.h"
#include "calibrate/measure/deadline.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

namespace trainyard {
namespace {

constexpr std::size_t most_output = std::size_t{1} << 20;
constexpr Milliseconds to_die{1'000};
constexpr const char* command = "nvidia-smi topo -m";

// A process group of its own, whose output comes back through a pipe.
class Child {
public:
    Child()
    {
        std::array<int, 2> ends{-1, -1};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
            error_ = errno;
            return;
        }
        output_ = ends[0];
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        std::string program = "nvidia-smi";
        std::string what = "topo";
        std::string how = "-m";
        const std::array<char*, 4> arguments{program.data(), what.data(), how.data(), nullptr};
        error_ = ::posix_spawnp(&process_, program.c_str(), &actions, &attributes, arguments.data(),
                                environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child()
    {
        if (error_ == 0 && !status_) {
            ::kill(-process_, SIGKILL);
            wait(Clock::now() + to_die);
        }
        if (output_ >= 0)
            ::close(output_);
    }

    int error() const { return error_; } // of starting it

    // Until it closes its output. False: not by `end`.
    bool read_all(Clock::time_point end, std::string& text) const
    {
        std::array<char, 4096> part{};
        while (true) {
            pollfd one{output_, POLLIN, 0};
            if (::poll(&one, 1, static_cast<int>(left_until(end).count())) < 0 && errno == EINTR)
                continue;
            if (one.revents == 0)
                return false;
            const ssize_t got = ::read(output_, part.data(), part.size());
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                return true;
            if (text.size() < most_output) // the rest is read too, so that it can end
                text.append(part.data(), static_cast<std::size_t>(got));
            if (Clock::now() >= end)
                return false;
        }
    }

    // How it ended; nothing: not by `end`.
    std::optional<int> wait(Clock::time_point end)
    {
        int now = 0;
        while (!status_) {
            if (const pid_t ended = ::waitpid(process_, &now, WNOHANG); ended == process_)
                status_ = now;
            else if (Clock::now() >= end)
                break;
            else
                std::this_thread::sleep_for(Milliseconds(2));
        }
        return status_;
    }

private:
    pid_t process_ = -1;
    int output_ = -1;
    int error_ = 0;
    std::optional<int> status_;
};

std::string first_line(const std::string& text)
{
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos)
        return {};
    return ": " + printable(text.substr(begin, text.find('\n', begin) - begin));
}

} // namespace

SmiAnswer ask_nvidia_smi(Milliseconds limit)
{
    const auto end = Clock::now() + limit;
    Child child;
    if (child.error() == ENOENT)
        return {};
    if (child.error() != 0)
        return {"", fmt::format("{} cannot be run: {}", command, std::strerror(child.error()))};
    SmiAnswer out;
    const bool whole = child.read_all(end, out.matrix);
    const std::optional<int> status = whole ? child.wait(end) : std::nullopt;
    if (!status)
        return {"", fmt::format("{} did not end within {:g} s: the driver may hang", command,
                                std::chrono::duration<double>(limit).count())};
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0)
        return {"", (WIFEXITED(*status)
                         ? fmt::format("{} ended with code {}", command, WEXITSTATUS(*status))
                         : fmt::format("{} was killed by signal {}", command, WTERMSIG(*status))) +
                        first_line(out.matrix)};
    if (read_smi_matrices(out.matrix).empty())
        return {"", fmt::format("{} printed no matrix{}", command, first_line(out.matrix))};
    return out;
}

} // namespace trainyard
