#include "calibrate/measure/nccl/cuda_facts.h"
#include "tests/support/simulated_nccl/world.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace trainyard::simulated {

namespace {

// Runs what can run. False: it waits for others.
bool run_head(Stream& stream)
{
    Item& item = stream.items.front();
    stream.time = std::max(stream.time, item.issued);
    if (item.wait) {
        if (!item.wait->done)
            return false;
        stream.time = std::max(stream.time, item.wait->time);
    }
    if (item.communicate) {
        const std::optional<double> end = item.communicate(stream.time);
        if (!end)
            return false;
        stream.time = *end;
    }
    stream.time += item.duration;
    if (item.effect)
        item.effect();
    if (item.record)
        *item.record = {true, stream.time};
    stream.items.pop_front();
    return true;
}

void advance(Device& device)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (Stream* stream : device.streams)
            while (!stream->items.empty() && run_head(*stream))
                moved = true;
    }
}

void fill_now(std::byte* memory, const DataPattern& pattern)
{
    for (std::uint64_t i = 0; i < pattern.elements; ++i) {
        const std::uint64_t index = pattern.first_index + i;
        const float value = pattern.kind == PatternKind::random
                                ? static_cast<float>(mixed_bits(index) % 1000) / 500 - 0.999f
                                : static_cast<float>(pattern_value(pattern, index));
        set_element(memory, pattern.type, i, value);
    }
}

class Plan : public DevicePlan {
public:
    Plan(std::shared_ptr<Device> device, const LocalWork& work)
        : device_(std::move(device)), work_(work)
    {}

    // Of products only those of 8 bits have operands.
    Bytes slot() const override
    {
        return is_narrow() ? Bytes(static_cast<std::uint64_t>((work_.m + work_.n) * work_.k))
                           : work_.size;
    }

    CudaCode launch(std::byte*, CudaStream stream) override
    {
        const std::lock_guard lock(device_->world->mutex);
        device_->host += device_->world->speeds.host_issue;
        Item item{device_->host, duration(), {}, {}, {}, {}};
        if (of(stream).captured)
            of(stream).captured->push_back(item);
        else
            queue(of(stream), item);
        return CudaCode::success;
    }

    // Operands that are no signs: sums of other ones are not exact on a real device.
    CudaResult<std::optional<std::int64_t>> wrong(std::byte* slot, CudaStream) override
    {
        std::int64_t wrong = 0;
        for (std::uint64_t i = 0; is_narrow() && i < Plan::slot().value(); ++i)
            wrong += element(slot, work_.type, i) != static_cast<float>(sign_value(i));
        return std::optional(wrong);
    }

private:
    bool is_narrow() const
    {
        return work_.kind == LocalKind::gemm && work_.type == ElementType::float8_e4m3;
    }

    double duration() const
    {
        const Speeds& speeds = device_->world->speeds;
        if (work_.kind == LocalKind::gemm)
            return 2.0 * static_cast<double>(work_.m * work_.n * work_.k) / speeds.flop_rate;
        return work_.size.value() ? static_cast<double>(work_.size.value()) / speeds.memory_rate
                                  : speeds.kernel;
    }

    std::shared_ptr<Device> device_;
    LocalWork work_;
};

class Cuda : public CudaApi {
public:
    Cuda(std::shared_ptr<World> world, int rank)
        : world_(world), rank_(rank), faults_(world->faults[rank])
    {
        device_->world = std::move(world);
    }

    std::string error_text(CudaCode code) const override
    {
        return "error " + std::to_string(static_cast<int>(code));
    }

    CudaResult<int> device_count() override
    {
        if (faults_.driver != CudaCode::success)
            return tl::unexpected(faults_.driver);
        return faults_.devices;
    }
    CudaCode use_device(int) override { return faults_.device; }
    CudaResult<CudaDevice> device() override
    {
        CudaDevice out;
        out.name = "Simulated GPU";
        out.uuid = "GPU-" + std::to_string(rank_ % faults_.devices);
        out.driver_version = out.runtime_version = 13000;
        out.memory = Bytes(faults_.memory);
        out.free_memory = Bytes(faults_.memory);
        out.last_cache = Bytes(64 << 10);
        return out;
    }

    CudaResult<Bytes> free_memory() override { return Bytes(faults_.memory - device_->used); }
    CudaResult<std::byte*> allocate(Bytes size) override
    {
        const std::lock_guard lock(world_->mutex);
        if (device_->used + size.value() > faults_.memory)
            return tl::unexpected(CudaCode::out_of_memory);
        device_->memory.push_back(std::make_unique<std::byte[]>(size.value()));
        std::byte* memory = device_->memory.back().get();
        device_->sizes[memory] = size.value();
        device_->used += size.value();
        return memory;
    }
    CudaCode release(std::byte* memory) override
    {
        const std::lock_guard lock(world_->mutex);
        device_->used -= device_->sizes.at(memory);
        device_->sizes.erase(memory);
        return CudaCode::success;
    }

