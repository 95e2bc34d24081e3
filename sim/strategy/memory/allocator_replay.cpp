#include "sim/strategy/memory/allocator_replay.h"

#include "sim/strategy/memory/instances.h"
#include "sim/strategy/memory/repetition.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int compute_pool = 0;
constexpr int gather_pool = 1;

class Replay {
public:
    Replay(const HostOrder& order, const Role& role, const AllocatorReplayRequest& request)
        : order_(order),
          program_(order.program()),
          role_(role),
          request_(request),
          allocator_(request.allocator),
          live_(program_)
    {
        if (request.lengths.empty())
            repetition_ = find_repetition(role);
    }

    AllocatorReplay run() &&
    {
        hold_static();
        for (int step = 0; step < request_.steps && !result_.failed; ++step)
            run_step(step);
        result_.peak = allocator_.peak();
        result_.retries = allocator_.retries();
        return std::move(result_);
    }

private:
    void hold(MemoryPlace place, std::int64_t bytes)
    {
        if (!result_.failed && !allocator_.allocate(bytes))
            fail(place, bytes);
    }

    void hold(MemoryPlace place, const std::vector<TensorId>& tensors)
    {
        for (const TensorId id : tensors)
            if (const Tensor& tensor = program_.tensors[id.value]; on_device(tensor.kind))
                hold(place, tensor.bytes);
    }

    void hold_static()
    {
        for (const std::int64_t bytes : request_.libraries)
            hold({}, bytes);
        hold({}, role_.held);
    }

    // The first update makes what the optimizer holds besides.
    bool update(std::uint32_t use)
    {
        if (updated_ || !order_.updates(role_.order[use].block))
            return true;
        updated_ = true;
        hold({use, 0}, role_.held_from_update);
        return !result_.failed;
    }

    void run_step(int step)
    {
        step_ = step;
        step_peak_ = allocator_.now().allocated;
        StepWalk walk(order_, role_);
        seen_.clear();
        const auto visit = [&](MemoryPlace place, std::uint32_t owner, const MemoryEvent& event) {
            return apply(place, owner, event);
        };
        bool going = !result_.failed;
        const auto uses = static_cast<std::uint32_t>(role_.order.size());
        for (std::uint32_t use = 0; going && use < uses; ++use) {
            if (const std::uint32_t times = repeats(use, walk)) {
                const std::uint32_t uses_over = times * repetition_.period;
                walk.shift(uses_over);
                live_.shift(times * repetition_.micro_batches, uses_over);
                use += uses_over;
            }
            going = update(use) && walk.go(use, visit);
        }
        if (going && !updated_) {
            updated_ = true;
            hold({uses - 1, 0}, role_.held_from_update);
        }
        if (going)
            walk.finish(visit);
        result_.steps.push_back({step_peak_, allocator_.now().reserved});
    }

    // How many more repetitions would change nothing, at the begin of one.
    std::uint32_t repeats(std::uint32_t use, const StepWalk& walk)
    {
        const Repetition& r = repetition_;
        if (r.times < 4 || use < r.first || (use - r.first) % r.period != 0)
            return 0;
        const std::uint32_t number = (use - r.first) / r.period;
        if (number + 1 >= r.times)
            return 0;
        const std::uint64_t now = signature(use, number, walk);
        const auto before = std::ranges::find(seen_, now, &Seen::signature);
        if (before == seen_.end()) {
            seen_.push_back({now, number});
            return 0;
        }
        const std::uint32_t cycle = number - before->number;
        const std::uint32_t times = (r.times - 1 - number) / cycle * cycle;
        seen_.clear();
        return times;
    }

    // Free blocks and live tensors with their addresses, micro-batches counted from the present.
    std::uint64_t signature(std::uint32_t use, std::uint32_t number, const StepWalk& walk) const
    {
        std::uint64_t sum = walk.signature(use) +
                            static_cast<std::uint64_t>(allocator_.now().reserved) +
                            static_cast<std::uint64_t>(allocator_.retries());
        const std::uint32_t base = number * repetition_.micro_batches;
        live_.for_each([&](const InstanceKey& key, CachingAllocator::Handle handle) {
            InstanceKey relative = key;
            using Moves = InstanceMap<CachingAllocator::Handle>::Moves;
            if (live_.moves(key) == Moves::micro_batch)
                relative.micro_batch -= base;
            else if (live_.moves(key) == Moves::use)
                relative.micro_batch -= use;
            sum += (InstanceHash{}(relative) ^
                    static_cast<std::uint64_t>(allocator_.address(handle))) *
                   0x9e3779b97f4a7c15;
        });
        return sum;
    }

    bool apply(MemoryPlace place, std::uint32_t owner, const MemoryEvent& event)
    {
        const Tensor& tensor = program_.tensors[event.tensor.value];
        if (!on_device(tensor.kind))
            return true;
        const BlockUse& use = role_.order[owner];
        if (event.action == MemoryAction::free) {
            if (const auto handle = live_.take(event.tensor, use, owner))
                allocator_.free(*handle);
            return true;
        }
        const std::int64_t bytes = bytes_of(tensor, use);
        const int pool = tensor.kind == MemoryKind::unsharded ? gather_pool : compute_pool;
        const auto handle = allocator_.allocate(bytes, pool);
        if (!handle) {
            fail(place, bytes);
            return false;
        }
        live_.at(event.tensor, use, owner) = *handle;
        step_peak_ = std::max(step_peak_, allocator_.now().allocated);
        return true;
    }

    std::int64_t bytes_of(const Tensor& tensor, const BlockUse& use) const
    {
        if (tensor.length_power == 0 || request_.lengths.empty() ||
            use.micro_batch == BlockUse::no_index)
            return tensor.bytes;
        const std::size_t number =
            static_cast<std::size_t>(step_) * static_cast<std::size_t>(request_.micro_batches) +
            use.micro_batch;
        const double length = request_.lengths[number % request_.lengths.size()];
        const double scale = std::pow(length, tensor.length_power);
        return std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(tensor.bytes)));
    }

    void fail(MemoryPlace place, std::int64_t bytes)
    {
        if (result_.failed)
            return;
        result_.failed = place;
        result_.failed_bytes = bytes;
    }

    struct Seen {
        std::uint64_t signature;
        std::uint32_t number;
    };

    const HostOrder& order_;
    const Program& program_;
    const Role& role_;
    const AllocatorReplayRequest& request_;
    CachingAllocator allocator_;
    InstanceMap<CachingAllocator::Handle> live_;
    Repetition repetition_;
    std::vector<Seen> seen_; // of this step
    AllocatorReplay result_;
    std::int64_t step_peak_ = 0;
    int step_ = 0;
    bool updated_ = false;
};

} // namespace

AllocatorReplay replay_allocator(const HostOrder& order, const Role& role,
                                 const AllocatorReplayRequest& request)
{
    return Replay(order, role, request).run();
}

} // namespace trainyard
