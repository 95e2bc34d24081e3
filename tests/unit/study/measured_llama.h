#pragma once

// A complete record of a run, for tests to change and to leave things out of.

#include "sim/study/record.h"

#include <algorithm>

namespace trainyard::test {

inline MeasuredRecord llama_on_64_h100()
{
    MeasuredRecord record;
    record.id = "llama";
    record.quality = "A";
    record.framework = "NeMo 24.07 (Megatron-Core)";
    record.hardware = {"H100-SXM5-80GB", "H100", 8, 8, "InfiniBand NDR", 400.0};
    record.gpus = 64;
    record.model.name = "llama";
    record.model.architecture = "dense-decoder";
    record.model.hidden = 8192;
    record.model.layers = 80;
    record.model.heads = 64;
    record.model.kv_heads = 8;
    record.model.ffn = 28672;
    record.model.vocabulary = 32000;
    record.model.gated_mlp = true;
    record.sequence_length = 4096;
    record.global_batch = 128;
    record.micro_batch = 1;
    record.precision = "bf16";
    record.parallel.tp = 4;
    record.parallel.pp = 4;
    record.parallel.vpp = 5;
    record.step_time = 5.0;
    return record;
}

// One of the assumptions names this part.
inline bool assumed(const std::vector<std::string>& assumptions, std::string_view part)
{
    return std::any_of(assumptions.begin(), assumptions.end(), [&](const std::string& text) {
        return text.find(part) != std::string::npos;
    });
}

} // namespace trainyard::test
