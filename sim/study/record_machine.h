#pragma once

// The cluster a measured job ran on, as a topology: what the record says over the usual node of
// that GPU.

#include "sim/cost/device_catalogue.h"
#include "sim/study/record.h"

#include <tl/expected.hpp>

namespace trainyard {

struct RecordMachine {
    Json topology; // form of topology files
    int devices = 0;
    std::vector<std::string> assumptions;

    bool operator==(const RecordMachine&) const = default;
};

// The device that the name of its GPU says, or that of its family; null: none that is known.
const KnownDevice* device_of(const MeasuredRecord& record);

// Or why there is none.
tl::expected<RecordMachine, std::string> machine_of(const MeasuredRecord& record);

} // namespace trainyard
