#pragma once

// What a process's variables say of how it was started, and which of them change how data moves.

#include "calibrate/measure/backend/backend.h"
#include "sim/base/diagnostic.h"
#include "sim/base/field_names.h"

#include <cstdint>
#include <map>
#include <string>

namespace trainyard {

using Variables = std::map<std::string, std::string>;

// Of this process.
Variables own_variables();

std::optional<std::string> value_of(const Variables& variables, const std::string& name);

enum class LaunchStyle : std::uint8_t { none, torchrun, open_mpi, pmi, slurm };

template <>
std::vector<EnumName<LaunchStyle>> enum_names<LaunchStyle>(); // "torchrun", "Open MPI", ...

struct RankLaunch {
    LaunchStyle style = LaunchStyle::none;
    LaunchPlace place;

    bool operator==(const RankLaunch&) const = default;
};

// torchrun before Open MPI before PMI before Slurm: mpirun and torchrun run inside Slurm's jobs
// too, and set their own. A batch script of Slurm outside srun is no launch. Variables that
// contradict each other (a rank beyond the number of ranks, one without the other) are problems.
Checked<RankLaunch> launch_of(const Variables& variables);

// Those that change paths: of NCCL, UCX, libfabric, Gloo, Open MPI's transports and CUDA. Names of
// secrets never; a value that lists hosts, addresses or files of a user is replaced by
// `value_left_out`.
inline constexpr std::string_view value_left_out = "(set; value left out)";
Variables path_variables(const Variables& variables);

} // namespace trainyard
