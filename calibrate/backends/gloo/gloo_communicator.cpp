#include "calibrate/backends/gloo/gloo_communicator.h"

#include "calibrate/backends/gloo/bound_algorithm.h"
#include "calibrate/measure/host_kernels/elements.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/reduce.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace trainyard {
namespace {

// Slots of our messages are apart from those of Gloo's collectives, whose prefixes are below 16.
constexpr std::uint64_t message_prefix = std::uint64_t{0x42} << 56;

std::function<void(void*, const void*, const void*, std::size_t)> sum_of(ElementType type)
{
    return [type](void* out, const void* a, const void* b, std::size_t count) {
        add_elements(type, out, a, b, count);
    };
}

// Calls `use` with a number of the type's size: Gloo takes no more of it.
template <class F>
void with_element(ElementType type, F&& use)
{
    switch (element_bytes(type)) {
    case 4:
        return use(float{});
    case 2:
        return use(std::uint16_t{});
    default:
        return use(std::uint8_t{});
    }
}

template <class T>
T* pointer(std::span<std::byte> memory)
{
    return reinterpret_cast<T*>(memory.data());
}

// Gloo reduces into the output; without an input the output is it.
template <class Options>
void set_buffers(Options& options, const CollectiveWork& work, const OpBuffers& buffers)
{
    with_element(work.type, [&]<class T>(T) {
        const std::size_t count = buffers.output.size() / sizeof(T);
        if (work.buffers == Buffers::out_of_place)
            options.setInput(pointer<T>(buffers.input), count);
        options.setOutput(pointer<T>(buffers.output), count);
    });
    options.setReduceFunction(sum_of(work.type));
}

} // namespace

std::string cannot_collect_over_gloo(const CollectiveWork& work)
{
    if (work.collective == CollectiveKind::send_receive)
        return "send and receive is an exchange, not a collective";
    if (work.collective == CollectiveKind::all_to_all && work.buffers == Buffers::in_place)
        return "Gloo's all-to-all does not work in place";
    if (work.type == ElementType::float8_e4m3)
        return "Gloo does not know float8_e4m3";
    return "";
}

GlooCommunicator::GlooCommunicator(std::shared_ptr<gloo::Context> context, std::string algorithm,
                                   const MemoryLimits& limits)
    : HostCommunicator({.rank = context->rank, .ranks = context->size}, limits),
      context_(std::move(context)),
      algorithm_(std::move(algorithm))
{}

void GlooCommunicator::barrier()
{
    gloo::BarrierOptions options(context_);
    options.setTag(tag_++);
    gloo::barrier(options);
}

// Algorithms that are bound to memory take slots of the context, the same number on every rank: so
// it follows from the size alone. Together they hold 64 MiB, or are 8.
std::optional<std::size_t> GlooCommunicator::fixed_slots(const CollectiveWork& work) const
{
    if (!is_bound(work, algorithm_))
        return std::nullopt;
    const std::uint64_t size = std::max<std::uint64_t>(1, work.size.value());
    return std::clamp<std::uint64_t>((std::uint64_t{64} << 20) / size, 1, 8);
}

void GlooCommunicator::plan(const CollectiveWork& work)
{
    if (const std::string why = cannot_collect_over_gloo(work); !why.empty())
        throw MeasureFailure{FailureKind::refused, why, ""};
    bound_.clear();
    if (!is_bound(work, algorithm_))
        return;
    if (work.size.value() / static_cast<std::uint64_t>(element_bytes(work.type)) >
        std::numeric_limits<int>::max())
        throw MeasureFailure{FailureKind::refused, "Gloo's algorithm counts elements up to 2^31",
                             "time smaller sizes"};
    // They work in place: on what is as large as the whole.
    const bool scatters = work.collective == CollectiveKind::reduce_scatter;
    for (std::size_t slot = 0; slot < slots(); ++slot) {
        const OpBuffers here = buffers(slot);
        bound_.push_back(
            bound_algorithm(work, algorithm_, context_, scatters ? here.input : here.output));
    }
}

// Out of place, a bound algorithm costs its caller a copy.
void GlooCommunicator::run_bound(const CollectiveWork& work, std::size_t slot)
{
    const auto [input, output] = buffers(slot);
    const bool scatters = work.collective == CollectiveKind::reduce_scatter;
    const bool copies = work.buffers == Buffers::out_of_place;
    if (copies && !scatters)
        std::ranges::copy(input, output.begin());
    bound_[slot]->run();
    if (copies && scatters)
        std::ranges::copy(input.first(output.size()), output.begin());
}

