#pragma once

// The processes that mpirun or srun started together.

#include "sim/study/ranks/ranks_module.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace trainyard {

// As the launcher's variables have it.
struct LaunchedRank {
    int rank = 0;
    int ranks = 1;
};
std::optional<LaunchedRank> launched_rank(); // nothing: started by itself

// Any number of threads may call.
class Ranks {
public:
    // Throws WorldError where the module is missing or sees other ranks than the launcher.
    explicit Ranks(const LaunchedRank& launched);
    ~Ranks(); // waits for all
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    int threads() const { return threads_; } // that this one may run, where nobody says

    void send(int to, int tag, const std::string& message);
    // Waits for it, asking at a distance: a library that waits by itself takes a whole core.
    std::string receive(int from, int tag);

    [[noreturn]] void abort(int exit_code);

private:
    const trainyard_ranks* module_ = nullptr;
    std::mutex mutex_; // of the module
    int rank_ = 0;
    int ranks_ = 1;
    int threads_ = 1;
};

} // namespace trainyard
