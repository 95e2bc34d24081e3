#pragma once

// Published figures to hold one's own against: what others measured on the same hardware.

#include "calibrate/fit/configuration.h"
#include "calibrate/fit/size_band.h"
#include "sim/cost/knots.h"
#include "sim/cost/profile_library.h"

namespace trainyard {

// Times of one size over published sweeps.
struct ReferenceSize {
    Bytes size;
    Seconds low; // 10th percentile
    Seconds median;
    Seconds high; // 90th percentile

    bool operator==(const ReferenceSize&) const = default;
};

// Sweeps of one collective on one device model, over one shape.
struct ReferenceGroup {
    std::string device; // a shipped one
    CollectiveKind collective = CollectiveKind::all_reduce;
    int ranks = 0;
    int nodes = 1;
    int sweeps = 0;
    std::vector<ReferenceSize> sizes;

    bool operator==(const ReferenceGroup&) const = default;
};

// By device, collective, ranks and nodes; sweeps of unknown devices, with forced algorithms, of
// integer types (which switches do not reduce), or of one rank in each node are left out.
std::vector<ReferenceGroup> reference_of(std::span<const Sweep> sweeps,
                                         const Folders& folders = shipped_profiles());

Json to_json(std::span<const ReferenceGroup> groups);
Checked<std::vector<ReferenceGroup>> read_reference(const Json& json, const std::string& file);

// The shipped file of them.
Checked<std::vector<ReferenceGroup>> shipped_reference();

enum class Standing : std::uint8_t { faster, as_published, slower };

// Of one table in one band of sizes.
struct BandStanding {
    SizeBand band = SizeBand::up_to_64k;
    int sizes = 0;
    double ratio = 1; // time / published median, geometric mean over sizes
    Standing standing = Standing::as_published;
};

struct TableStanding {
    const KnotTable* table = nullptr;
    const ReferenceGroup* group = nullptr; // null: nobody published that shape
    std::vector<BandStanding> bands;
};

// Every measured table that NCCL chose for (out of place) against the group of its device. A band
// is as published when its times lie between the percentiles widened by 5 % (by 10 % where the
// group is one or two sweeps), on the mean over sizes.
std::vector<TableStanding> compare_with(std::span<const KnotTable> tables,
                                        const std::string& device,
                                        std::span<const ReferenceGroup> reference);

template <>
std::vector<EnumName<Standing>> enum_names<Standing>();

} // namespace trainyard
