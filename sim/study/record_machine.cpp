#include "sim/study/record_machine.h"

#include "sim/base/units.h"
#include "sim/study/record_words.h"
#include "sim/topology/read_topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

// Switches and NICs of the network between nodes.
struct NetworkRow {
    double below; // Gb/s per NIC
    std::string_view infiniband;
    std::string_view ethernet;
};
constexpr std::array<NetworkRow, 4> network_rows{{{150, "ib_edr", "roce_100"},
                                                  {300, "ib_hdr", "roce_400"},
                                                  {600, "ib_ndr", "roce_400"},
                                                  {1e9, "ib_xdr", "roce_spectrumx"}}};

std::string_view network_preset(std::string_view network, double nic_gbps)
{
    if (mentions(network, {"efa"}))
        return nic_gbps > 300 ? "efa_v4" : nic_gbps > 150 ? "efa_v3" : "efa_v2";
    if (mentions(network, {"tcp"}))
        return "tcp";
    // Remote direct memory access that is not InfiniBand runs over Ethernet.
    const bool ethernet = mentions(network, {"roce", "ethernet", "rdma", "spectrum"});
    for (const NetworkRow& row : network_rows)
        if (nic_gbps < row.below)
            return ethernet ? row.ethernet : row.infiniband;
    return network_rows.back().infiniband;
}

std::string gigabits(double gbps)
{
    return fmt::format("{} Gb/s", gbps);
}

// GPUs that NVLink joins. Jobs larger than a rack of 72 take as many GPUs of each rack, so that no
// group straddles two: 64 of 72 for powers of two.
int usable_domain(int domain, int per_node, int gpus)
{
    if (gpus <= domain)
        return domain;
    for (int size = domain / per_node * per_node; size > per_node; size -= per_node)
        if (gpus % size == 0)
            return size;
    return domain;
}

Json node_of(const KnownDevice& known, int gpus, int domain)
{
    const UsualNode& usual = known.device.usual_node;
    Json node = Json::object();
    node["preset"] = usual.preset;
    node["device"] = known.key;
    node["gpus"] = gpus;
    node["nics"] = gpus;
    node["pcie_switches"] = gpus;
    if (known.device.nvlink.value() > 0)
        node["nvlink"]["rate"] = to_text(known.device.nvlink);
    if (domain > gpus)
        node["nvlink"]["domain"] = domain;
    const auto wiring = std::find_if(usual.wirings.begin(), usual.wirings.end(),
                                     [&](const NodeWiring& one) { return gpus <= one.gpus; });
    if (wiring != usual.wirings.end())
        node["nvlink"]["wiring"] = to_name(wiring->wiring);
    return node;
}

// Per GPU, where the record is silent.
double usual_nic_gbps(const UsualNode& usual)
{
    const bool shared = usual.nic_rate_per_gpu.value() > 0;
    return (shared ? usual.nic_rate_per_gpu : usual.nic_rate).value() * 8 / 1e9;
}

} // namespace

const KnownDevice* device_of(const MeasuredRecord& record)
{
    const DeviceCatalogue& devices = shipped_devices();
    const KnownDevice* const named = devices.named_in(record.hardware.gpu);
    return named != nullptr ? named : devices.named_in(record.hardware.gpu_family);
}

tl::expected<RecordMachine, std::string> machine_of(const MeasuredRecord& record)
{
    const RecordHardware& hardware = record.hardware;
    const KnownDevice* const known = device_of(record);
    if (known == nullptr)
        return tl::unexpected(fmt::format("GPU \"{}\" is not among the known devices",
                                          hardware.gpu.empty() ? "not stated" : hardware.gpu));
    const UsualNode& usual = known->device.usual_node;
    if (usual.preset.empty() || !(usual.nic_rate.value() > 0))
        return tl::unexpected(
            fmt::format("the file of device {} does not say in which node it "
                        "usually stands (\"usual_node\" with preset and nic_rate)",
                        known->device.name));
    if (record.gpus.value_or(0) < 1)
        return tl::unexpected(std::string("number of GPUs not stated"));

    RecordMachine out;
    const int gpus = *record.gpus;
    const int per_node = std::max(1, hardware.gpus_per_node.value_or(std::min(gpus, usual.gpus)));
    if (!hardware.gpus_per_node)
        out.assumptions.push_back(fmt::format("GPUs per node not stated: {}", per_node));
    const int nodes = (gpus + per_node - 1) / per_node;
    out.devices = nodes * per_node;

    const int joined = std::max(per_node, hardware.nvlink_domain.value_or(usual.nvlink_domain));
    const int domain = usable_domain(joined, per_node, out.devices);
    if (domain != joined)
        out.assumptions.push_back(fmt::format("{} GPUs of each rack of {}", domain, joined));
    Json node = node_of(*known, per_node, domain);
    const double nic = hardware.nic_gbps_per_gpu.value_or(usual_nic_gbps(usual));
    node["nic_rate"] = gigabits(nic);
    const bool crosses = out.devices > domain;
    if (crosses && !hardware.nic_gbps_per_gpu)
        out.assumptions.push_back(fmt::format("NIC not stated: {} per GPU", gigabits(nic)));

    out.topology["format"] = topology_format;
    out.topology["generator"] = "cluster";
    out.topology["name"] = fmt::format("{} x {}", nodes, usual.preset);
    out.topology["nodes"] = nodes;
    out.topology["node"] = std::move(node);
    if (nodes > 1) {
        out.topology["fabric"]["kind"] = "rail";
        out.topology["fabric"]["network"] = network_preset(hardware.network, nic);
    }
    return out;
}

} // namespace trainyard
