#pragma once

// What launch variables change in a prediction: NCCL's paths, kernels, the way work is issued.

#include "sim/base/diagnostic.h"
#include "sim/cost/nccl_settings.h"
#include "sim/cost/profile.h"

#include <map>
#include <set>
#include <string>

namespace trainyard {

// What the variables meet.
struct EnvironmentContext {
    const Profile& profile;
    DeviceAttachment device;
    NodeNetwork network;
    bool attention_stated = false; // by the scenario, which goes before variables
};

struct EnvironmentEffects {
    NcclSettings nccl;
    std::optional<AttentionKernel> attention;
    bool blocking_launches = false; // the host waits for every kernel
    bool ordered_launches = true;   // kernels of several streams start in the order of issue
    std::set<std::string>
        followed;   // variables whose effect is in the prediction, or that have none
    Problems notes; // warnings: what was changed
};

// Pure: the same variables and context give the same effects. Values are taken to be acceptable
// (check_environment); a variable that is not followed here is left to that function's warning.
EnvironmentEffects effects_of(const std::map<std::string, std::string>& environment,
                              const EnvironmentContext& context);

} // namespace trainyard
