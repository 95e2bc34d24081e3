#include "calibrate/import/device_facts.h"

#include "calibrate/import/log_text.h"
#include "sim/base/fields.h"
#include "sim/topology/presets.h"

namespace trainyard {

using namespace literals;

std::string oldest_model(const std::function<bool(const Device&)>& fits)
{
    const KnownDevice* const known = shipped_devices().oldest_typical(fits);
    return known != nullptr ? known->key : "a100_pcie_80";
}

LinkFacts link_facts(std::string_view model)
{
    const Device unknown;
    const KnownDevice* const known = shipped_devices().named_in(model);
    const Device& device = known != nullptr ? known->device : unknown;
    const auto either = [](Bandwidth told, Bandwidth usual) {
        return told.value() > 0 ? told : usual;
    };
    return {either(device.nvlink_rate, 25_GBps), either(device.pcie, 31_GBps), device.c2c,
            either(device.usual_node.nic_rate, 100_Gbps)};
}

Bandwidth usual_nvswitch_rate(std::string_view model)
{
    const KnownDevice* const known = shipped_devices().named_in(model);
    const Checked<Presets> presets = load_presets();
    const Json* const preset = known != nullptr && presets
                                   ? presets->nodes.find(known->device.usual_node.preset)
                                   : nullptr;
    if (preset == nullptr)
        return Bandwidth(0);
    Problems problems;
    NodeTemplate node;
    fields_of<NodeTemplate>().read(Reader(*preset, "", problems), node);
    const bool joins = node.gpus == 8 && node.nvlink.wiring == NvlinkWiring::switched;
    return joins ? known->device.nvlink : Bandwidth(0);
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
