#pragma once

// What somebody asks of a whole training, from the first step to the last: how much is learned, how
// long a step takes, what fails, what is saved, what it costs. A plain value; every default is a
// published figure, named where it is set.

#include "sim/base/diagnostic.h"
#include "sim/base/field_names.h"
#include "sim/base/quantity.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

// So many tokens in smaller batches before the full one.
struct BatchRamp {
    double tokens = 0;
    double batch_tokens = 0;          // of a step
    std::optional<Seconds> step_time; // else the full batch's, in proportion

    bool operator==(const BatchRamp&) const = default;
};

// Failures are exponential: GPUs and nodes fail independently, their rates add up.
struct FailureModel {
    // Llama 3 405B: 419 unexpected interruptions in 54 days on 16,384 H100, one per 50,677 GPU
    // hours, of all causes (Grattafiori 2024, table 5). Meta's two A100 clusters had one per 29,500
    // and per 82,000 (Kokolis 2024, 6.5 and 2.34 per 1,000 node days).
    std::optional<Seconds> mtbf_per_gpu;
    std::optional<Seconds> mtbf_per_node;
    // MegaScale: found within 10 minutes on average, and back within 15 (Jiang 2024, section 6.3).
    Seconds detection{600};
    Seconds restart{300};
    // Share of failures after which a node is replaced: 41.5 % GPUs, 12.2 % links and 4.9 % hosts
    // of a cluster of H200; the others restart on what they have (Crusoe 2025).
    double replaced = 0.6;
    Seconds repair{86400};          // mean, of a node
    std::optional<int> spare_nodes; // absent: as many as make it cheapest
    // Interruptions of spot capacity; absent: it is not spot.
    std::optional<Seconds> spot_mtbf_per_node;
    Seconds spot_notice{120}; // EC2; 30 s on Google Cloud
    Seconds spot_return{600}; // until other capacity takes the place

    bool operator==(const FailureModel&) const = default;
};

struct CheckpointModel {
    std::optional<Seconds> interval; // of training between two; absent: the best
    std::optional<Seconds> time;     // to write one; absent: bytes / bandwidth
    std::optional<Bytes> bytes;      // absent: 14 for each parameter (BLOOM: weights, fp32 states)
    // To storage, of the whole job. Absent: 0.15 GB/s for each GPU (BLOOM on Jean Zay: 2.3 TB in
    // 40 s from 384), 2 TB/s at most (Llama 3).
    std::optional<Bandwidth> bandwidth;
    bool asynchronous = false;    // training goes on while it is written
    std::optional<Seconds> block; // asynchronous: the copy to the host; absent: 10 GB/s a GPU

    bool operator==(const CheckpointModel&) const = default;
};

// In one currency, which nobody converts.
struct PriceModel {
    std::optional<double> gpu_hour; // on demand, reserved or spot: what is paid
    std::optional<double> node_hour;
    std::optional<double> kilowatt_hour;  // where electricity is paid apart
    std::optional<double> terabyte_month; // of checkpoints that are kept
    int checkpoints_kept = 3;

    bool operator==(const PriceModel&) const = default;
};

struct PowerModel {
    std::optional<double> gpu_watts; // board; absent: the device's
    // Training moves between 15 % and 85 % of the maximum (Morrison 2025).
    double busy = 0.85;
    double stalled = 0.15;
    // Host, fans, NICs: 8 H100 drew 8.4 kW at most, 5.6 kW of it boards (Latif 2024).
    double node_watts = 2800;
    double pue = 1.2; // Jean Zay; Google 1.1, industry average 1.58

    bool operator==(const PowerModel&) const = default;
};

struct WholeTrainingRequest {
    double tokens = 0;       // or samples, or images: what `unit` says
    double batch_tokens = 0; // of a step
    std::string unit = "tokens";
    Seconds step_time;
    // 90 % interval of it, where known; else +-10 % is tried.
    std::optional<Seconds> step_time_low;
    std::optional<Seconds> step_time_high;
    std::vector<BatchRamp> ramp;
    std::string device; // name of its model: for power
    int gpus = 1;
    int gpus_per_node = 8;
    double parameters = 0;           // for checkpoints of unknown size
    double evaluation = 0;           // time beside the steps, as a share of theirs
    double stragglers = 0;           // what slow devices add to steps, as a share of theirs
    std::optional<Seconds> deadline; // of the whole training
    std::optional<double> budget;    // likewise, in the currency of the prices
    double certainty = 0.9;          // the chance that each of them must have to be met
    FailureModel failures;
    CheckpointModel checkpoints;
    PriceModel prices;
    PowerModel power;

    int nodes() const { return (gpus + gpus_per_node - 1) / gpus_per_node; }

    bool operator==(const WholeTrainingRequest&) const = default;
};

template <>
const FieldTable<BatchRamp>& fields_of<BatchRamp>();
template <>
const FieldTable<FailureModel>& fields_of<FailureModel>();
template <>
const FieldTable<CheckpointModel>& fields_of<CheckpointModel>();
template <>
const FieldTable<PriceModel>& fields_of<PriceModel>();
template <>
const FieldTable<PowerModel>& fields_of<PowerModel>();
template <>
const FieldTable<WholeTrainingRequest>& fields_of<WholeTrainingRequest>();

// More than these are a slip.
inline int most_spares(const WholeTrainingRequest& request)
{
    return 100 * request.nodes();
}

// Values out of range, and those that contradict each other; both are named.
Problems problems_of(const WholeTrainingRequest& request);

} // namespace trainyard
