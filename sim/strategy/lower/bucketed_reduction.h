#pragma once

// Gradients reduced in buckets beside the last backward passes (Li 2020), or all at once after
// them.

#include "sim/strategy/lower/buckets.h"
#include "sim/strategy/lower/data_parallel.h"

#include <array>

namespace trainyard {

class BucketedReduction {
public:
    // `kind`: all_reduce (DDP) or reduce_scatter (distributed optimizer).
    BucketedReduction(const Job& job, const StageContent& stage, CollectiveKind kind,
                      BucketSizes sizes);

    // After a visit: starts the buckets that are complete with its layer's gradients.
    void after(StageWriter& writer, std::size_t visit, const LayerBlock& block);
    // After the last pass: what was not started beside it.
    void rest(StageWriter& writer);

private:
    struct Traffic {
        GroupKind group;
        double LayerParameters::*parameters;
        double ItemLowering::GradientWork::*share;
        BucketFill fill;
    };

    void start(StageWriter& writer, const Traffic& traffic, Bytes bytes, EventId ready,
               UseIndex index) const;

    const StageContent& stage_;
    CollectiveKind kind_;
    bool overlap_;
    double bytes_per_parameter_;
    std::array<Traffic, 2> traffic_; // dense, expert
};

// Bytes of one parameter's gradient as it is accumulated and reduced.
double gradient_bytes(const Job& job);
// Bytes of one parameter as it is gathered.
double parameter_bytes(const Job& job);

} // namespace trainyard
