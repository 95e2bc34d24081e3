#pragma once

// The two streams of the command line: stdout is data, stderr is talk.

#include "sim/base/diagnostic.h"
#include "sim/base/progress.h"
#include "sim/cli/exit_codes.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

// Colours only on a terminal, and not when NO_COLOR is set.
bool use_colour_on_stdout();

// Cells in a line of stdout: the terminal's (else those that COLUMNS says), 100 where it is none.
std::size_t width_of_stdout();

// What a terminal may be sent of `text`: line breaks and tabs stay, colours of Paint become those
// of the terminal; other control characters, what reorders a line and what is no UTF-8 are
// escaped, as "\\x1b". Names come from files of others.
std::string for_terminal(std::string_view text);

// Writes to stdout, as it is where that is no terminal. Throws WorldError when it cannot (disk
// full); a closed pipe ends the program quietly.
void print_data(std::string_view text);

// The same, but goes on after a closed pipe: whoever read has what they wanted, and more is to do.
void print_data_and_go_on(std::string_view text);

// Writes to stderr, where people read it, at once or from a log: always as a terminal may have it.
void print_talk(std::string_view text);

// Every problem, and the closing count when there are errors.
void print_problems(std::span<const Diagnostic> problems, std::string_view closing);

// The same, and what the program then returns.
ExitCode refuse(const Problems& problems, std::string_view closing,
                ExitCode code = exit_invalid_input);

// Cancelled by the first Ctrl-C or SIGTERM; a second one kills. So does the first after 0.3 s where
// nobody heard it, as none can that waits in a library or for a pipe: files are put in place whole,
// nothing half-made is left. Valid for the life of the program.
const CancelFlag& interrupt_flag();
// 128 + the signal that cancelled, as shells have it; it was heard.
ExitCode interrupted_exit();
void listen_for_interrupts();

// While one lives, the first signal only cancels, however late that is noticed: the work keeps what
// it has done so far.
class KeepsWhatIsDone {
public:
    KeepsWhatIsDone();
    ~KeepsWhatIsDone();
    KeepsWhatIsDone(const KeepsWhatIsDone&) = delete;
    KeepsWhatIsDone& operator=(const KeepsWhatIsDone&) = delete;
};

struct LongWork {
    std::string what;   // with the count for {}: "simulating {} operations"
    std::string faster; // what would shorten it; empty: nothing
};

// What to say when `done` of `total` units took `spent` seconds.
std::string long_work_notice(const LongWork& work, double done, double total, double spent);

// Draws progress and the time left of its stage on stderr while it lives, when stderr is a terminal
// and the work takes longer than a third of a second.
class ProgressBar {
public:
    ProgressBar();
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    // Calls that draw, with the interrupt flag.
    WorkControl control();

    // The same for counted work that may be long: when a second of it tells that the whole takes
    // more than five (thirty where stderr is no terminal), says once how much there is, how long it
    // will take and what is faster.
    WorkControl control(LongWork work);

private:
    void draw(std::string_view stage, double done, double total);
    void announce(double done, double total);

    std::chrono::steady_clock::time_point start_;
    std::chrono::steady_clock::time_point drawn_;
    std::string stage_; // that is drawn, without what follows a comma
    std::chrono::steady_clock::time_point stage_start_;
    double stage_from_ = 0; // the share done when it was first drawn
    std::optional<std::chrono::steady_clock::time_point> counted_since_; // of the long work
    LongWork work_;                                                      // empty once announced
    bool terminal_ = false;
    bool visible_ = false;
};

} // namespace trainyard
