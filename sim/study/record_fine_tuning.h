#pragma once

// What fine-tuning runs leave open: which adapters they train, and how samples fill a sequence.

#include "sim/strategy/packing.h"
#include "sim/study/record.h"
#include "sim/study/record_software.h"
#include "sim/workload/adapters.h"

namespace trainyard {

// NVIDIA's recipes for LoRA adapt the fused matrix of queries, keys and values; PEFT's examples
// those of queries and values. The rank, 8 in both, hardly matters. Nothing for other tasks.
std::optional<Lora> adapters_of(const MeasuredRecord& record, const RecordSoftware& software,
                                std::vector<std::string>& assumptions);

// NeMo fine-tunes on SQuAD, whose samples (a paragraph of some 120 words, a question and an answer;
// Rajpurkar 2016) it packs to the sequence length. Nothing for other tasks and frameworks.
std::optional<Packing> packing_of(const MeasuredRecord& record, const RecordSoftware& software,
                                  std::int64_t sequence_length,
                                  std::vector<std::string>& assumptions);

} // namespace trainyard
