#pragma once

// What communicators of CPU ranks share: buffers, clocks, checks, kernels. A library adds how its
// operations are called.

#include "calibrate/backends/host/buffer_layout.h"
#include "calibrate/backends/host/local_runner.h"
#include "calibrate/backends/host/rotating_memory.h"
#include "calibrate/measure/backend/backend.h"

#include <atomic>
#include <vector>

namespace trainyard {

// One message of this rank.
struct Transfer {
    enum class Way : std::uint8_t { send, receive };
    Way way = Way::send;
    int peer = 0;           // rank of the group
    int index = 0;          // of the message among those of the op, on all ranks
    std::size_t offset = 0; // of its bytes in the memory of the op
    std::size_t bytes = 0;
};

class HostCommunicator : public Communicator {
public:
    struct Place {
        int rank = 0; // of the group
        int ranks = 1;
    };

    HostCommunicator(const Place& place, const MemoryLimits& limits);

    void prepare(const TimedWork& work) final;
    BatchTime run(int ops) final;
    std::optional<std::int64_t> wrong_elements() final;
    void abort() noexcept final;

protected:
    // What the library does. All throw MeasureFailure, or what `failure` understands.
    virtual void barrier() = 0;
    virtual void collective(const CollectiveWork& work, std::size_t slot) = 0;
    // Starts all, then waits for all.
    virtual void exchange(std::byte* memory, std::span<const Transfer> transfers) = 0;

    // Before ops of `work` run on `buffers` of all slots. Throws refused.
    virtual void plan(const CollectiveWork& work) = 0;
    // How many slots there are, where the library needs as many on every rank.
    virtual std::optional<std::size_t> fixed_slots(const CollectiveWork& work) const = 0;

    virtual void wake() noexcept = 0; // by abort(), from another thread
    virtual MeasureFailure failure(const std::exception& error) const = 0;

    const Place& place() const { return place_; }
    std::size_t slots() const { return memory_.parts(); }
    OpBuffers buffers(std::size_t slot) const { return buffers_in(memory_.part(slot), layout_); }
    bool aborted() const { return aborted_; }

private:
    void prepare_collective(const CollectiveWork& work);
    void prepare_messages(std::vector<PairMessage> messages, Bytes size);

    BatchTime run_work(int ops);
    Seconds run_collectives(const CollectiveWork& work, int ops);
    Seconds run_exchanges(int ops);
    Seconds run_ping_pongs(int ops);
    Seconds run_kernels(int ops);
    BatchTime run_beside(const BesideWork& work, int ops);

    std::int64_t wrong_collective(const CollectiveWork& work);
    std::int64_t wrong_messages();
    std::size_t take_slot();

    // What was thrown becomes a MeasureFailure.
    template <class F>
    auto guarded(F&& call);

    Place place_;
    TimedWork work_;
    bool prepared_ = false;
    RotatingMemory memory_;
    LocalRunner local_;
    BufferLayout layout_; // of a slot, for collectives
    std::vector<Transfer> transfers_;
    std::size_t next_ = 0;
    std::uint32_t round_ = 0; // of checks
    std::atomic<bool> aborted_{false};
};

} // namespace trainyard
