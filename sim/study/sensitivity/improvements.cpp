// What could be improved, and which numbers that changes.

#include "sim/study/sensitivity/what_if.h"
#include "sim/topology/topology_model.h"

#include <fmt/core.h>

#include <cctype>
#include <map>
#include <set>

namespace trainyard {
namespace {

constexpr double twice = 2;
constexpr double tenth_more = 1.1;

using InputEdit = std::function<void(BindInputs&)>;
using StepEdit = std::function<void(BoundStep&)>;

template <class Edit>
void for_each_transfer(Binding& binding, Edit edit)
{
    for (std::vector<TransferCost>& variant : binding.costs.transfers)
        for (TransferCost& cost : variant)
            edit(cost);
}

// Only the latency, the rate and the bytes stay.
void without_latency(BoundStep& step)
{
    for_each_transfer(step.binding, [](TransferCost& cost) { cost.latency = SimTime(0); });
}

void without_interference(BoundStep& step)
{
    for_each_transfer(step.binding, [](TransferCost& cost) {
        cost.sm_share = 0;
        cost.traffic_share = 0;
    });
}

TransferCost free_of_cost(const TransferCost& cost)
{
    TransferCost out;
    out.pattern = cost.pattern;
    out.eager = cost.eager;
    out.bytes = cost.bytes;
    return out;
}

// The variant's costs, all of them nothing: members still wait for each other.
std::uint32_t free_variant(Binding& binding, std::uint32_t variant)
{
    std::vector<TransferCost> costs;
    for (const TransferCost& cost : binding.costs.transfers[variant])
        costs.push_back(free_of_cost(cost));
    binding.costs.transfers.push_back(std::move(costs));
    return static_cast<std::uint32_t>(binding.costs.transfers.size() - 1);
}

// Each variant of groups or peers that `wanted` picks is replaced by one that costs nothing.
class FreeVariants {
public:
    explicit FreeVariants(Binding& binding) : binding_(binding) {}

    void replace(std::uint32_t& variant)
    {
        const auto [known, fresh] = free_.emplace(variant, 0);
        if (fresh)
            known->second = free_variant(binding_, variant);
        variant = known->second;
    }

private:
    Binding& binding_;
    std::map<std::uint32_t, std::uint32_t> free_;
};

void free_groups(Binding& binding, GroupKind kind)
{
    FreeVariants variants(binding);
    for (Group& group : binding.groups)
        if (group.kind == kind)
            variants.replace(group.variant);
}

void free_messages(Binding& binding)
{
    FreeVariants variants(binding);
    for (Lane& lane : binding.lanes)
        for (Peer& peer : lane.peers)
            if (peer.lane.valid())
                variants.replace(peer.variant);
}

// Stages never wait for one another's messages: exchanges become work of no time, which keeps the
// order of everything else and what is held meanwhile.
void without_exchanges(BoundStep& step)
{
    const auto nothing = make_id<CostId>(step.binding.costs.compute.size());
    step.binding.costs.compute.push_back(SimTime(0));
    for (Block& block : step.program.blocks)
        for (Op& op : block.ops)
            if (op.kind == OpKind::exchange) {
                op.kind = OpKind::copy;
                op.cost = nothing;
                op.part_count = 0;
            }
}

void scale(PerPrecision<double>& values, double factor)
{
    for (double* const value : {&values.fp32, &values.tf32, &values.fp16, &values.bf16, &values.fp8,
                                &values.mxfp8, &values.nvfp4})
        *value *= factor;
}

void better_attention(Device& device)
{
    AttentionEfficiency& attention = device.attention;
    for (double* const value : {&attention.sdpa, &attention.sdpa_cudnn, &attention.flash1,
                                &attention.flash2, &attention.triton, &attention.cudnn})
        *value *= tenth_more;
    device.under_load.attention = device.under_load.attention_share() * tenth_more;
    device.square_gemm *= tenth_more; // unfused: its batched products
}

void faster_products(Device& device)
{
    PerPrecision<GemmSurface>& measured = device.gemm_surface;
    for (GemmSurface* const surface :
         {&measured.fp32, &measured.tf32, &measured.fp16, &measured.bf16, &measured.fp8,
          &measured.mxfp8, &measured.nvfp4})
        *surface = surface->sped_up(tenth_more);
    scale(device.gemm_efficiency, tenth_more);
    scale(device.under_load.gemm, tenth_more);
}

void faster_host_link(Device& device)
{
    device.host_copy *= twice;
    device.host_copy_both *= twice;
}

void faster_storage(DataSource& data)
{
    data.storage.node_rate *= twice;
    data.storage.total_rate *= twice;
    data.storage.node_reads *= twice;
    data.storage.total_reads *= twice;
    if (data.loading.storage_rate)
        *data.loading.storage_rate *= twice;
}

// Decoding, collating and reading, each at twice the rate.
StepEdit faster_loader(const Plan& plan)
{
    std::vector<std::size_t> parts;
    for (std::size_t i = 0; i < plan.compute.size(); ++i)
        switch (plan.compute[i].loader) {
        case LoaderPart::read:
        case LoaderPart::make:
        case LoaderPart::read_and_make:
            parts.push_back(i);
            break;
        case LoaderPart::copy:
        case LoaderPart::wait:
        case LoaderPart::none:
            break;
        }
    return [parts](BoundStep& step) {
        for (const std::size_t part : parts)
            step.binding.costs.compute[part] =
                SimTime(step.binding.costs.compute[part].value() / 2);
    };
}

std::string group_name(GroupKind kind)
{
    std::string name(to_name(kind));
    if (kind == GroupKind::embedding)
        return "tied embeddings";
    if (kind == GroupKind::world)
        return "world";
    if (const auto cut = name.find('_'); cut != std::string::npos)
        name[cut] = ' ';
    if (kind == GroupKind::shard || kind == GroupKind::replicate || kind == GroupKind::twin)
        return name;
    for (char& c : name)
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
}

class List {
public:
    explicit List(const Outcome& outcome) : outcome_(outcome) {}

