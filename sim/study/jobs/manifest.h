#pragma once

// Jobs of Kubernetes: the command of a manifest's container, and the machines it asks for.

#include "sim/study/jobs/shell/launch.h"

namespace trainyard {

struct Manifest {
    TracedText script; // the container's environment, then its command
    std::optional<LaunchSize> nodes;
    std::optional<LaunchSize> gpus_per_node;
};

// Of several containers the one with the longest command; pods that ask for GPUs are nodes. Nothing
// where the text is no manifest or runs no command.
std::optional<Manifest> read_manifest(const std::string& text);

} // namespace trainyard
