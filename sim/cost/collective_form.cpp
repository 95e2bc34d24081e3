#include "sim/cost/collective_form.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

template <>
std::vector<EnumName<Algorithm>> enum_names<Algorithm>()
{
    using enum Algorithm;
    return {{none, "none"}, {ring, "ring"},   {tree, "tree"},
            {nvls, "nvls"}, {sharp, "sharp"}, {direct, "direct"}};
}

double bus_factor(CollectiveKind kind, int ranks)
{
    const double n = ranks;
    switch (kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::barrier:
        return 2 * (n - 1) / n;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
        return (n - 1) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send_receive:
        break;
    }
    return n > 1 ? 1 : 0;
}

Bandwidth domain_rate(const GroupShape& shape, const FabricClass& fabric)
{
    for (const Bandwidth rate : {shape.nvlink, shape.pcie})
        if (rate.value() > 0)
            return shape.health.inside * rate;
    return shape.health.inside * fabric.line_rate;
}

Bandwidth network_rate(const GroupShape& shape, const NetworkClass& network)
{
    double line = shape.nic_rate_per_gpu().value();
    if (!(line > 0))
        line = network.line_rate.value();
    // A NIC carries no more than its PCIe slot, and a device no more than its own.
    const double one_nic = shape.network.nic_rate.value();
    const double pcie = shape.pcie.value();
    for (const double limit : {network.max_per_nic.value(), pcie})
        if (limit > 0 && one_nic > limit)
            line = std::min(line, shape.nic_rate_per_gpu().value() * limit / one_nic);
    if (pcie > 0)
        line = std::min(line, pcie);
    const bool rdma = shape.network.transport != Transport::tcp;
    if (rdma && !shape.network.gpu_direct)
        line *= network.staged_efficiency;
    return Bandwidth(line * shape.health.across * shape.crossing_ranks() * network.efficiency);
}

Bandwidth channel_rate(const GroupShape& shape, const NetworkClass& network)
{
    const Bandwidth nics = network_rate(shape, network);
    return network.max_per_communicator.value() > 0
               ? std::min(nics, network.efficiency * network.max_per_communicator)
               : nics;
}

namespace {

using enum Protocol;
constexpr std::array<Protocol, 3> protocols{ll, ll128, simple};

// Hops of a domain of n ranks: a chain up to 8, then the logarithm (72 ranks of an NVL72 rack
// answer in 6.17 x 7/3 hops, not in 71). The two meet at 8.
double domain_hops(double n)
{
    return n <= 8 ? n - 1 : 7.0 / 3 * std::log2(n);
}

// The symbols of the form, for one collective over one shape.
class Form {
public:
    Form(CollectiveKind kind, const GroupShape& shape, const CollectiveClasses& classes)
        : kind_(kind),
          fabric_(*classes.fabric),
          form_(*classes.form),
          network_(classes.network),
          n_(shape.ranks),
          r_(shape.ranks_per_domain),
          crossing_(shape.crossing_ranks()),
          domains_(shape.domains),
          log_domains_(std::log2(std::max(1, shape.domains))),
          domain_rate_(domain_rate(shape, fabric_).value()),
          nvls_(shape.in_switch_reduction && fabric_.nvls_efficiency > 0),
          sharp_(shape.network.in_network_reduction),
          health_(shape.health)
    {
        const bool reduces_twice =
            kind == CollectiveKind::all_reduce || kind == CollectiveKind::barrier;
        base_factor_ = p2p() ? fabric_.p2p_base_factor : 1;
        passes_ = p2p() ? form_.hops_p2p : reduces_twice ? form_.hops_all_reduce : 1;
        if (domains_ > 1) {
            network_rate_ =
                p2p() ? network_rate(shape, *network_).value() / shape.network.oversubscription
                      : channel_rate(shape, *network_).value();
        }
    }

