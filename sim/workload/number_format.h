#pragma once

// Narrow number formats: what their products cost besides operations. Inputs of a product are cast
// from 16 bit; block scales lie along the inner dimension, so that each tensor is cast once for
// each direction in which a product sums over it (forward, and the weight gradient).
//
//     format      bytes of an element and its share of a scale
//     fp8         1                one scale per tensor, known from earlier steps (delayed)
//     fp8_block   1 + 4/128        fp32 per 1 x 128 (weights 128 x 128; DeepSeek-V3, section 3.3)
//     mxfp8       1 + 1/32         8-bit exponent per 32 (OCP microscaling formats)
//     nvfp4       1/2 + 1/16       fp8 per 16 (weights 16 x 16) and fp32 per tensor (NVIDIA 2025)

#include "sim/base/vocabulary.h"

namespace trainyard {

bool is_narrow(Precision precision);

// Of an operand as products read it, scales included; wide formats: as stored.
double operand_bytes(Precision precision);

// Times a cast reads the whole 16-bit tensor when it has to read it: once; nvfp4 three times, for
// the tensor's largest values (as they are and after the random Hadamard transform of the weight
// gradient's inputs), then for each direction.
int cast_reads(Precision precision);

// Whether the kernel that makes a tensor can write the cast as well: not where a scale of the whole
// tensor must be known first.
bool casts_beside_producer(Precision precision);

// Whether Megatron-Core and FSDP gather parameters in this format: those whose scales a rank knows
// from its shard, or from earlier steps.
bool gathers_parameters(Precision precision);

} // namespace trainyard
