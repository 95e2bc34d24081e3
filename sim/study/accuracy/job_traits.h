#pragma once

// What decides how far off the prediction of a job may be: its class, and what tells it from jobs
// that were measured.

#include "sim/cost/profile.h"
#include "sim/strategy/job.h"
#include "sim/study/scenario.h"

namespace trainyard {

enum class ModelClass : std::uint8_t {
    dense,   // decoders without experts
    mixture, // with experts
    hybrid,  // with state-space layers beside attention
    other    // encoders, convolutional networks, lists of layers
};

struct JobTraits {
    ModelClass model_class = ModelClass::dense;
    std::string generation; // "Hopper"; empty: of no GPU of NVIDIA
    bool dispatcher_stated = false;
    std::string device;
    std::string model; // hash of its content
    std::string precision;
    std::string software; // class
    int devices = 1;
    std::int64_t sequence_length = 0; // 0: the model has no tokens
    std::int64_t pass_tokens = 0;     // of a micro-batch on one device; 0: likewise
    std::int64_t pass_samples = 0;    // likewise, of a model without tokens
    std::int64_t hidden_size = 0;     // of a transformer
    std::int64_t global_batch = 0;
    std::string layout; // hash of all that the scenario says beside the above

    bool operator==(const JobTraits&) const = default;
};

template <>
std::vector<EnumName<ModelClass>> enum_names<ModelClass>();
template <>
const FieldTable<JobTraits>& fields_of<JobTraits>();

ModelClass class_of(const Model& model);
// "dense models", "mixtures of experts", ...
std::string_view plural_of(ModelClass model_class);
// Of a device's compute capability; empty: none that is known.
std::string_view generation_of(const Device& device);

// `model_hash`: of its content.
JobTraits traits_of(const Scenario& scenario, const Job& job, std::uint64_t model_hash,
                    const Profile& profile);

// What two jobs differ in: "device", "model", "precision", "software", "devices", "length",
// "batch", "layout", in this order.
std::vector<std::string> differences(const JobTraits& a, const JobTraits& b);

} // namespace trainyard