    CudaResult<CudaStream> make_stream() override
    {
        const std::lock_guard lock(world_->mutex);
        auto* stream = new Stream;
        stream->device = device_.get();
        device_->streams.push_back(stream);
        return reinterpret_cast<CudaStream>(stream);
    }
    CudaCode destroy(CudaStream stream) override
    {
        const std::lock_guard lock(world_->mutex);
        std::erase(device_->streams, &of(stream));
        delete &of(stream);
        return CudaCode::success;
    }
    CudaCode synchronize(CudaStream stream) override
    {
        std::unique_lock lock(world_->mutex);
        for (advance(*device_); !of(stream).items.empty(); advance(*device_)) {
            if (world_->ended)
                return CudaCode::launch_failure;
            world_->changed.wait_for(lock, std::chrono::milliseconds(1));
        }
        device_->host = std::max(device_->host, of(stream).time);
        return CudaCode::success;
    }

    CudaResult<CudaEvent> make_event() override { return reinterpret_cast<CudaEvent>(new Event); }
    CudaCode destroy(CudaEvent event) override
    {
        delete &of(event);
        return CudaCode::success;
    }
    CudaCode record(CudaEvent event, CudaStream stream) override
    {
        const std::lock_guard lock(world_->mutex);
        of(event).mark = std::make_shared<Mark>();
        queue(of(stream), {device_->host, 0, {}, of(event).mark, {}, {}});
        return CudaCode::success;
    }
    CudaCode wait(CudaStream stream, CudaEvent event) override
    {
        const std::lock_guard lock(world_->mutex);
        queue(of(stream), {device_->host, 0, {}, {}, of(event).mark, {}});
        return CudaCode::success;
    }
    CudaResult<bool> done(CudaEvent event) override
    {
        const std::lock_guard lock(world_->mutex);
        advance(*device_);
        if (of(event).mark->done)
            device_->host = std::max(device_->host, of(event).mark->time);
        return of(event).mark->done;
    }
    CudaResult<Seconds> elapsed(CudaEvent from, CudaEvent to) override
    {
        return Seconds(of(to).mark->time - of(from).mark->time);
    }

    CudaResult<CudaGraph> capture(CudaStream stream, const std::function<void()>& issue) override
    {
        auto graph = std::make_unique<std::vector<Item>>();
        of(stream).captured = graph.get();
        issue();
        of(stream).captured = nullptr;
        return reinterpret_cast<CudaGraph>(graph.release());
    }
    CudaCode replay(CudaGraph graph, CudaStream stream) override
    {
        const std::lock_guard lock(world_->mutex);
        device_->host += world_->speeds.host_issue;
        for (Item item : *reinterpret_cast<std::vector<Item>*>(graph)) {
            item.issued = device_->host;
            queue(of(stream), item);
        }
        return CudaCode::success;
    }
    CudaCode destroy(CudaGraph graph) override
    {
        delete reinterpret_cast<std::vector<Item>*>(graph);
        return CudaCode::success;
    }

    Seconds host_time() override { return Seconds(device_->host); }

    CudaCode fill(std::byte* memory, const DataPattern& pattern, CudaStream stream) override
    {
        const std::lock_guard lock(world_->mutex);
        queue(of(stream), {device_->host, 0, [=] { fill_now(memory, pattern); }, {}, {}, {}});
        return CudaCode::success;
    }
    CudaResult<std::int64_t> count_wrong(const std::byte* memory, const DataPattern& pattern,
                                         CudaStream stream) override
    {
        if (const CudaCode code = synchronize(stream); code != CudaCode::success)
            return tl::unexpected(code);
        std::int64_t wrong = 0;
        for (std::uint64_t i = 0; i < pattern.elements; ++i)
            wrong += element(memory, pattern.type, i) !=
                     static_cast<float>(pattern_value(pattern, pattern.first_index + i));
        return wrong;
    }

    std::string cannot(const LocalWork& work) const override
    {
        if (work.kind == LocalKind::gemm)
            return cannot_multiply_type(work, faults_.capability);
        return work.kind == LocalKind::attention_forward ? "no attention here" : "";
    }
    std::unique_ptr<DevicePlan> plan(const LocalWork& work) override
    {
        return std::make_unique<Plan>(device_, work);
    }

private:
    std::shared_ptr<World> world_;
    int rank_;
    Faults faults_;
    std::shared_ptr<Device> device_ = std::make_shared<Device>();
};

} // namespace

void queue(Stream& stream, Item item)
{
    stream.items.push_back(std::move(item));
}

std::unique_ptr<CudaApi> cuda_of(std::shared_ptr<World> world, int rank)
{
    return std::make_unique<Cuda>(std::move(world), rank);
}

} // namespace trainyard::simulated
