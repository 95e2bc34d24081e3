#pragma once

// Options of the programs that launch jobs.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace trainyard {

enum class LauncherMeaning : std::uint8_t {
    nodes,
    gpus_per_node,
    ranks,       // of all nodes
    takes_value, // which says nothing here
    none         // stands alone, or carries its value after '='
};

struct LauncherOption {
    std::string_view name; // dashes for underscores
    LauncherMeaning meaning;
};
using LauncherOptions = std::span<const LauncherOption>;

// Of torchrun, deepspeed, accelerate, srun, sbatch, salloc, mpirun and mpiexec; nothing for a
// program that launches none.
std::optional<LauncherOptions> launcher_options(std::string_view launcher);

LauncherMeaning meaning_of(LauncherOptions options, std::string_view name);

} // namespace trainyard