    void add_links()
    {
        const TopologyModel& cluster = outcome_.topology->model();
        const DeviceAttachment first = cluster.device(DeviceId{0});
        const NodeNetwork network = cluster.network(first.node);
        const bool nvlink = first.nvlink.value() > 0;
        const bool pcie_host = device().host_link == HostLink::pcie;
        const DomainId last =
            cluster.placement(make_id<DeviceId>(static_cast<std::size_t>(outcome_.job.world() - 1)))
                .domain;
        if (nvlink)
            input("NVLink", "twice the bandwidth", [](BindInputs& in) {
                in.links.nvlink = twice;
                in.profile.hardware.device.peer_copy *= twice;
            });
        if (!device().is_cpu())
            input("PCIe", "twice the bandwidth", [nvlink, pcie_host](BindInputs& in) {
                in.links.pcie = twice;
                if (pcie_host)
                    faster_host_link(in.profile.hardware.device);
                if (!nvlink)
                    in.profile.hardware.device.peer_copy *= twice;
            });
        if (device().host_link == HostLink::c2c)
            input("C2C", "twice the bandwidth",
                  [](BindInputs& in) { faster_host_link(in.profile.hardware.device); });
        input("host memory", "twice the bandwidth",
              [](BindInputs& in) { in.profile.hardware.device.host_memory *= twice; });
        if (network.nics > 0)
            input(
                fmt::format("network {}", network.name),
                network.transport == Transport::tcp
                    ? "twice the bandwidth, NICs, switches and what sockets carry"
                    : "twice the bandwidth, NICs and switches",
                [](BindInputs& in) { in.links.network = twice; }, last != first.domain);
        if (const double above = network.oversubscription; above > 1)
            input("spine switches", fmt::format("{:.3g} times the links: full bisection", above),
                  [above](BindInputs& in) { in.links.fabric = above; });
        step("latencies", "transfers start at once", without_latency);
    }

    void add_devices()
    {
        input(device().is_cpu() ? "memory" : "HBM", "twice the bandwidth",
              [](BindInputs& in) { in.profile.hardware.device.hbm_bandwidth *= twice; });
        input("GEMMs", "10 % more of the peak",
              [](BindInputs& in) { faster_products(in.profile.hardware.device); });
        input("attention", "10 % more of the peak",
              [](BindInputs& in) { better_attention(in.profile.hardware.device); });
        input("kernel launches", "take no time", [](BindInputs& in) {
            in.profile.software.host_per_kernel_forward = Seconds(0);
            in.profile.software.host_per_kernel_backward = Seconds(0);
        });
    }

    void add_communication()
    {
        std::set<GroupKind> kinds;
        for (const Group& group : outcome_.binding->groups)
            if (group.ranks > 1)
                kinds.insert(group.kind);
        for (const GroupKind kind : kinds)
            step(group_name(kind) + " communication", "takes no time",
                 [kind](BoundStep& s) { free_groups(s.binding, kind); });
        step("pipeline messages", "take no time", [](BoundStep& s) { free_messages(s.binding); });
        step("all communication", "takes no time", [kinds](BoundStep& s) {
            for (const GroupKind kind : kinds)
                free_groups(s.binding, kind);
            free_messages(s.binding);
        });
        step("interference", "communication takes nothing from compute", without_interference);
    }

    void add_shape_of_step()
    {
        if (outcome_.job.strategy.pp > 1)
            step("pipeline", "stages never wait for each other", without_exchanges);
        input("devices and links", "healthy, all of them",
              [sound = outcome_.sound](BindInputs& in) {
                  in.options.conditions = {};
                  in.topology = sound;
              });
    }

    void add_loading()
    {
        if (!outcome_.job.data)
            return;
        input("storage", "twice the rate", [](BindInputs& in) { faster_storage(*in.job.data); });
        step("data loader", "twice the rate", faster_loader(*outcome_.plan));
    }

    std::vector<Improvement> take() && { return std::move(list_); }

private:
    const Device& device() const { return outcome_.cost->profile().hardware.device; }

    void input(std::string resource, std::string change, InputEdit edit, bool used = false)
    {
        list_.push_back({std::move(resource), std::move(change), std::move(edit), {}, used});
    }
    void step(std::string resource, std::string change, StepEdit edit)
    {
        list_.push_back({std::move(resource), std::move(change), {}, std::move(edit), false});
    }

    const Outcome& outcome_;
    std::vector<Improvement> list_;
};

} // namespace

std::vector<Improvement> improvements_for(const Outcome& outcome)
{
    List list(outcome);
    list.add_links();
    list.add_devices();
    list.add_communication();
    list.add_shape_of_step();
    list.add_loading();
    return std::move(list).take();
}

} // namespace trainyard
