#include "sim/topology/read_topology.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const Checked<Presets> presets = load_presets();
    const auto json = fuzz::json_of(data, size);
    if (!json || !presets)
        return 0;
    const Checked<TopologyFile> file = inspect_topology(*json, "fuzz.json", *presets);
    fuzz::require(file || !file.error().empty(), "a refused topology has a reason");
    if (file)
        fuzz::require(file->topology.device_count() > 0, "a topology has a device");
    return 0;
}
