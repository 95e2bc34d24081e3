// Ranks of this host that reduce gradients over Gloo: one process each.

#include "calibrate/measure/host_kernels/own_cores.h"
#include "tests/validation/loop/gloo_group.h"
#include "tests/validation/loop/options.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <vector>

using namespace trainyard::loop;

namespace {

namespace fs = std::filesystem;

int run_rank(const LoopOptions& options, int rank, const std::string& store)
{
    alarm(static_cast<unsigned>(options.limit)); // whatever hangs: the signal ends this process
    try {
        GlooGroup group(rank, options.ranks, store);
        const TrainingResult result = train(group, options.plan);
        if (rank == 0)
            std::puts(to_json(result).c_str());
        return result.ranks_agree ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
        return 1;
    }
}

// A folder of its own under those for temporary files, gone at the end.
class MeetingPlace {
public:
    MeetingPlace() : path_((fs::temp_directory_path() / "training-loop-XXXXXX").string())
    {
        if (mkdtemp(path_.data()) == nullptr)
            throw fs::filesystem_error("no temporary folder", path_,
                                       std::error_code(errno, std::generic_category()));
    }
    MeetingPlace(const MeetingPlace&) = delete;
    MeetingPlace& operator=(const MeetingPlace&) = delete;
    ~MeetingPlace()
    {
        std::error_code none;
        fs::remove_all(path_, none);
    }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

// The first rank that fails ends the others.
int run_all(const LoopOptions& options)
{
    const MeetingPlace place;
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < options.ranks; ++rank) {
        const pid_t child = fork();
        if (child == 0) {
            trainyard::bind_to_own_cores(rank, options.ranks); // as mpirun and the calibration do
            std::exit(run_rank(options, rank, place.path()));
        }
        if (child > 0)
            ranks.push_back(child);
    }
    int failed = static_cast<int>(ranks.size()) < options.ranks ? 1 : 0;
    for (std::size_t left = ranks.size(); left > 0; --left) {
        int status = 0;
        const pid_t ended = wait(&status);
        std::erase(ranks, ended);
        if (status == 0 || failed != 0)
            continue;
        failed = 1;
        if (WIFSIGNALED(status))
            std::fprintf(stderr, "a rank was ended by signal %d\n", WTERMSIG(status));
        for (const pid_t other : ranks)
            kill(other, SIGTERM);
    }
    return failed;
}

} // namespace

int main(int argc, char** argv)
{
    const ParsedLoopOptions parsed = parse_loop_options(argc, argv);
    if (!parsed.options)
        return parsed.exit;
    try {
        return parsed.options->rank < 0
                   ? run_all(*parsed.options)
                   : run_rank(*parsed.options, parsed.options->rank, parsed.options->store);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
