#include "sim/cli/terminal.h"

#include "sim/base/utf8.h"
#include "sim/report/text/paint.h"
#include "sim/study/ranks/ranks.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace trainyard {

namespace {

// Launchers of ranks give them terminals of their own, and write what they say wherever they want.
bool is_terminal(int stream)
{
    return ::isatty(stream) == 1 && !launched_rank();
}

} // namespace

bool use_colour_on_stdout()
{
    const char* const no_colour = std::getenv("NO_COLOR");
    return is_terminal(STDOUT_FILENO) && (no_colour == nullptr || *no_colour == '\0');
}

std::size_t width_of_stdout()
{
    constexpr std::size_t usual = 100;
    if (!is_terminal(STDOUT_FILENO))
        return usual;
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char* const columns = std::getenv("COLUMNS");
    const long width = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
    return width > 0 && width <= 10'000 ? static_cast<std::size_t>(width) : usual;
}

std::string for_terminal(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const PaintCode colour = Paint::code_at(text);
        const bool painted = colour.length > 0;
        const std::size_t length =
            painted ? colour.length : std::min(text.find('\x1b', 1), text.size());
        out += painted ? '\x1b' + std::string(colour.sequence)
                       : printable_lines(text.substr(0, length));
        text.remove_prefix(length);
    }
    return out;
}

namespace {

bool wrote_data(std::string_view text)
{
    static const bool terminal = is_terminal(STDOUT_FILENO);
    const std::string shown = terminal ? for_terminal(text) : std::string();
    if (terminal)
        text = shown;
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
           std::fflush(stdout) == 0;
}

[[noreturn]] void fail_on_data(int error)
{
    throw WorldError{fmt::format("cannot write to standard output: {}", std::strerror(error))};
}

} // namespace

void print_data(std::string_view text)
{
    if (!wrote_data(text))
        fail_on_data(errno);
}

void print_data_and_go_on(std::string_view text)
{
    const auto usual = std::signal(SIGPIPE, SIG_IGN);
    const bool written = wrote_data(text);
    const int error = errno;
    std::signal(SIGPIPE, usual);
    if (!written && error != EPIPE)
        fail_on_data(error);
}

namespace {

void write_talk(std::string_view text)
{
    std::fwrite(text.data(), 1, text.size(), stderr);
}

constexpr std::string_view clear_line = "\r\033[K";

} // namespace

void print_talk(std::string_view text)
{
    write_talk(for_terminal(text));
}

void print_problems(std::span<const Diagnostic> problems, std::string_view closing)
{
    print_talk(render(problems, closing));
}

ExitCode refuse(const Problems& problems, std::string_view closing, ExitCode code)
{
    print_problems(problems, closing);
    return code;
}

namespace {

// Seconds above which work is announced: to somebody who watches, and in the log of a job.
constexpr double long_to_watch = 5;
constexpr double long_in_a_log = 30;

CancelFlag interrupted;
volatile std::sig_atomic_t first_signal = 0;
volatile std::sig_atomic_t keepers = 0;   // of the main thread
volatile std::sig_atomic_t bar_drawn = 0; // a bar stands in the last line

// What looks at the flag ends by itself. What does not (a library that reads a file, a pipe that
// nobody writes to) is ended here, and says the same.
constexpr suseconds_t to_notice = 300'000; // microseconds

extern "C" void on_unheard(int)
{
    if (keepers > 0)
        return;
    constexpr std::string_view end = "\r\033[Kinterrupted; nothing was written\n";
    const std::string_view said = bar_drawn ? end : end.substr(clear_line.size());
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, said.data(), said.size());
    ::_exit(128 + first_signal);
}

extern "C" void on_interrupt(int signal)
{
    if (first_signal == 0)
        first_signal = signal;
    interrupted.cancel();
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    const itimerval once{{0, 0}, {0, to_notice}};
    ::setitimer(ITIMER_REAL, &once, nullptr);
}

} // namespace

