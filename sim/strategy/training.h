#pragma once

// What is trained per step, and how it is spread over ranks: the two parts of a scenario that make
// a program.

#include "sim/strategy/ddp_options.h"
#include "sim/strategy/fsdp_options.h"
#include "sim/strategy/group_options.h"
#include "sim/strategy/number_formats.h"
#include "sim/strategy/offload_options.h"
#include "sim/strategy/packing.h"
#include "sim/strategy/pipeline/options.h"
#include "sim/strategy/sharding_options.h"
#include "sim/workload/layer_work.h"

namespace trainyard {

enum class Optimizer : std::uint8_t { adam, sgd, adafactor, muon };

struct Training {
    std::int64_t sequence_length = 2048; // of transformers; ignored by native layer lists
    std::int64_t global_batch = 0;       // sequences (samples) per step over all ranks
    std::int64_t micro_batch = 1;
    Precision precision = Precision::bf16;
    Optimizer optimizer = Optimizer::adam;
    Recompute recompute = Recompute::none;
    std::optional<int> recompute_layers;            // of a stage, with full; all when absent
    std::vector<RecomputeModule> recompute_modules; // with selective; none: the attention core
    std::optional<bool> fp32_gradients;             // else the framework's habit
    std::optional<Lora> lora;                       // train adapters of a frozen model
    std::optional<Packing> packing;                 // else each sequence is one document
    NumberFormats formats;

    bool operator==(const Training&) const = default;
};

struct Overlap {
    std::optional<bool>
        dp; // gradient reduction (and parameter gather) beside compute; else the framework's habit
    std::optional<bool> tp;
    std::optional<bool> pp;
    bool ep = false; // forward and backward passes in turns

    bool operator==(const Overlap&) const = default;
};

// Who runs the replicas.
enum class DataParallelScheme : std::uint8_t {
    ddp,           // one process per device: DDP, ZeRO, FSDP
    single_process // one process for all devices of a host (torch.nn.DataParallel)
};

struct Strategy {
    int tp = 1;
    int pp = 1;
    int vpp = 1; // virtual stages per device
    int cp = 1;
    int ep = 1;
    int etp = 1;
    std::optional<int> dp; // else what is left of the topology
    int zero = 0;          // 0 DDP, 1 distributed optimizer, 2 gradients too, 3 FSDP/ZeRO-3
    std::optional<int> shard_group; // HSDP: ranks over which states are cut; else DP x CP
    DataParallelScheme data_parallel = DataParallelScheme::ddp;
    std::optional<bool> sequence_parallel; // else on when tp > 1 and the framework does so
    std::string schedule = "1f1b";         // see schedule_names()
    std::vector<int>
        stage_layers; // uneven stages: transformer layers of each (virtual) stage; empty: even
    PipelineOptions pipeline;
    TensorParallel tensor;
    ContextParallel context;
    ExpertParallel experts;
    Overlap overlap;
    // Of DDP; defaults of PyTorch's DistributedDataParallel (Li 2020, section 3.2.3).
    Bytes bucket_cap{25ULL << 20};
    Bytes first_bucket{1ULL << 20};
    int prefetch = 1;                          // FSDP units gathered ahead
    std::optional<bool> reshard_after_forward; // FSDP: gather again before backward; else pp = 1
    DdpOptions ddp;
    ShardingOptions sharding;
    FsdpOptions fsdp;
    OffloadOptions offload;
    Backend backend = Backend::nccl;
    GroupBackends backends;
    std::string rank_order = "tp-cp-dp-pp"; // from the fastest
    int gpus_per_domain = 0;                // that ranks run on, of each NVLink domain; 0: all

    bool operator==(const Strategy&) const = default;
};

template <>
std::vector<EnumName<Optimizer>> enum_names<Optimizer>();
template <>
std::vector<EnumName<DataParallelScheme>> enum_names<DataParallelScheme>();
template <>
const FieldTable<Training>& fields_of<Training>();
template <>
const FieldTable<Overlap>& fields_of<Overlap>();
template <>
const FieldTable<Strategy>& fields_of<Strategy>();

} // namespace trainyard
