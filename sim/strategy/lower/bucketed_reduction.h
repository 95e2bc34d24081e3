#pragma once

// Gradients reduced in buckets beside backward passes (Li 2020), or all at once after them.

#include "sim/strategy/lower/buckets.h"
#include "sim/strategy/lower/data_parallel.h"
#include "sim/strategy/lower/offloaded_update.h"
#include "sim/strategy/lower/shard_exchange.h"

#include <array>

namespace trainyard {

// How a scheme reduces its gradients.
struct ReductionStyle {
    CollectiveKind kind = CollectiveKind::all_reduce;
    bool into_shards = false;       // HSDP: over a shard group, then across; else over all ranks
    bool overlap = true;            // bucket by bucket beside backward, else at its end
    bool every_micro_batch = false; // else with the last micro-batch only
    double bytes_per_parameter = 4; // on their way
    // Through the device's memory, per parameter: copies, casts and scaling before gradients leave
    // and after they are back.
    double bytes_before = 0;
    double bytes_after = 0;
};

class BucketedReduction {
public:
    // Sizes of the dense and of the expert parameters' buckets.
    BucketedReduction(const Job& job, const StageContent& stage, const ReductionStyle& style,
                      BucketSizes dense, BucketSizes expert);

    // After a visit: starts the buckets that are complete with its layer's gradients.
    void after(StageWriter& writer, std::size_t visit, const LayerBlock& block);
    // After the last pass: what was not started beside it.
    void rest(StageWriter& writer);

private:
    struct Traffic {
        double LayerParameters::*parameters;
        double ItemLowering::GradientWork::*share;
        BucketFill fill;
        ShardReduction reduction;
        double part; // of the gradients that a rank updates with
    };
    struct Bucket { // on its way
        Bytes bytes;
        EventId back;
        UseIndex index;
    };

    void bucket_by_bucket(StageWriter& writer, const Visit& visit, const LayerBlock& block,
                          bool ends_chunk);
    void all_at_once(StageWriter& writer, std::optional<int> chunk, UseIndex index);
    // Passes over gradients of a layer, or of all of them, before they leave.
    void prepare(StageWriter& writer, double parameters, UseIndex index) const;
    void start(StageWriter& writer, Traffic& traffic, Bytes bytes, EventId ready, UseIndex index);
    EventId send(StageWriter& writer, Traffic& traffic, Bytes bytes, EventId ready, UseIndex index);
    void take_back(StageWriter& writer);
    double leaving(const LayerParameters& parameters) const;

    const StageContent& stage_;
    ReductionStyle style_;
    GradientOffload offload_;
    bool last_round_ = false;        // these are the sums over all micro-batches
    std::array<Traffic, 2> traffic_; // dense, expert
    std::vector<Bucket> under_way_;  // whose gradients are passed over when they are back
    std::vector<EventId> back_;      // events of buckets, used again in every round
};

// Bytes of one parameter's gradient as it is accumulated.
double gradient_bytes(const Job& job);
// Bytes of one parameter as it is held.
double parameter_bytes(const Job& job);

} // namespace trainyard