void GlooCommunicator::collective(const CollectiveWork& work, std::size_t slot)
{
    if (!bound_.empty())
        return run_bound(work, slot);
    const OpBuffers here = buffers(slot);
    switch (work.collective) {
    case CollectiveKind::all_reduce:
        return all_reduce(work, here);
    case CollectiveKind::all_gather:
        return all_gather(work, here);
    case CollectiveKind::all_to_all:
        return all_to_all(here);
    case CollectiveKind::broadcast:
        return broadcast(work, here);
    case CollectiveKind::reduce:
        return reduce(work, here);
    case CollectiveKind::barrier:
        return barrier();
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::send_receive:
        break;
    }
    throw MeasureFailure{FailureKind::refused, "no collective of Gloo", ""};
}

void GlooCommunicator::all_reduce(const CollectiveWork& work, const OpBuffers& buffers)
{
    gloo::AllreduceOptions options(context_);
    set_buffers(options, work, buffers);
    if (algorithm_ == "ring")
        options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    if (algorithm_ == "bcube")
        options.setAlgorithm(gloo::AllreduceOptions::Algorithm::BCUBE);
    options.setTag(tag_++);
    gloo::allreduce(options);
}

void GlooCommunicator::all_gather(const CollectiveWork& work, const OpBuffers& buffers)
{
    gloo::AllgatherOptions options(context_);
    if (work.buffers == Buffers::out_of_place)
        options.setInput(pointer<std::uint8_t>(buffers.input), buffers.input.size());
    options.setOutput(pointer<std::uint8_t>(buffers.output), buffers.output.size());
    options.setTag(tag_++);
    gloo::allgather(options);
}

void GlooCommunicator::all_to_all(const OpBuffers& buffers)
{
    gloo::AlltoallOptions options(context_);
    options.setInput(pointer<std::uint8_t>(buffers.input), buffers.input.size());
    options.setOutput(pointer<std::uint8_t>(buffers.output), buffers.output.size());
    options.setTag(tag_++);
    gloo::alltoall(options);
}

void GlooCommunicator::broadcast(const CollectiveWork& work, const OpBuffers& buffers)
{
    gloo::BroadcastOptions options(context_);
    if (work.buffers == Buffers::out_of_place && work.root == place().rank)
        options.setInput(pointer<std::uint8_t>(buffers.input), buffers.input.size());
    options.setOutput(pointer<std::uint8_t>(buffers.output), buffers.output.size());
    options.setRoot(work.root);
    options.setTag(tag_++);
    gloo::broadcast(options);
}

void GlooCommunicator::reduce(const CollectiveWork& work, const OpBuffers& buffers)
{
    gloo::ReduceOptions options(context_);
    set_buffers(options, work, buffers);
    options.setRoot(work.root);
    options.setTag(tag_++);
    gloo::reduce(options);
}

void GlooCommunicator::exchange(std::byte* memory, std::span<const Transfer> transfers)
{
    std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> pending;
    for (const Transfer& transfer : transfers) {
        auto buffer = context_->createUnboundBuffer(memory + transfer.offset, transfer.bytes);
        // Messages of later ops queue behind those of earlier ones in the same slot.
        const std::uint64_t slot = message_prefix + static_cast<std::uint64_t>(transfer.index);
        if (transfer.way == Transfer::Way::send)
            buffer->send(transfer.peer, slot);
        else
            buffer->recv(transfer.peer, slot);
        pending.push_back(std::move(buffer));
    }
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        if (transfers[i].way == Transfer::Way::send)
            pending[i]->waitSend();
        else
            pending[i]->waitRecv();
    }
}

// A wait that runs out closes all connections of its context, so that every other wait throws: here
// and, as they see the connections end, on the other ranks.
void GlooCommunicator::wake() noexcept
{
    try {
        char nothing = 0;
        context_->createUnboundBuffer(&nothing, sizeof(nothing))
            ->waitRecv(std::chrono::milliseconds(1));
    } catch (...) {
    }
}

MeasureFailure GlooCommunicator::failure(const std::exception& error) const
{
    const std::string text = error.what();
    if (text.find("Timed out") != std::string::npos || text.find("imeout") != std::string::npos)
        return {FailureKind::timed_out, "Gloo: " + text, "a rank hangs or is far behind"};
    return {FailureKind::broken, "Gloo: " + text, ""};
}

} // namespace trainyard
