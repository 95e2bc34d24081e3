#pragma once

// Times of kernels that pass over a sequence, as surfaces fitted to measured times of forward
// passes: chunked scans of delta rules and short convolutions. Neither holds the launch.

#include "sim/base/quantity.h"
#include "sim/cost/size_correction.h"
#include "sim/workload/kernel.h"

namespace trainyard {

// What such a time depends on besides the shape.
struct SequenceDevice {
    int sms = 0;
    Bytes cache; // of second level
};

// A chunked scan:
//
//   (moved / memory x (1 - hit + hit / cached) + chunks x step x (1^4 + filled^4)^(1/4))
//       x correction(length, batch x heads)
//   moved:  2 x 2 bytes per token and head of 3 keys, 3 values and a chunk's share of the state
//   hit:    1 / (1 + (moved / cache)^1.5), of short runs that repeat
//   filled: batch x heads / (heads_per_sm x SMs); the state goes from chunk of 64 to chunk, heads side by
//           side
//
// A backward pass moves `traffic` times as much and goes through the chunks `chains` times.
struct MeasuredScan {
    SequenceKernel kernel = SequenceKernel::none;
    Bandwidth memory;
    Seconds step;     // of a chunk
    double heads_per_sm = 1; // heads that an SM takes at a time
    double cached = 1;
    SizeCorrection correction;
    SurfaceErrors errors;

    Seconds time(const SequenceShape& shape, const SequenceDevice& device) const;
    bool operator==(const MeasuredScan&) const = default;
};

// A short convolution with its activation:
//
//   ((moved / memory x (1 - hit + hit / cached))^4 + (length x token)^4)^(1/4)
//       x correction(length, batch, channels)
//   moved:  2 bytes in and out per token and channel
//   hit:    1 / (1 + (footprint x moved / cache)^6)
//
// A backward pass takes `traffic` times as long.
struct MeasuredConvolution {
    SequenceKernel kernel = SequenceKernel::none;
    Bandwidth memory;
    Seconds token; // where sequences and channels do not fill the device
    double cached = 1;
    double footprint = 1;
    SizeCorrection correction;
    SurfaceErrors errors;

    Seconds time(const SequenceShape& shape, const SequenceDevice& device) const;
    bool operator==(const MeasuredConvolution&) const = default;
};

template <>
const FieldTable<MeasuredScan>& fields_of<MeasuredScan>();
template <>
const FieldTable<MeasuredConvolution>& fields_of<MeasuredConvolution>();

void check(const Reader& reader, const MeasuredScan& scan);
void check(const Reader& reader, const MeasuredConvolution& convolution);

} // namespace trainyard
