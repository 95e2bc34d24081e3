#include "gui/model/read_pipe.h"

#include "sim/base/diagnostic.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <QFile>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace trainyard::gui {

namespace {

constexpr int look_every_ms = 50; // for a cancel

[[noreturn]] void fail(const std::string& file, const std::string& why)
{
    throw WorldError{fmt::format("cannot read {}: {}", file, why)};
}

} // namespace

bool is_pipe(const std::string& file)
{
    std::error_code ignored;
    const std::filesystem::file_type type = std::filesystem::status(file, ignored).type();
    return type == std::filesystem::file_type::fifo ||
           type == std::filesystem::file_type::character;
}

std::string read_pipe(const std::string& file, std::size_t max_bytes, const WorkControl& control)
{
    // Opening waits for nobody; what is read nevertheless ends only after somebody wrote.
    const int number = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (number < 0)
        fail(file, std::strerror(errno));
    QFile in;
    in.open(number, QIODevice::ReadOnly | QIODevice::Unbuffered, QFileDevice::AutoCloseHandle);
    std::string text;
    std::array<char, 65'536> part{};
    while (text.size() <= max_bytes) {
        control.check();
        pollfd wait{number, POLLIN, 0};
        if (::poll(&wait, 1, look_every_ms) <= 0)
            continue;
        const ssize_t got = ::read(number, part.data(), part.size());
        if (got == 0)
            return text;
        if (got > 0)
            text.append(part.data(), static_cast<std::size_t>(got));
        else if (errno != EINTR && errno != EAGAIN)
            fail(file, std::strerror(errno));
    }
    fail(file, fmt::format("larger than {} MiB", max_bytes >> 20));
}

} // namespace trainyard::gui
