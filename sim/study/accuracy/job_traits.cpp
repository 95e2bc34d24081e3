#include "sim/study/accuracy/job_traits.h"

#include "sim/base/fields.h"
#include "sim/base/files.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

bool has_recurrence(const Transformer& model)
{
    return model.is_recurrent() || model.recurrence ||
           std::ranges::any_of(model.layer_forms,
                               [](const LayerForm& form) { return form.recurrence.has_value(); });
}

// All that the scenario says beside what the other traits hold. The number of replicas follows from
// the devices.
std::string layout_of(Scenario scenario)
{
    const Training usual;
    scenario.description.clear();
    scenario.model = {};
    scenario.topology = {};
    scenario.profile.clear();
    scenario.run = {};
    scenario.software.framework.clear();
    scenario.software.version.clear();
    scenario.strategy.dp.reset();
    scenario.training.precision = usual.precision;
    scenario.training.sequence_length = usual.sequence_length;
    scenario.training.global_batch = usual.global_batch;
    return fmt::format("{:016x}", content_hash(to_text(to_json(scenario), JsonStyle::compact)));
}

} // namespace

template <>
std::vector<EnumName<ModelClass>> enum_names<ModelClass>()
{
    using enum ModelClass;
    return {{dense, "dense"}, {mixture, "mixture"}, {hybrid, "hybrid"}, {other, "other"}};
}

template <>
const FieldTable<JobTraits>& fields_of<JobTraits>()
{
    using J = JobTraits;
    static const auto table =
        FieldTable<J>("traits", "What a job has in common with measured ones.")
            .field("model_class", &J::model_class, {.help = "of its model", .required = true})
            .field("generation", &J::generation, {.help = "of its GPU", .required = true})
            .field("dispatcher_stated", &J::dispatcher_stated,
                   {.help = "whether the scenario says how experts get their tokens",
                    .required = true})
            .field("device", &J::device, {.help = "model of its GPU", .required = true})
            .field("model", &J::model, {.help = "hash of its sizes", .required = true})
            .field("precision", &J::precision, {.help = "of most products", .required = true})
            .field("software", &J::software, {.help = "class", .required = true})
            .field("devices", &J::devices, {.help = "in use", .min = 1, .required = true})
            .field("sequence_length", &J::sequence_length, {.help = "tokens", .required = true})
            .field("pass_tokens", &J::pass_tokens,
                   {.help = "of a micro-batch on one device; 0: the model has no tokens",
                    .required = true})
            .field("pass_samples", &J::pass_samples,
                   {.help = "likewise, of a model without tokens", .required = true})
            .field("hidden_size", &J::hidden_size, {.help = "of a transformer", .required = true})
            .field("global_batch", &J::global_batch, {.help = "sequences", .required = true})
            .field("layout", &J::layout, {.help = "hash of all other settings", .required = true});
    return table;
}

ModelClass class_of(const Model& model)
{
    const auto* transformer = std::get_if<Transformer>(&model.architecture);
    if (transformer == nullptr || !transformer->causal)
        return ModelClass::other;
    if (has_recurrence(*transformer))
        return ModelClass::hybrid;
    return model.is_moe() ? ModelClass::mixture : ModelClass::dense;
}

std::string_view plural_of(ModelClass model_class)
{
    switch (model_class) {
    case ModelClass::dense:
        return "dense models";
    case ModelClass::mixture:
        return "mixtures of experts";
    case ModelClass::hybrid:
        return "hybrids";
    case ModelClass::other:
        return "encoders and CNNs";
    }
    return {};
}

std::string_view generation_of(const Device& device)
{
    const int capability = device.compute_capability;
    if (capability >= 100)
        return "Blackwell";
    if (capability >= 90)
        return "Hopper";
    if (capability >= 89)
        return "Ada";
    if (capability >= 80)
        return "Ampere";
    return capability >= 70 ? "Volta" : "";
}

JobTraits traits_of(const Scenario& scenario, const Job& job, std::uint64_t model_hash,
                    const Profile& profile)
{
    const Device& device = profile.hardware.device;
    const Training& training = job.training;
    const auto* transformer = std::get_if<Transformer>(&job.model.architecture);
    const std::int64_t length = transformer != nullptr ? training.sequence_length : 0;
    return {.model_class = class_of(job.model),
            .generation = std::string(generation_of(device)),
            .dispatcher_stated = scenario.strategy.experts.dispatcher.has_value(),
            .device = device.name,
            .model = fmt::format("{:016x}", model_hash),
            .precision = std::string(to_name(training.precision)),
            .software = profile.software.name,
            .devices = job.world(),
            .sequence_length = length,
            .pass_tokens = training.micro_batch * length / job.strategy.cp,
            .pass_samples = transformer != nullptr ? 0 : training.micro_batch,
            .hidden_size = transformer != nullptr ? transformer->hidden : 0,
            .global_batch = training.global_batch,
            .layout = layout_of(scenario)};
}

std::vector<std::string> differences(const JobTraits& a, const JobTraits& b)
{
    std::vector<std::string> out;
    const auto add = [&](bool differs, const char* name) {
        if (differs)
            out.emplace_back(name);
    };
    add(a.device != b.device, "device");
    add(a.model != b.model, "model");
    add(a.precision != b.precision, "precision");
    add(a.software != b.software, "software");
    add(a.devices != b.devices, "devices");
    add(a.sequence_length != b.sequence_length, "length");
    add(a.global_batch != b.global_batch, "batch");
    add(a.layout != b.layout, "layout");
    return out;
}

} // namespace trainyard
