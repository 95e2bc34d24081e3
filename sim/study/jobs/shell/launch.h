#pragma once

// How a script starts its job: the launcher's sizes, the program and its arguments, the
// environment.

#include "sim/study/jobs/shell/shell_script.h"

#include <optional>

namespace trainyard {

// A number of a launch and the line it stands in.
struct LaunchSize {
    int value = 0;
    int line = 0;

    bool operator==(const LaunchSize&) const = default;
};

struct Launch {
    std::string launcher; // "torchrun", "srun", "deepspeed", ...; empty: a bare line of arguments
    int line = 0;
    std::optional<LaunchSize> nodes;
    std::optional<LaunchSize> gpus_per_node;
    std::optional<LaunchSize> ranks; // of all nodes
    std::optional<LaunchSize> gpus;  // of all nodes
    std::string program;             // "pretrain_gpt.py", or the module of -m
    std::vector<TracedText> arguments;
    std::map<std::string, TracedText> environment; // exported, or set for the command
    std::vector<std::string> ignored;              // options of launchers that say nothing here
    std::vector<std::string> unknown;              // sizes whose value is not known
    bool gpus_unknown = false;                     // one of them is that of GPUs a node
    TracedText config;                // of the launcher itself: accelerate's --config-file
    std::vector<TracedText> settings; // options of accelerate that its configuration has too
    TracedText hosts;                 // the file that lists them: deepspeed's --hostfile
    bool cut = false; // a comment among its continued lines ends it before its last arguments
    std::map<std::string, std::string> files; // that a script inside the script writes
    std::vector<int> others;                  // lines of the script's other launches
};

// The launch of the script that trains: the command with a launcher or a Python program whose
// arguments number most; else all lists of arguments that the script keeps in variables. Nothing
// when there is neither.
std::optional<Launch> find_launch(const ShellScript& script);

} // namespace trainyard
