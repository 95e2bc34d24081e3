#pragma once

// Work of one core: the kernels of host_kernels on rotating memory.

#include "calibrate/backends/host/rotating_memory.h"
#include "calibrate/measure/backend/work.h"
#include "calibrate/measure/host_kernels/gemm.h"

#include <optional>
#include <string>

namespace trainyard {

// Why a CPU rank cannot time `work`; empty: it can.
std::string cannot_run_on_cpu(const LocalWork& work);

class LocalRunner {
public:
    explicit LocalRunner(const MemoryLimits& limits) : memory_(limits) {}

    // Throws MeasureFailure (refused).
    void prepare(const LocalWork& work);

    // One op, on the next buffers.
    void run_once();

private:
    LocalWork work_;
    RotatingMemory memory_;
    std::optional<GemmSpace> space_;
    std::size_t next_ = 0;
    std::uint64_t read_ = 0; // what was read, so that it cannot be left out
};

} // namespace trainyard
