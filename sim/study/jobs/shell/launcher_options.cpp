#include "sim/study/jobs/shell/launcher_options.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

using enum LauncherMeaning;
using Option = LauncherOption;

// Options of torchrun, srun, mpirun, deepspeed and accelerate that are followed by a value; any
// other stands alone or carries its value after '='.
constexpr std::array torch_options{
    Option{"--nnodes", nodes},
    Option{"--nproc-per-node", gpus_per_node},
    Option{"--node-rank", takes_value},
    Option{"--rdzv-backend", takes_value},
    Option{"--rdzv-endpoint", takes_value},
    Option{"--rdzv-id", takes_value},
    Option{"--rdzv-conf", takes_value},
    Option{"--master-addr", takes_value},
    Option{"--master-port", takes_value},
    Option{"--max-restarts", takes_value},
    Option{"--monitor-interval", takes_value},
    Option{"--start-method", takes_value},
    Option{"--role", takes_value},
    Option{"--log-dir", takes_value},
    Option{"--redirects", takes_value},
    Option{"-r", takes_value},
    Option{"--tee", takes_value},
    Option{"-t", takes_value},
    Option{"--local-ranks-filter", takes_value},
    Option{"--local-addr", takes_value},
    Option{"--num-nodes", nodes},
    Option{"--num-gpus", gpus_per_node},
    Option{"--hostfile", takes_value},
    Option{"-H", takes_value},
    Option{"--include", takes_value},
    Option{"-i", takes_value},
    Option{"--exclude", takes_value},
    Option{"-e", takes_value},
    Option{"--launcher", takes_value},
    Option{"--launcher-args", takes_value},
    Option{"--num-machines", nodes},
    Option{"--num-processes", ranks},
    Option{"--machine-rank", takes_value},
    Option{"--main-process-ip", takes_value},
    Option{"--main-process-port", takes_value},
    Option{"--config-file", takes_value},
    Option{"--gpu-ids", takes_value},
    // Of accelerate, which its configuration says too.
    Option{"--use-fsdp", setting_alone},
    Option{"--use-deepspeed", setting_alone},
    Option{"--fsdp-", setting},
    Option{"--zero-stage", setting},
    Option{"--zero3-", setting},
    Option{"--offload-", setting},
    Option{"--gradient-", setting},
    Option{"--mixed-precision", setting},
    Option{"--deepspeed-", setting},
    Option{"--dynamo-backend", setting},
    Option{"--dynamo-mode", takes_value},
    Option{"--parallelism-config-", setting},
    Option{"--num-cpu-threads-per-process", takes_value},
    Option{"--main-training-function", takes_value},
    Option{"--same-network", none},
};

constexpr std::array composer_options{
    Option{"-n", gpus_per_node},          Option{"--nproc", gpus_per_node},
    Option{"--world-size", ranks},        Option{"--base-rank", takes_value},
    Option{"--node-rank", takes_value},   Option{"--master-addr", takes_value},
    Option{"--master-port", takes_value}, Option{"--stdout", takes_value},
    Option{"--stderr", takes_value},
};

constexpr std::array slurm_options{
    Option{"-N", nodes},
    Option{"--nodes", nodes},
    Option{"-n", ranks},
    Option{"--ntasks", ranks},
    Option{"--ntasks-per-node", takes_value}, // processes, which may hold several GPUs
    Option{"--gpus-per-node", gpus_per_node},
    Option{"--gres", gpus_per_node},
    Option{"-G", gpus},
    Option{"--gpus", gpus},
    Option{"-c", takes_value},
    Option{"--cpus-per-task", takes_value},
    Option{"-p", takes_value},
    Option{"--partition", takes_value},
    Option{"-A", takes_value},
    Option{"--account", takes_value},
    Option{"-J", takes_value},
    Option{"--job-name", takes_value},
    Option{"-t", takes_value},
    Option{"--time", takes_value},
    Option{"-w", takes_value},
    Option{"--nodelist", takes_value},
    Option{"-o", takes_value},
    Option{"--output", takes_value},
    Option{"-e", takes_value},
    Option{"--error", takes_value},
    Option{"--mem", takes_value},
};

constexpr std::array mpi_options{
    Option{"-np", ranks},
    Option{"-n", ranks},
    Option{"--np", ranks},
    Option{"-N", gpus_per_node},
    Option{"-npernode", gpus_per_node},
    Option{"--npernode", gpus_per_node},
    Option{"-ppn", gpus_per_node},
    Option{"-H", takes_value},
    Option{"--host", takes_value},
    Option{"--hostfile", takes_value},
    Option{"-hostfile", takes_value},
    Option{"-x", takes_value},
    Option{"-mca", takes_value},
    Option{"--mca", takes_value},
    Option{"--bind-to", takes_value},
    Option{"--map-by", takes_value},
};

} // namespace

std::optional<LauncherOptions> launcher_options(std::string_view launcher)
{
    if (launcher == "torchrun" || launcher == "deepspeed" || launcher == "accelerate" ||
        launcher == "ft_launcher" || launcher == "colossalai" || launcher == "tune")
        return LauncherOptions(torch_options);
    if (launcher == "composer")
        return LauncherOptions(composer_options);
    if (launcher == "srun" || launcher == "sbatch" || launcher == "salloc")
        return LauncherOptions(slurm_options);
    if (launcher == "mpirun" || launcher == "mpiexec")
        return LauncherOptions(mpi_options);
    return std::nullopt;
}

std::string_view launching_word(std::string_view launcher)
{
    return launcher == "accelerate"                         ? "launch"
           : launcher == "colossalai" || launcher == "tune" ? "run"
                                                            : "";
}

LauncherMeaning meaning_of(LauncherOptions options, std::string_view name)
{
    const auto found = std::find_if(options.begin(), options.end(), [&](const Option& option) {
        return option.name == name || (option.name.ends_with('-') && name.starts_with(option.name));
    });
    return found == options.end() ? none : found->meaning;
}

} // namespace trainyard
