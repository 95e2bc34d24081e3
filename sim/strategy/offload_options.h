#pragma once

// What lives outside the device's memory between its uses (ZeRO-Offload, ZeRO-Infinity).

#include "sim/base/field_names.h"

#include <cstdint>

namespace trainyard {

enum class OffloadTarget : std::uint8_t {
    none,
    cpu,   // the host's memory over PCIe, or whatever link the device has to its host
    grace, // the Grace CPU's memory over C2C
    peer   // memory that an idle GPU of the NVLink domain lends
};

struct OffloadOptions {
    OffloadTarget optimizer = OffloadTarget::none;  // states; cpu and grace also update there
    OffloadTarget parameters = OffloadTarget::none; // shards of FSDP, fetched before each gather
    bool overlap = true;                            // copies run beside compute
    // Transformer layers of a device, the first that are not recomputed, whose activations wait in
    // the host's memory from forward to backward (Megatron-Core's cpu_offloading_num_layers, the
    // offloading policies of XLA). Copies run beside compute, one layer behind.
    int activation_layers = 0;

    bool operator==(const OffloadOptions&) const = default;
};

template <>
std::vector<EnumName<OffloadTarget>> enum_names<OffloadTarget>();
template <>
const FieldTable<OffloadOptions>& fields_of<OffloadOptions>();

} // namespace trainyard
