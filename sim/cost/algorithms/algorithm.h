#pragma once

// What sets an algorithm of collectives apart from the others. A further one is a header beside
// this one, and a word of the list in algorithms.cpp.

#include "sim/cost/collective_form.h"

#include <array>
#include <span>
#include <string_view>

namespace trainyard {

// Inside a domain, of one protocol.
struct ProtocolTerms {
    double base; // latency without hops
    double hop;
    double efficiency;          // of the line rate
    double crossing_efficiency; // out of the domain, against simple
    double tree_latency;        // crossings per level of a tree
};

// The symbols of the form, for one collective over one shape.
struct CollectiveTerms {
    CollectiveTerms(CollectiveKind kind, const GroupShape& shape, const CollectiveClasses& classes);
    ProtocolTerms with(Protocol protocol) const;

    CollectiveKind kind;
    const FabricClass& fabric;
    const CollectiveForm& form;
    double hop_ll;
    double hop_simple;
    double n;        // ranks
    double r;        // ranks per domain, of the largest
    double crossing; // of the one that crosses slowest
    double domains;
    double log_domains;
    double domain_rate;
    double latency = 0;      // of a crossing
    double network_rate = 0; // out of a domain
    bool all_reduces;        // sums that all ranks get
    bool pairwise;           // each rank has bytes of its own for others
    bool nvswitch_sums;
    bool network_sums;
    double base_factor; // of `base`
    double passes;      // over the hops of a domain
    double bus;         // bus factor
    double volume;      // that and the copy of a rank's own part, in buffers

    // Seconds per byte to move `inside` buffers in the domain, `out` buffers out of it.
    double two_levels(double inside, double efficiency, double out, double out_efficiency) const;
};

// Hops of a domain of n ranks: a chain up to 8, then the logarithm (72 ranks of an NVL72 rack
// answer in 6.17 x 7/3 hops, not in 71). The two meet at 8.
double domain_hops(double n);

// Inside a domain whatever needs no switch takes this.
TimeLine line_in_domain(const CollectiveTerms& t, const ProtocolTerms& p);

inline constexpr std::array all_protocols{Protocol::ll, Protocol::ll128, Protocol::simple};
inline constexpr std::array only_simple{Protocol::simple};

enum class Sums : std::uint8_t { on_ranks, in_nvswitches, in_network };

struct Algorithm {
    using Form = TimeLine (*)(const CollectiveTerms&, const ProtocolTerms&); // alpha and beta

    std::string_view name;
    std::array<std::string_view, 2> nccl_words{}; // of NCCL_ALGO
    PerCollective<Form> inside{};                 // a domain; null: does not serve the collective
    PerCollective<Form> across{};                 // domains
    // What else it needs.
    bool (*available)(const CollectiveTerms&) = [](const CollectiveTerms&) { return true; };
    // Whether NCCL takes it without being asked for it.
    bool (*unasked)(const CollectiveTerms&) = [](const CollectiveTerms&) { return true; };
    std::span<const Protocol> protocols = all_protocols;
    Sums sums = Sums::on_ranks; // who makes them
    // How its all-reduces spread and step. The rest goes as its collective does.
    TrafficPattern pattern = TrafficPattern::ring;
};

// All of them. Of equal times the first one's counts.
std::span<const Algorithm* const> all_algorithms();

// What NCCL_ALGO takes; null: the form has none of it.
std::vector<std::pair<std::string_view, const Algorithm*>> nccl_algorithm_words();

} // namespace trainyard
