#include "sim/study/ranks/ranks.h"

#include "sim/base/diagnostic.h"
#include "sim/base/parallel.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <thread>

namespace trainyard {

namespace {

namespace fs = std::filesystem;

struct Launcher {
    const char* rank;
    const char* ranks;
};

// SLURM_STEP_NUM_TASKS is set by srun only, SLURM_NTASKS in batch scripts too.
constexpr std::array launchers{Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                               Launcher{"PMI_RANK", "PMI_SIZE"},
                               Launcher{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

std::optional<int> number_in(const char* variable)
{
    const char* const text = std::getenv(variable);
    if (text == nullptr)
        return {};
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    const bool whole = end != text && *end == '\0' && value >= 0 && value < 10'000'000;
    return whole ? std::optional(static_cast<int>(value)) : std::nullopt;
}

constexpr const char* module_name = "trainyard-ranks-mpi.so";

std::string module_file()
{
    std::error_code ignored;
    const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
    for (const fs::path& libraries : {fs::path("lib"), fs::path(TRAINYARD_LIBDIR)})
        if (const fs::path file = folder / libraries / "trainyard" / module_name;
            fs::exists(file, ignored))
            return file.string();
    return {};
}

const trainyard_ranks* open_module(int ranks)
{
    const std::string file = module_file();
    const std::string help = "      install MPI (packages libopenmpi-dev, openmpi-bin) and build "
                             "again, or start one process; --shard I/N with --store cuts a plan "
                             "into jobs of their own";
    if (file.empty())
        throw WorldError{fmt::format("started as {} ranks, and this build has no MPI ({})\n{}",
                                     ranks, module_name, help)};
    // Never closed: such libraries do not survive it. Its symbols are for its own parts too, which
    // it opens by name.
    void* const module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (module == nullptr)
        throw WorldError{
            fmt::format("started as {} ranks: cannot open {}\n{}", ranks, ::dlerror(), help)};
    using Entry = const trainyard_ranks* (*)();
    const auto entry = reinterpret_cast<Entry>(::dlsym(module, TRAINYARD_RANKS_SYMBOL));
    if (entry == nullptr)
        throw WorldError{fmt::format("{} is of another build: build again", file)};
    return entry();
}

// Where the launcher gave each rank cores of its own, the system counts those.
int threads_for(int ranks_of_this_host)
{
    const long all = ::sysconf(_SC_NPROCESSORS_ONLN);
    const int own = usable_threads();
    return own < all ? own : std::max(1, own / std::max(1, ranks_of_this_host));
}

} // namespace

std::optional<LaunchedRank> launched_rank()
{
    for (const Launcher& launcher : launchers)
        if (const std::optional<int> ranks = number_in(launcher.ranks))
            return LaunchedRank{number_in(launcher.rank).value_or(0), std::max(1, *ranks)};
    return {};
}

Ranks::Ranks(const LaunchedRank& launched) : module_(open_module(launched.ranks))
{
    int of_this_host = 1;
    if (module_->start(&rank_, &ranks_, &of_this_host) != 0)
        throw WorldError{"this MPI does not bear several threads"};
    if (ranks_ != launched.ranks)
        throw WorldError{
            fmt::format("MPI sees {} of {} processes\n      start them with the mpirun of the MPI "
                        "that trainyard was built with, or with srun --mpi=pmix",
                        ranks_, launched.ranks)};
    threads_ = threads_for(of_this_host);
}

Ranks::~Ranks()
{
    module_->finish();
}

void Ranks::send(int to, int tag, const std::string& message)
{
    if (message.size() > std::numeric_limits<int>::max())
        throw WorldError{"more layouts than ranks can tell each other; take more of them"};
    const std::lock_guard lock(mutex_);
    module_->send(to, tag, message.data(), message.size());
}

std::string Ranks::receive(int from, int tag)
{
    using namespace std::chrono_literals;
    // Soon for an answer that comes soon, seldom for one that takes its time.
    std::chrono::microseconds pause = 20us;
    while (true) {
        {
            const std::lock_guard lock(mutex_);
            if (const long long size = module_->waiting(from, tag); size >= 0) {
                std::string message(static_cast<std::size_t>(size), '\0');
                module_->receive(from, tag, message.data(), message.size());
                return message;
            }
        }
        std::this_thread::sleep_for(pause);
        pause = std::min<std::chrono::microseconds>(pause + pause / 8 + 1us, 1ms);
    }
}

void Ranks::abort(int exit_code)
{
    module_->abort(exit_code);
    std::_Exit(exit_code);
}

} // namespace trainyard
