#pragma once

// The model of a measured job, from the sizes its record gives.

#include "sim/study/record_software.h"
#include "sim/workload/model.h"

#include <tl/expected.hpp>

#include <variant>

namespace trainyard {

struct RecordModelChoice {
    std::variant<Model, std::string> model; // or the name of a shipped one
    std::vector<std::string> assumptions;

    bool operator==(const RecordModelChoice&) const = default;
};

// Or why none can be made.
tl::expected<RecordModelChoice, std::string> model_of(const MeasuredRecord& record,
                                                      FrameworkFamily family);

} // namespace trainyard
