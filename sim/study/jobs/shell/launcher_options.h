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
    ranks,         // of all nodes
    gpus,          // of all nodes
    setting,       // of the program that it starts, with a value
    setting_alone, // a switch, without one
    takes_value,   // which says nothing here
    none           // stands alone, or carries its value after '='
};

struct LauncherOption {
    LauncherMeaning meaning;
    // Parted by spaces, dashes for underscores; one that ends in a dash is the begin of many.
    std::string_view names;
};
using LauncherOptions = std::span<const LauncherOption>;

// Of torchrun, deepspeed, accelerate, srun, sbatch, salloc, mpirun and mpiexec; nothing for a
// program that launches none.
std::optional<LauncherOptions> launcher_options(std::string_view launcher);

// The word behind its name that makes it launch: "run" of "colossalai run"; empty: none does.
std::string_view launching_word(std::string_view launcher);

LauncherMeaning meaning_of(LauncherOptions options, std::string_view name);

} // namespace trainyard