    std::vector<TimeLine> in_one_domain() const
    {
        std::vector<TimeLine> out;
        for (const Protocol p : protocols)
            out.push_back({p2p() ? Algorithm::direct : Algorithm::ring,
                           Seconds(base_factor_ * base(p) + passes_ * hop(p) * domain_hops(n_)),
                           (bus_factor(kind_, n()) + copy()) / (efficiency(p) * domain_rate_), p});
        if (kind_ == CollectiveKind::all_reduce && nvls_ && n_ > 2)
            out.push_back({Algorithm::nvls, fabric_.nvls_per_rank * n_,
                           (1 + 1 / n_) / (fabric_.nvls_efficiency * domain_rate_)});
        return out;
    }

    std::vector<TimeLine> across_domains() const
    {
        switch (kind_) {
        case CollectiveKind::all_reduce:
        case CollectiveKind::barrier:
            return all_reduce();
        case CollectiveKind::all_gather:
        case CollectiveKind::reduce_scatter:
            return gather();
        case CollectiveKind::all_to_all:
            return all_to_all();
        case CollectiveKind::broadcast:
        case CollectiveKind::reduce:
            return broadcast();
        case CollectiveKind::send_receive:
            break;
        }
        return message();
    }

private:
    int n() const { return static_cast<int>(n_); }
    bool p2p() const
    {
        return kind_ == CollectiveKind::all_to_all || kind_ == CollectiveKind::send_receive;
    }
    double latency() const { return network_->latency.value() + health_.across_latency.value(); }

    double base(Protocol p) const
    {
        return (p == ll      ? fabric_.base_ll
                : p == ll128 ? fabric_.base_ll128
                             : fabric_.base_simple)
            .value();
    }
    double hop(Protocol p) const
    {
        return (p == simple ? fabric_.hop_simple : fabric_.hop_ll).value() +
               health_.inside_latency.value();
    }
    double efficiency(Protocol p) const
    {
        return p == ll      ? fabric_.efficiency_ll
               : p == ll128 ? fabric_.efficiency_ll128
                            : fabric_.efficiency.at(kind_);
    }
    double crossing_efficiency(Protocol p) const
    {
        return p == ll ? form_.cross_ll : p == ll128 ? form_.cross_ll128 : 1;
    }
    double tree_latency(Protocol p) const
    {
        return p == ll ? 1 : p == ll128 ? form_.tree_latency_ll128 : form_.tree_latency_simple;
    }

    // The copy of a rank's own part, in shares of the buffer.
    double copy() const
    {
        switch (kind_) {
        case CollectiveKind::all_to_all:
            return fabric_.local_copy_p2p / n_;
        case CollectiveKind::broadcast:
        case CollectiveKind::reduce:
        case CollectiveKind::send_receive:
            return 0;
        default:
            return fabric_.local_copy / n_;
        }
    }

    // Seconds per byte to move `volume` buffers inside the domain, `out` buffers out of it.
    double two_levels(double volume, double domain_efficiency, double out,
                      double out_efficiency) const
    {
        const double inside = r_ > 1 ? volume / (domain_efficiency * domain_rate_) : 0;
        return std::max(inside, out / (out_efficiency * network_rate_));
    }

    std::vector<TimeLine> all_reduce() const
    {
        std::vector<TimeLine> out;
        const double volume = bus_factor(kind_, n()) + copy();
        const double tree_out = domains_ == 2 ? 1 : 2 / form_.tree_beyond_two;
        for (const Protocol p : protocols)
            out.push_back({Algorithm::tree,
                           Seconds(base(p) + passes_ * hop(p) * domain_hops(r_) +
                                   latency() * tree_latency(p) * log_domains_),
                           two_levels(volume, efficiency(p), tree_out, crossing_efficiency(p)), p});
        const bool switches = nvls_ && r_ > 2;
        const double nvls_alpha = fabric_.nvls_per_rank.value() * r_;
        if (switches)
            out.push_back({Algorithm::nvls,
                           Seconds(nvls_alpha + latency() * tree_latency(simple) * log_domains_),
                           two_levels(1 + 1 / r_, fabric_.nvls_efficiency, tree_out, 1)});
        if (sharp_)
            out.push_back(
                {Algorithm::sharp,
                 Seconds((switches ? nvls_alpha
                                   : base(simple) + passes_ * hop(simple) * domain_hops(r_)) +
                         latency() * tree_latency(simple)),
                 switches ? two_levels(1 + 1 / r_, fabric_.nvls_efficiency, 1, 1)
                          : two_levels(volume, efficiency(simple), 1, 1)});
        if (domains_ > 2)
            for (const Protocol p : protocols)
                out.push_back({Algorithm::ring,
                               Seconds(base(p) + 2 * (n_ - domains_) * hop(ll) +
                                       2 * latency() * (domains_ - 1)),
                               two_levels(volume, efficiency(p), bus_factor(kind_, n()),
                                          crossing_efficiency(p)),
                               p});
        return out;
    }

