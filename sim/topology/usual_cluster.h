#pragma once

// A cluster from the few facts that a measured run states about its machine.

#include "sim/topology/cluster.h"
#include "sim/topology/presets.h"

namespace trainyard {

// Zeros, empty texts and absent values mean: as usual for that device.
struct UsualCluster {
    std::string device = {}; // key of the device constants
    int nodes = 1;
    int gpus_per_node = 0;
    int nvlink_domain = 0;                          // GPUs that NVLink joins; 1: no NVLink
    std::string network = {};                       // name of a network preset
    std::optional<Bandwidth> nic_rate_per_gpu = {}; // 0: no NICs
};

// The first node preset with that device (and that many GPUs, if there is one) and its usual
// network, with what is given replaced. Non-blocking: on rails where every GPU has a NIC of its
// own, else leaf and spine. The problems name the fields above.
Checked<ClusterDescription> usual_cluster(const UsualCluster& facts, const Presets& presets);

} // namespace trainyard
