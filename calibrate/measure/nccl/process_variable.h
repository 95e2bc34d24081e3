#pragma once

#include "calibrate/measure/nccl/nccl_api.h"

#include <optional>
#include <string>

namespace trainyard {

// A variable of this process that is set while this lives; afterwards it is as before.
class ProcessVariable {
public:
    ProcessVariable(const NcclApi& api, const char* name, const std::string& value);
    ProcessVariable(const ProcessVariable&) = delete;
    ProcessVariable& operator=(const ProcessVariable&) = delete;
    ~ProcessVariable();

private:
    const NcclApi& api_;
    const char* name_;
    std::optional<std::string> before_;
};

} // namespace trainyard
