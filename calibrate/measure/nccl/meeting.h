#pragma once

// How the ranks of a group find one another before NCCL connects them.

#include "calibrate/measure/nccl/nccl_group.h"

#include <chrono>

namespace trainyard {

// What a rank tells the others.
struct MeetingPlace {
    int rank = 0;
    std::string device_id;
    bool share = false; // ranks may share a device
};

struct MeetingResult {
    NcclId id{};
    bool shared = false; // two ranks or more are on one device
};

// The first rank gathers what all tell, makes NCCL's id and gives it to the others; if it cannot,
// all are told why. Throws MeasureFailure: timed_out names ranks that did not come, refused those
// on one device.
MeetingResult meet(const NcclGroup& group, const MeetingPlace& place, Rendezvous& rendezvous,
                   std::chrono::milliseconds limit);

// Makes NCCL accept several ranks on one device: for tests of function, not of speed. `rank` and
// `host` tell processes apart.
void let_ranks_share(const NcclLibrary& nccl, const std::string& host, int rank);

} // namespace trainyard
