#include "tests/support/simulated_nccl/ranks.h"

#include <thread>

namespace trainyard::simulated {

namespace {

class SharedMap : public Rendezvous {
public:
    void put(const std::string& key, const std::string& value) override
    {
        const std::lock_guard lock(mutex_);
        values_[key] = value;
        changed_.notify_all();
    }

    std::string get(const std::string& key, std::chrono::milliseconds limit) override
    {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, limit, [&] { return values_.count(key) > 0; }))
            throw MeasureFailure{FailureKind::timed_out, "nobody put " + key, ""};
        return values_.at(key);
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::string> values_;
};

void run_rank(const std::shared_ptr<DeviceLibraries>& libraries, const LaunchPlace& place,
              const NcclLimits& limits, const RankBody& body, Rendezvous& rendezvous)
{
    NcclBackendSettings settings;
    settings.place = place;
    settings.limits = limits;
    settings.warm_up = Seconds(0.001);
    NcclBackend backend(libraries, settings);
    body(place.rank, backend, rendezvous);
}

} // namespace

NcclLimits short_limits()
{
    using namespace std::chrono_literals;
    return {.meet = 300ms, .create = 300ms, .batch = 200ms, .grace = 100ms};
}

GroupSpec all_of(int ranks)
{
    GroupSpec group;
    group.name = "all " + std::to_string(ranks);
    for (int rank = 0; rank < ranks; ++rank)
        group.members.push_back(rank);
    return group;
}

std::vector<RankEnd> run_ranks(const std::shared_ptr<World>& world, int ranks, const RankBody& body,
                               const NcclLimits& limits)
{
    const NcclLibrary nccl = nccl_of(world);
    SharedMap rendezvous;
    std::vector<RankEnd> ends(static_cast<std::size_t>(ranks));
    std::vector<std::shared_ptr<DeviceLibraries>> libraries;
    for (int rank = 0; rank < ranks; ++rank) {
        libraries.push_back(std::make_shared<DeviceLibraries>());
        libraries.back()->cuda = cuda_of(world, rank);
        libraries.back()->nccl = nccl;
    }
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            const auto place = static_cast<std::size_t>(rank);
            const auto start = std::chrono::steady_clock::now();
            try {
                if (!world->faults.at(rank).dies_before_meeting)
                    run_rank(libraries[place], {rank, ranks, rank, ranks}, limits, body,
                             rendezvous);
            } catch (const MeasureFailure& failure) {
                ends[place].failure = failure;
            }
            ends[place].seconds =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        });
    for (std::thread& thread : threads)
        thread.join();
    const std::lock_guard lock(world->mutex);
    world->ended = true;
    world->changed.notify_all();
    return ends;
}

} // namespace trainyard::simulated
