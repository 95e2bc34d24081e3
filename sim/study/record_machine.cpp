#include "sim/study/record_machine.h"

#include "sim/study/record_words.h"
#include "sim/topology/read_topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace trainyard {

namespace {

// A kind of GPU as tables spell it, and the node it usually stands in.
struct GpuRow {
    std::array<std::string_view, 3> words; // all of them in the GPU's name
    std::string_view device;               // key of the device constants
    std::string_view node;                 // topology preset
    double nvlink = 0;                     // GB/s per direction; 0: the preset's
    double nic = 0;                        // usual Gb/s per GPU, where the record is silent
};

// The first row that matches counts, so special parts stand before plain ones.
const std::array<GpuRow, 27>& gpu_rows()
{
    static const std::array<GpuRow, 27> rows{{
        {{"gb300"}, "gb300_279", "gb300-nvl72", 0, 800},
        {{"gb200"}, "gb200_186", "gb200-nvl72", 0, 400},
        {{"gh200", "144"}, "gh200_144", "dgx-h100", 0, 400},
        {{"gh200"}, "gh200_96", "dgx-h100", 0, 400},
        {{"b300"}, "b300_sxm_288", "dgx-b300", 0, 800},
        {{"b200"}, "b200_sxm_180", "dgx-b200", 0, 400},
        {{"h200"}, "h200_sxm_141", "dgx-h200", 0, 400},
        {{"h800"}, "h800_sxm_80", "dgx-h100", 200, 400},
        {{"h20"}, "h20_sxm_96", "dgx-h100", 0, 400},
        {{"h100", "nvl"}, "h100_nvl_94", "pcie-h100-nvl-4", 0, 100},
        {{"h100", "pci"}, "h100_pcie_80", "pcie-h100-nvl-4", 0, 100},
        {{"h100", "96"}, "h100_sxm5_96", "dgx-h100", 0, 400},
        {{"h100"}, "h100_sxm5_80", "dgx-h100", 0, 400},
        {{"a100", "pci", "40"}, "a100_pcie_40", "pcie-a100-4", 0, 100},
        {{"a100", "pci"}, "a100_pcie_80", "pcie-a100-4", 0, 100},
        {{"a100", "40"}, "a100_sxm4_40", "dgx-a100-40gb", 0, 200},
        {{"a100"}, "a100_sxm4_80", "dgx-a100", 0, 200},
        {{"a800"}, "a100_sxm4_80", "dgx-a100", 200, 200},
        {{"v100", "sxm3"}, "v100_sxm3_32", "dgx2", 0, 50},
        {{"v100", "16gb"}, "v100_sxm2_16", "dgx1-v100-16gb", 0, 50},
        {{"v100"}, "v100_sxm2_32", "dgx1-v100", 0, 50},
        {{"l40s"}, "l40s", "pcie-l40s-8", 0, 100},
        {{"4090"}, "rtx4090", "pcie-l40s-8", 0, 100},
        {{"a10"}, "a10", "pcie-l40s-8", 0, 100},
        {{"mi300x"}, "mi300x", "mi300x-8", 0, 400},
        {{"mi325x"}, "mi325x", "mi300x-8", 0, 400},
        {{"mi355x"}, "mi355x", "mi300x-8", 538, 400},
    }};
    return rows;
}

// Whether `gpu` holds `word` and no longer number in its place: "h1000" is no "h100".
bool names(const std::string& gpu, std::string_view word)
{
    const auto digit = [&](std::size_t i) {
        return i < gpu.size() && std::isdigit(static_cast<unsigned char>(gpu[i])) != 0;
    };
    for (std::size_t at = gpu.find(word); at != std::string::npos; at = gpu.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool longer =
            (at > 0 && digit(at) && digit(at - 1)) || (digit(end - 1) && digit(end));
        if (!longer)
            return true;
    }
    return false;
}

const GpuRow* row_for(std::string_view gpu)
{
    const std::string lower = lower_case(gpu);
    for (const GpuRow& row : gpu_rows())
        if (std::all_of(row.words.begin(), row.words.end(),
                        [&](std::string_view word) { return word.empty() || names(lower, word); }))
            return &row;
    return nullptr;
}

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

Json node_of(const GpuRow& row, int gpus, int domain)
{
    Json node = Json::object();
    node["preset"] = row.node;
    node["device"] = row.device;
    node["gpus"] = gpus;
    node["nics"] = gpus;
    node["pcie_switches"] = gpus;
    if (row.nvlink > 0)
        node["nvlink"]["rate"] = fmt::format("{} GB/s", row.nvlink);
    if (domain > gpus)
        node["nvlink"]["domain"] = domain;
    return node;
}

// Boards of four SXM GPUs of Hopper or Ampere join every pair directly.
void adjust_wiring(Json& node, const GpuRow& row, int gpus)
{
    const bool board_of_eight =
        row.node == "dgx-h100" || row.node == "dgx-h200" || row.node == "dgx-a100";
    if (board_of_eight && gpus > 1 && gpus <= 4)
        node["nvlink"]["wiring"] = "all-to-all";
    if (row.node == "dgx1-v100" || row.node == "dgx1-v100-16gb") {
        if (gpus == 16)
            node["nvlink"]["wiring"] = "switch";
        else if (gpus != 8)
            node["nvlink"]["wiring"] = "all-to-all";
    }
}

} // namespace

tl::expected<RecordMachine, std::string> machine_of(const MeasuredRecord& record)
{
    const RecordHardware& hardware = record.hardware;
    const GpuRow* row = row_for(hardware.gpu);
    if (row == nullptr)
        row = row_for(hardware.gpu_family);
    if (row == nullptr)
        return tl::unexpected(fmt::format("GPU \"{}\" is not among the known devices",
                                          hardware.gpu.empty() ? "not stated" : hardware.gpu));
    if (record.gpus.value_or(0) < 1)
        return tl::unexpected(std::string("number of GPUs not stated"));

    constexpr int nvl72_domain = 72;
    RecordMachine out;
    const int gpus = *record.gpus;
    const int usual = row->node.find("nvl72") != std::string_view::npos ? 4 : 8;
    const int per_node = std::max(1, hardware.gpus_per_node.value_or(std::min(gpus, usual)));
    if (!hardware.gpus_per_node)
        out.assumptions.push_back(fmt::format("GPUs per node not stated: {}", per_node));
    const int nodes = (gpus + per_node - 1) / per_node;
    out.devices = nodes * per_node;

    const int joined =
        std::max(per_node, hardware.nvlink_domain.value_or(usual == 4 ? nvl72_domain : per_node));
    const int domain = usable_domain(joined, per_node, out.devices);
    if (domain != joined)
        out.assumptions.push_back(fmt::format("{} GPUs of each rack of {}", domain, joined));
    Json node = node_of(*row, per_node, domain);
    adjust_wiring(node, *row, per_node);
    const double nic = hardware.nic_gbps_per_gpu.value_or(row->nic);
    node["nic_rate"] = gigabits(nic);
    const bool crosses = out.devices > domain;
    if (crosses && !hardware.nic_gbps_per_gpu)
        out.assumptions.push_back(fmt::format("NIC not stated: {} per GPU", gigabits(nic)));

    out.topology["format"] = topology_format;
    out.topology["generator"] = "cluster";
    out.topology["name"] = fmt::format("{} x {}", nodes, row->node);
    out.topology["nodes"] = nodes;
    out.topology["node"] = std::move(node);
    if (nodes > 1) {
        out.topology["fabric"]["kind"] = "rail";
        out.topology["fabric"]["network"] = network_preset(hardware.network, nic);
    }
    return out;
}

} // namespace trainyard
