#pragma once

// Pipeline schedules: for each device the order of forward and backward passes. A schedule is one
// file that implements `PipelineSchedule` and one line in `schedules()`.

#include "sim/base/diagnostic.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct PipelineShape {
    int stages = 1;        // p: devices of the pipeline
    int chunks = 1;        // v: virtual stages per device
    int micro_batches = 1; // m

    bool operator==(const PipelineShape&) const = default;
};

enum class PassKind : std::uint8_t { forward, backward };

// One pass of one micro-batch through one chunk (virtual stage chunk * stages + stage) of a device.
struct Pass {
    PassKind kind = PassKind::forward;
    int micro_batch = 0;
    int chunk = 0;

    bool operator==(const Pass&) const = default;
};

class PipelineSchedule {
public:
    virtual ~PipelineSchedule() = default;

    virtual std::string_view name() const = 0;
    virtual std::string_view help() const = 0;

    // Why this shape cannot run, and what would; empty when it can.
    virtual std::string refusal(const PipelineShape& shape) const = 0;

    // Every (micro-batch, chunk) once forward and once backward. Requires an empty refusal.
    virtual std::vector<Pass> passes(const PipelineShape& shape, int stage) const = 0;
};

const std::vector<const PipelineSchedule*>& schedules();
const PipelineSchedule* find_schedule(std::string_view name); // null when unknown
std::vector<std::string> schedule_names();

} // namespace trainyard
