#pragma once

// Ranks as processes of their own with a back end of the test's, and their coordinator.

#include "calibrate/measure/control/coordinator.h"
#include "calibrate/measure/control/worker.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace trainyard {

class ForkedRanks {
public:
    using Open = std::function<std::unique_ptr<RankBackend>(int rank)>; // called in the rank

    ForkedRanks(int count, const Open& open,
                const std::function<NodeReport(const std::string& dump)>& look = {})
    {
        for (int rank = 0; rank < count; ++rank) {
            const int process = ::fork();
            if (process == 0)
                ::_exit(serve_as_rank({rank, count, rank, count},
                                      {"localhost", listener_.port(), "secret"},
                                      {[&] { return open(rank); }, look}));
            processes_.push_back(process);
        }
        CoordinatorSetup setup;
        setup.ranks = count;
        setup.token = "secret";
        coordinator_ = std::make_unique<Coordinator>(listener_, setup);
    }
    ~ForkedRanks()
    {
        coordinator_.reset();
        for (const int process : processes_) {
            ::kill(process, SIGKILL);
            ::waitpid(process, nullptr, 0);
        }
    }
    ForkedRanks(const ForkedRanks&) = delete;
    ForkedRanks& operator=(const ForkedRanks&) = delete;

    Coordinator& coordinator() { return *coordinator_; }
    int process(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }

private:
    Listener listener_{0};
    std::vector<int> processes_;
    std::unique_ptr<Coordinator> coordinator_;
};

} // namespace trainyard