    std::vector<TimeLine> gather() const
    {
        std::vector<TimeLine> out;
        const double inside_hops = r_ > 1 ? domain_hops(r_) : 0;
        for (const Protocol p : protocols)
            out.push_back(
                {Algorithm::ring,
                 Seconds(base(p) + hop(p) * inside_hops + (n_ - domains_ - (r_ - 1)) * hop(ll) +
                         latency() * (form_.ring_entry_crossings + domains_ - 1)),
                 two_levels(bus_factor(kind_, n()) + copy(), efficiency(p), bus_factor(kind_, n()),
                            crossing_efficiency(p)),
                 p});
        return out;
    }

    std::vector<TimeLine> all_to_all() const
    {
        std::vector<TimeLine> out;
        for (const Protocol p : protocols)
            out.push_back({Algorithm::direct,
                           Seconds(base_factor_ * base(p) + passes_ * hop(p) * domain_hops(r_) +
                                   latency() * (1 + log_domains_) +
                                   form_.post_per_remote_peer.value() * (n_ - crossing_)),
                           two_levels((r_ - 1) / n_ + copy(), efficiency(p),
                                      crossing_ * (n_ - crossing_) / n_,
                                      crossing_efficiency(p) * form_.all_to_all_cross),
                           p});
        return out;
    }

    std::vector<TimeLine> broadcast() const
    {
        std::vector<TimeLine> out;
        for (const Protocol p : protocols)
            out.push_back({Algorithm::tree,
                           Seconds(base(p) + hop(p) * domain_hops(r_) +
                                   latency() * tree_latency(p) * log_domains_ / 2),
                           two_levels(1, efficiency(p), 1, crossing_efficiency(p)), p});
        return out;
    }

    std::vector<TimeLine> message() const
    {
        std::vector<TimeLine> out;
        for (const Protocol p : protocols)
            out.push_back({Algorithm::direct,
                           Seconds(base_factor_ * base(p) + latency() * tree_latency(p) / 2),
                           1 / (crossing_efficiency(p) * network_rate_), p});
        return out;
    }

    CollectiveKind kind_;
    const FabricClass& fabric_;
    const CollectiveForm& form_;
    const NetworkClass* network_;
    double n_;        // ranks
    double r_;        // ranks per domain, of the largest
    double crossing_; // of the one that crosses slowest
    double domains_;
    double log_domains_;
    double domain_rate_;
    double network_rate_ = 0;
    double base_factor_ = 1;
    double passes_ = 1;
    bool nvls_;
    bool sharp_;
    LinkHealth health_;
};

} // namespace

std::vector<TimeLine> time_lines(CollectiveKind kind, const GroupShape& shape,
                                 const CollectiveClasses& classes)
{
    if (shape.ranks <= 1)
        return {TimeLine{Algorithm::none, Seconds(0), 0}};
    const Form form(kind, shape, classes);
    return shape.domains > 1 ? form.across_domains() : form.in_one_domain();
}

const TimeLine& lowest(const std::vector<TimeLine>& lines, Bytes size)
{
    return *std::min_element(lines.begin(), lines.end(), [&](const TimeLine& a, const TimeLine& b) {
        return a.at(size) < b.at(size);
    });
}

} // namespace trainyard
