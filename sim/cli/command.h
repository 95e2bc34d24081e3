#pragma once

// What a subcommand is: it adds its options to the program and leaves behind what to run.

#include "sim/cli/exit_codes.h"

#include <functional>

namespace CLI {
class App;
}

namespace trainyard {

using Command = std::function<int()>; // returns an ExitCode

// Adds the subcommand to `program`. When it is chosen, `chosen` holds the call to make after
// parsing.
using AddCommand = void (*)(CLI::App& program, Command& chosen);

void add_simulate(CLI::App& program, Command& chosen);
void add_compare(CLI::App& program, Command& chosen);
void add_sweep(CLI::App& program, Command& chosen);
void add_plan(CLI::App& program, Command& chosen);
void add_memory(CLI::App& program, Command& chosen);
void add_check(CLI::App& program, Command& chosen);
void add_model(CLI::App& program, Command& chosen);
void add_topo(CLI::App& program, Command& chosen);
void add_import(CLI::App& program, Command& chosen);
void add_export(CLI::App& program, Command& chosen);
void add_init(CLI::App& program, Command& chosen);
void add_fit(CLI::App& program, Command& chosen);
void add_calibrate(CLI::App& program, Command& chosen);
void add_gui(CLI::App& program, Command& chosen);
void add_validate(CLI::App& program, Command& chosen);
void add_schema(CLI::App& program, Command& chosen);
void add_completion(CLI::App& program, Command& chosen);
void add_manual(CLI::App& program, Command& chosen);

// Runs the program; catches what the world throws.
int run_program(int argc, char** argv);

} // namespace trainyard
