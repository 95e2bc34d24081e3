#pragma once

// What keeps the sizes of a job from fitting together. Used by `resolve`.

#include "sim/strategy/job.h"

#include <functional>

namespace trainyard {

// Of a replica in a step: programs count them in 16 bits.
constexpr std::int64_t most_micro_batches = 65534;

Diagnostic refusal(std::string pointer, std::string message, std::string hint);

// "tensor parallel sizes that work here: 1, 2, 4, 8": those from 1 to `limit` that `works` accepts,
// at most a dozen (the first eleven and the last); empty when there is none.
std::string sizes_that_work(std::string_view what, int limit,
                            const std::function<bool(int)>& works);

// Kinds of layer between embedding and head, encoders' included, each once.
std::vector<LayerKind> inner_kinds(const Model& model);

// Whether TP of this size leaves every layer's mixer whole heads.
bool divides_heads(const Model& model, int tp);

// The ranks against the devices: fills in `job.strategy.dp` when it is not given. Without problems
// the world fits the devices.
Problems place_on_devices(Job& job, int devices);

// The cuts of layers and tensors (tp, cp, pp, ep, etp) against the model; the sizes named are at
// most `devices`.
Problems model_misfits(const Job& job, int devices);

// Why a matrix of this model takes no adapter here; empty when it does.
std::string adapter_misfit(const Transformer& model, AdapterTarget target);

// Adapters (LoRA) against the matrices that the model has. Requires a transformer.
Problems lora_misfits(const Job& job);

// Packed documents against the sequence; number formats against layers and framework.
Problems packing_misfits(const Job& job);
Problems format_misfits(const Job& job);
// What context, tensor and expert parallelism are asked to do against the model and one another.
Problems group_misfits(const Job& job);

// Warnings: what these options make of a resolved job that its user should know.
Problems group_notes(const Job& job);

// Batch, pipeline schedule, ZeRO, expert groups and rank order against the parallel sizes. Requires
// dp.
Problems step_misfits(const Job& job);

// Options of DDP, ZeRO, FSDP and HSDP against the sizes and one another. Requires dp.
Problems data_parallel_misfits(const Job& job);

// What is offloaded against the rest of the strategy. Requires dp.
Problems offload_misfits(const Job& job);

} // namespace trainyard
