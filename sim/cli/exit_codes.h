#pragma once

namespace trainyard {

// What the program's exit says to a script.
enum ExitCode : int {
    exit_ok = 0,
    exit_no = 1, // ran, and the answer is no: does not fit
    exit_usage = 2,
    exit_invalid_input = 3,
    exit_missing_hardware = 4,
    exit_input_output = 5,
    exit_our_bug = 70,
    exit_interrupted = 130, // Ctrl-C: 128 + SIGINT
    exit_terminated = 143   // kill: 128 + SIGTERM
};

} // namespace trainyard
