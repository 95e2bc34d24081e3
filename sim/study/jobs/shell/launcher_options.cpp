#include "sim/study/jobs/shell/launcher_options.h"

#include "sim/base/words.h"

#include <array>

namespace trainyard {
namespace {

using enum LauncherMeaning;
using Option = LauncherOption;

// Options of torchrun, srun, mpirun, deepspeed and accelerate that are followed by a value; any
// other stands alone or carries its value after '='.
constexpr std::array torch_options{
    Option{nodes, "--nnodes --num-nodes --num-machines"},
    Option{gpus_per_node, "--nproc-per-node --num-gpus"},
    Option{takes_value,
           "--node-rank --rdzv-backend --rdzv-endpoint --rdzv-id --rdzv-conf --master-addr "
           "--master-port --max-restarts --monitor-interval --start-method --role --log-dir "
           "--redirects -r --tee -t --local-ranks-filter --local-addr --hostfile -H --include -i "
           "--exclude -e --launcher --launcher-args --machine-rank --main-process-ip "
           "--main-process-port --config-file --gpu-ids --dynamo-mode "
           "--num-cpu-threads-per-process --main-training-function"},
    Option{ranks, "--num-processes"},
    // Of accelerate, which its configuration says too.
    Option{setting_alone, "--use-fsdp --use-deepspeed"},
    Option{setting,
           "--fsdp- --zero-stage --zero3- --offload- --gradient- --mixed-precision --deepspeed- "
           "--dynamo-backend --parallelism-config-"},
    Option{none, "--same-network"},
};

constexpr std::array composer_options{
    Option{gpus_per_node, "-n --nproc"},
    Option{ranks, "--world-size"},
    Option{takes_value, "--base-rank --node-rank --master-addr --master-port --stdout --stderr"},
};

constexpr std::array slurm_options{
    Option{nodes, "-N --nodes"},
    Option{ranks, "-n --ntasks"},
    // Processes of a node may hold several GPUs.
    Option{takes_value,
           "--ntasks-per-node -c --cpus-per-task -p --partition -A --account -J --job-name -t "
           "--time -w --nodelist -o --output -e --error --mem"},
    Option{gpus_per_node, "--gpus-per-node --gres"},
    Option{gpus, "-G --gpus"},
};

constexpr std::array mpi_options{
    Option{ranks, "-np -n --np"},
    Option{gpus_per_node, "-N -npernode --npernode -ppn"},
    Option{takes_value, "-H --host --hostfile -hostfile -x -mca --mca --bind-to --map-by"},
};

} // namespace

std::optional<LauncherOptions> launcher_options(std::string_view launcher)
{
    if (has_word("torchrun deepspeed accelerate ft_launcher colossalai tune", launcher))
        return LauncherOptions(torch_options);
    if (launcher == "composer")
        return LauncherOptions(composer_options);
    if (has_word("srun sbatch salloc", launcher))
        return LauncherOptions(slurm_options);
    if (has_word("mpirun mpiexec", launcher))
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
    for (const Option& option : options)
        if (any_word(option.names, [&](std::string_view one) {
                return one == name || (one.ends_with('-') && name.starts_with(one));
            }))
            return option.meaning;
    return none;
}

} // namespace trainyard