KeepsWhatIsDone::KeepsWhatIsDone()
{
    keepers = keepers + 1;
}

KeepsWhatIsDone::~KeepsWhatIsDone()
{
    keepers = keepers - 1;
}

const CancelFlag& interrupt_flag()
{
    return interrupted;
}

ExitCode interrupted_exit()
{
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr); // it was heard
    return first_signal == SIGTERM ? exit_terminated : exit_interrupted;
}

void listen_for_interrupts()
{
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
    std::signal(SIGALRM, on_unheard);
    std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow fails as a full disk does
}

std::string long_work_notice(const LongWork& work, double done, double total, double spent)
{
    const double millions = total / 1e6;
    const std::string count = millions < 1 ? fmt::format("{:.0f} thousand", total / 1e3)
                                           : fmt::format("{:.3g} million", millions);
    return fmt::format("{}: about {:.0f} s{}{}\n", fmt::format(fmt::runtime(work.what), count),
                       spent * total / done, work.faster.empty() ? "" : "; ", work.faster);
}

ProgressBar::ProgressBar()
    : start_(std::chrono::steady_clock::now()),
      drawn_(start_),
      terminal_(is_terminal(STDERR_FILENO))
{}

ProgressBar::~ProgressBar()
{
    if (visible_)
        write_talk(clear_line);
    bar_drawn = 0;
}

WorkControl ProgressBar::control()
{
    WorkControl control;
    control.cancel = &interrupt_flag();
    if (terminal_)
        control.progress = [this](std::string_view stage, double done, double total) {
            draw(stage, done, total);
        };
    return control;
}

WorkControl ProgressBar::control(LongWork work)
{
    work_ = std::move(work);
    WorkControl control = this->control();
    control.progress = [this, draw = control.progress](std::string_view stage, double done,
                                                       double total) {
        announce(done, total);
        if (draw)
            draw(stage, done, total);
    };
    return control;
}

// The rate is that since the first call: what came before (reading, binding) is not counted work.
void ProgressBar::announce(double done, double total)
{
    using namespace std::chrono;
    if (work_.what.empty() || total <= 0)
        return;
    const auto now = steady_clock::now();
    if (!counted_since_)
        counted_since_ = now;
    const double spent = duration<double>(now - *counted_since_).count();
    // The first operations alone are too little to reckon with.
    constexpr double enough = 0.02;
    if (!(done > 0) || spent < (done < enough * total ? long_to_watch : 1.0))
        return;
    if (spent * total / done > (terminal_ ? long_to_watch : long_in_a_log)) {
        if (visible_)
            write_talk(clear_line);
        print_talk(long_work_notice(work_, done, total, spent));
    }
    work_ = {};
}

void ProgressBar::draw(std::string_view stage, double done, double total)
{
    using namespace std::chrono;
    const auto now = steady_clock::now();
    if (now - start_ < milliseconds(333) || now - drawn_ < milliseconds(100))
        return;
    drawn_ = now;
    if (const std::string_view name = stage.substr(0, stage.find(',')); name != stage_) {
        stage_ = name;
        stage_start_ = now;
        stage_from_ = total > 0 ? done / total : 0;
    }
    visible_ = true;
    bar_drawn = 1;
    if (total <= 0) {
        write_talk(fmt::format("{}{} ...", clear_line, stage));
        return;
    }
    constexpr int width = 30;
    const double share = std::min(1.0, done / total);
    const int filled = static_cast<int>(share * width);
    const double spent = duration<double>(now - stage_start_).count();
    const std::string left =
        share > stage_from_
            ? fmt::format(", {:.0f} s left", spent * (1 - share) / (share - stage_from_))
            : "";
    write_talk(fmt::format("{}{} [{:=<{}}{:{}}] {:3.0f} %{}", clear_line, stage, "", filled, "",
                           width - filled, 100 * share, left));
}

} // namespace trainyard
