#pragma once

// Constants of what joins devices: inside an NVLink domain (fabric class), between domains (network
// class), and what both share. All of them feed the closed form of collective_form.h.

#include "sim/base/quantity.h"
#include "sim/cost/provenance.h"

namespace trainyard {

// One value per kind of collective.
template <class T>
struct PerCollective {
    T all_reduce{};
    T all_gather{};
    T reduce_scatter{};
    T all_to_all{};
    T broadcast{};
    T reduce{};
    T send_receive{};

    T at(CollectiveKind kind) const
    {
        switch (kind) {
        case CollectiveKind::all_gather:
            return all_gather;
        case CollectiveKind::reduce_scatter:
            return reduce_scatter;
        case CollectiveKind::all_to_all:
            return all_to_all;
        case CollectiveKind::broadcast:
            return broadcast;
        case CollectiveKind::reduce:
            return reduce;
        case CollectiveKind::send_receive:
            return send_receive;
        case CollectiveKind::all_reduce:
        case CollectiveKind::barrier:
            break;
        }
        return all_reduce;
    }
    bool operator==(const PerCollective&) const = default;
};

// A class of links inside a domain. The three roles LL, LL128 and simple are NCCL's protocols in
// spirit: three lines of which the lowest counts.
struct FabricClass {
    std::string name;
    std::vector<std::string> aliases;
    Bandwidth line_rate; // per device and direction, where the topology does not say

    Seconds base_ll; // latency without hops
    Seconds base_ll128;
    Seconds base_simple;
    Seconds hop_ll; // per hop, LL and LL128
    Seconds hop_simple;
    double efficiency_ll = 0; // of the line rate
    double efficiency_ll128 = 0;
    PerCollective<double> efficiency; // simple
    double local_copy = 0;      // a rank's copy of its own part, in shares of the part's transfer
    double local_copy_p2p = 0;  // the same in all-to-all
    double p2p_base_factor = 1; // base latency of all-to-all and send/receive against the others

    Seconds nvls_per_rank;      // reduction in the NVSwitch: latency per rank of the domain
    double nvls_efficiency = 0; // of the line rate; 0: there is none

    int sms_held = 0; // by a communication kernel that moves much
    int sms_held_nvls = 0;
    double in_situ = 1;            // time inside a training step / time in nccl-tests
    double in_situ_all_to_all = 1; // the same of all-to-all

    ProvenanceMap provenance;

    bool operator==(const FabricClass&) const = default;
};

// A class of networks between domains, as a collective library sees it.
struct NetworkClass {
    std::string name;
    std::vector<std::string> aliases;
    Bandwidth line_rate;            // of one NIC, where the topology does not say
    Seconds latency;                // of one crossing, library included
    double efficiency = 0;          // of the line rate
    Bandwidth max_per_nic;          // 0: the line rate
    Bandwidth max_per_communicator; // rings and trees of one, out of a domain; 0: no limit
    double staged_efficiency = 1;   // of the rate, where data crosses host memory (no GPUDirect)
    double in_situ = 1;             // time inside a training step / time in nccl-tests
    double in_situ_all_to_all = 1;

    ProvenanceMap provenance;

    bool operator==(const NetworkClass&) const = default;
};

// What the closed form of NCCL's collectives takes besides fabric and network.
struct CollectiveForm {
    double cross_ll = 1; // efficiency of LL across domains / that of simple
    double cross_ll128 = 1;
    double tree_latency_ll128 = 1; // network crossings per level of a tree, against LL
    double tree_latency_simple = 1;
    double tree_beyond_two = 1; // bandwidth efficiency of trees over more than two domains
    double ring_entry_crossings = 1;
    Seconds post_per_remote_peer; // all-to-all
    double all_to_all_cross = 1;  // efficiency of all-to-all across domains / that of rings
    double hops_all_reduce = 2;   // passes over the hops of a domain
    double hops_p2p = 0.25;
    Seconds creation; // of a communicator: its ranks find each other and their connections
    Seconds creation_per_rank;

    ProvenanceMap provenance;

    bool operator==(const CollectiveForm&) const = default;
};

inline constexpr std::string_view fabric_format = "trainyard.fabric/1";
inline constexpr std::string_view network_format = "trainyard.network/1";
inline constexpr std::string_view collectives_format = "trainyard.collectives/1";

template <>
const FieldTable<PerCollective<double>>& fields_of<PerCollective<double>>();
template <>
const FieldTable<FabricClass>& fields_of<FabricClass>();
template <>
const FieldTable<NetworkClass>& fields_of<NetworkClass>();
template <>
const FieldTable<CollectiveForm>& fields_of<CollectiveForm>();

// What is missing (errors), and what is implausible (warnings).
void check(const Reader& reader, const FabricClass& fabric);
void check(const Reader& reader, const NetworkClass& network);
void check(const Reader& reader, const CollectiveForm& form);

} // namespace trainyard
