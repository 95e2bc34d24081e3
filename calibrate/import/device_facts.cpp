#include "calibrate/import/device_facts.h"

#include "calibrate/import/log_text.h"

#include <array>
#include <utility>

namespace trainyard {

using namespace literals;

std::string_view device_of_pci_number(std::string_view number)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 21> numbers{{
        {"0x1db1", "v100_sxm2_16"}, {"0x1db5", "v100_sxm2_32"}, {"0x1db8", "v100_sxm3_32"},
        {"0x20b0", "a100_sxm4_40"}, {"0x20b2", "a100_sxm4_80"}, {"0x20b5", "a100_pcie_80"},
        {"0x20f1", "a100_pcie_40"}, {"0x2237", "a10"},          {"0x2236", "a10"},
        {"0x2330", "h100_sxm5_80"}, {"0x2331", "h100_pcie_80"}, {"0x2321", "h100_nvl_94"},
        {"0x2324", "h800_sxm_80"},  {"0x2329", "h20_sxm_96"},   {"0x2335", "h200_sxm_141"},
        {"0x2342", "gh200_96"},     {"0x26b9", "l40s"},         {"0x2684", "rtx4090"},
        {"0x2901", "b200_sxm_180"}, {"0x2941", "gb200_186"},    {"0x3182", "b300_sxm_288"},
    }};
    for (const auto& [known, model] : numbers)
        if (known == number)
            return model;
    return {};
}

std::string_view device_of_capability(int capability)
{
    switch (capability) {
    case 70:
        return "v100_sxm2_32";
    case 80:
        return "a100_sxm4_80";
    case 86:
        return "a10";
    case 89:
        return "l40s";
    case 90:
        return "h100_sxm5_80";
    case 100:
        return "b200_sxm_180";
    case 103:
        return "b300_sxm_288";
    default:
        return {};
    }
}

LinkFacts link_facts(std::string_view model)
{
    const auto starts = [model](std::string_view with) { return model.starts_with(with); };
    if (starts("gb300") || starts("b300"))
        return {50_GBps, 121_GBps, 800_Gbps};
    if (starts("gb200") || starts("b200"))
        return {50_GBps, 63_GBps, 400_Gbps};
    if (starts("h") || starts("gh200"))
        return {25_GBps, 63_GBps, 400_Gbps};
    if (starts("a100"))
        return {25_GBps, 31_GBps, 200_Gbps};
    if (starts("v100"))
        return {25_GBps, 15.75_GBps, 100_Gbps};
    return {25_GBps, 31_GBps, 100_Gbps};
}

Bandwidth usual_nvswitch_rate(std::string_view model)
{
    if (model.starts_with("a100_sxm"))
        return 300_GBps;
    if (model.starts_with("h800"))
        return 200_GBps;
    if (model.starts_with("h100_sxm") || model.starts_with("h200") || model.starts_with("h20_"))
        return 450_GBps;
    if (model.starts_with("b200") || model.starts_with("b300"))
        return 900_GBps;
    return Bandwidth(0);
}

Bandwidth usual_c2c_rate(std::string_view model)
{
    for (const std::string_view with_grace : {"gh200", "gb200", "gb300"})
        if (model.starts_with(with_grace))
            return 450_GBps;
    return Bandwidth(0);
}

Bandwidth pcie_rate(std::string_view speed, int lanes)
{
    const auto transfers = number_after(speed, "");
    if (!transfers || !(*transfers > 0) || *transfers > 1000 || lanes <= 0 || lanes > 32)
        return Bandwidth(0);
    const double coding = *transfers < 8 ? 0.8 : *transfers < 64 ? 128.0 / 130 : 242.0 / 256;
    return Bandwidth(*transfers * 1e9 * lanes / 8 * coding);
}

} // namespace trainyard
