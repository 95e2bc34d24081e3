#pragma once

// What a job's launch variables make NCCL do differently from its own choice.
//
// But for the number of sockets these are restrictions: another path is never faster here than the
// one NCCL takes by itself.

#include "sim/cost/collective_form.h"

#include <optional>

namespace trainyard {

struct NcclSettings {
    // Without peer-to-peer copies devices of a node meet in host memory: the class of that path.
    std::optional<FabricClass> host_path;
    bool one_rank_domains = false; // nor there: every byte goes through a NIC
    // InfiniBand and RoCE off: sockets over the same NICs, with this class.
    std::optional<NetworkClass> sockets;
    bool gpu_direct = true;
    bool nvls = true;
    bool in_network_reduction = true;
    std::optional<Bandwidth> max_per_nic; // of the sockets in use

    std::vector<const Algorithm*> algorithms; // allowed; empty: all
    std::vector<Protocol> protocols;
    int most_channels = 0; // 0: NCCL's choice
    int least_channels = 0;

    bool operator==(const NcclSettings&) const = default;

    // Does anything go another way than NCCL's own?
    bool other_path() const { return host_path || one_rank_domains || sockets || !gpu_direct; }

    // The group as NCCL uses it.
    GroupShape seen(const GroupShape& shape) const;
    // Fewer channels than a collective takes by itself move as much less inside the domain.
    FabricClass fabric(const FabricClass& usual) const;
    NetworkClass network(const NetworkClass& usual) const;
    // The lines whose algorithm and protocol are allowed. Where the form has none of the allowed
    // algorithms NCCL falls back to what needs no switch, and so do these; never empty.
    std::vector<TimeLine> allowed(std::vector<TimeLine> lines) const;
    // Those of the group as NCCL uses it.
    std::vector<TimeLine> lines(CollectiveKind kind, const GroupShape& shape,
                                const CollectiveClasses& classes) const;
};

} // namespace trainyard
