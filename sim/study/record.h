#pragma once

// Measured training runs: configuration and step time as others published them, one form for all.
//
// Reading is generous with what is absent (nothing but a name is required) and strict with what is
// there: a value of the wrong kind makes its record unusable and is reported, never guessed.

#include "sim/base/diagnostic.h"
#include "sim/base/json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

inline constexpr std::string_view records_format = "trainyard.records/1";

// Where a record was published.
struct RecordSource {
    std::string key; // short name of the publication: errors are averaged by it
    std::string title;
    std::string release; // of the software or the table
    std::string date;
    std::string table;

    bool operator==(const RecordSource&) const = default;
};

struct RecordHardware {
    std::string gpu; // "H100-SXM5-80GB"
    std::string gpu_family;
    std::optional<int> gpus_per_node;
    std::optional<int> nvlink_domain; // GPUs that NVLink joins
    std::string network;
    std::optional<double> nic_gbps_per_gpu; // Gb/s

    bool operator==(const RecordHardware&) const = default;
};

// What the published recipe of a run says, where the record says nothing.
struct RecordRecipe {
    std::optional<int> activation_offload_layers; // whose activations wait in the host's memory
    std::optional<int> recompute_layers;          // recomputed whole
    std::vector<std::string> recompute_modules;   // parts of each layer, in Megatron-Core's words
    std::string moe_dispatcher;                   // all_to_all, deepep, hybridep
    std::optional<bool> expert_overlap;           // exchanges beside another micro-batch's compute
    std::string cuda_graphs;                      // none, full_iteration, or whose
    std::vector<std::string>
        cuda_graph_scope; // what they capture of a layer: attn, moe_router, ...
    std::optional<bool>
        fused_grouped_mlp; // products, activation and casts of experts are one kernel

    bool operator==(const RecordRecipe&) const = default;
};

struct RecordModel {
    std::string name;
    std::string architecture; // dense-decoder, moe-decoder, encoder, cnn, ...
    std::optional<std::int64_t> hidden;
    std::optional<int> layers;
    std::optional<int> heads;
    std::optional<int> kv_heads;
    std::optional<std::int64_t> head_dim;
    std::optional<std::int64_t> ffn;
    std::optional<std::int64_t> vocabulary;
    std::optional<double> parameters;
    std::optional<bool> gated_mlp;
    std::string attention; // in words, where it is unusual
    std::optional<std::int64_t> sliding_window;
    std::optional<int> experts;
    std::optional<int> experts_per_token;
    std::optional<std::int64_t> expert_ffn;
    std::optional<int> moe_layers;
    std::optional<std::int64_t> shared_expert_ffn;
    std::optional<bool> multi_token_prediction;
    Json config; // a Hugging Face config.json, which says all of the above; null: there is none

    bool operator==(const RecordModel&) const = default;
};

struct RecordParallel {
    std::optional<int> tp;
    std::optional<int> pp;
    std::optional<int> vpp;
    std::optional<int> cp;
    std::optional<int> ep;
    std::optional<int> etp;
    std::optional<int> zero_stage;
    std::optional<int> shard_group; // FSDP: ranks that hold one copy together
    std::string dp_kind;            // in the framework's words
    std::string cp_comm;
    std::string schedule;
    std::optional<bool> sequence_parallel;
    std::optional<int> dp; // follows from the GPUs; must not contradict them

    bool operator==(const RecordParallel&) const = default;
};

struct RecordOverlap {
    std::optional<bool> dp;
    std::optional<bool> tp;
    std::optional<bool> pp;
    std::optional<bool> torch_compile;
    std::string pp_schedule;

    bool operator==(const RecordOverlap&) const = default;
};

struct MeasuredRecord {
    std::string id;
    std::string quality; // A full configuration and a direct rate; B something not stated; C not to
                         // be scored
    RecordSource source;
    std::string task; // pretrain, sft, lora, finetune
    RecordHardware hardware;
    std::optional<int> gpus;
    RecordModel model;
    std::optional<std::int64_t> sequence_length;
    std::optional<std::int64_t> global_batch;
    std::optional<std::int64_t> micro_batch;
    std::string precision;
    std::string precision_published; // in the source's words
    std::string gradient_type;
    RecordParallel parallel;
    std::optional<std::string> recompute;
    RecordRecipe recipe;
    RecordOverlap overlap;
    std::string framework;
    std::optional<double> step_time;     // s
    bool out_of_memory = false;          // how the run ended: it has no step time
    std::optional<double> peak_memory;   // bytes allocated on the fullest GPU
    std::optional<double> peak_reserved; // bytes its allocator reserved
    std::vector<std::string> flags;
    std::string notes;
    // What to simulate, as a scenario file says it; paths inside are relative to this file. Null:
    // made of the rest, by rules (record_scenario.h).
    Json scenario;
    std::string file;
    int line = 0; // in its file

    bool operator==(const MeasuredRecord&) const = default;
};

// A record that could not be read, and why.
struct UnreadableRecord {
    std::string id;
    Problems problems; // each with line and pointer

    bool operator==(const UnreadableRecord&) const = default;
};

struct RecordFile {
    std::string file;
    std::vector<MeasuredRecord> records;
    std::vector<UnreadableRecord> unreadable;
};

// Takes a list of records, or an object whose "records" is one. Anything else is an error; a bad
// record among good ones is not.
Checked<RecordFile> records_from(const Json& json, const std::string& file);

// Throws WorldError when the file cannot be read.
Checked<RecordFile> read_records(const std::string& path);

} // namespace trainyard
