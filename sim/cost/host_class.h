#pragma once

// Constants of a node's processors as a data loader sees them: how fast a thread makes samples of
// bytes, and how little more several threads make.

#include "sim/base/quantity.h"
#include "sim/cost/provenance.h"

namespace trainyard {

enum class Decoder : std::uint8_t { pillow, opencv, torchvision, tensorflow, simplejpeg };
template <>
std::vector<EnumName<Decoder>> enum_names<Decoder>();

// One value per decoder.
struct PerDecoder {
    double pillow = 0;
    double opencv = 0;
    double torchvision = 0;
    double tensorflow = 0;
    double simplejpeg = 0;

    double at(Decoder decoder) const;
    bool operator==(const PerDecoder&) const = default;
};

struct HostClass {
    std::string name;
    std::vector<std::string> aliases;
    PerDecoder decode; // ImageNet's JPEGs per second and thread; 0: not known
    // Workers of one process get in each other's way: w of them do the work of
    //   w / (1 + contention (w - 1)),
    // so never more than 1 / contention.
    double contention = 0;
    double hyper_thread_gain = 0; // of a core's second thread / of its first
    Bandwidth collate;            // one thread copying samples into a batch
    double pageable_copy = 1;     // copy of pageable memory to the device / of pinned memory

    ProvenanceMap provenance;

    bool operator==(const HostClass&) const = default;
};

inline constexpr std::string_view host_format = "trainyard.host/1";

template <>
const FieldTable<PerDecoder>& fields_of<PerDecoder>();
template <>
const FieldTable<HostClass>& fields_of<HostClass>();

// What is missing or implausible.
void check(const Reader& reader, const HostClass& host);

} // namespace trainyard
