#include "calibrate/measure/nccl/warm_up.h"

#include "calibrate/measure/nccl/device_arena.h"

namespace trainyard {

void warm_up(CudaApi& cuda, Seconds time)
{
    constexpr int launches = 8; // between two looks at the clock: some ms
    LocalWork work{LocalKind::gemm, 4096, 4096, 4096, 1, Bytes(0), ElementType::bfloat16};
    if (!cuda.cannot(work).empty())
        work = {LocalKind::memory_copy, 0, 0, 0, 1, Bytes(std::uint64_t{64} << 20)};
    const std::unique_ptr<DevicePlan> plan = cuda.plan(work);
    const CudaStream stream = require(cuda, cuda.make_stream(), "making a stream");
    {
        DeviceArena arena(cuda, plan->slot(), Bytes(0));
        arena.fill_random(work.type, stream);
        const Seconds start = cuda.host_time();
        while (cuda.host_time() - start < time) {
            for (int i = 0; i < launches; ++i)
                require(cuda, plan->launch(arena.slot(0), stream), "warming up");
            require(cuda, cuda.synchronize(stream), "warming up");
        }
    }
    require(cuda, cuda.destroy(stream), "freeing a stream");
}

} // namespace trainyard
