#include "sim/base/files.h"
#include "sim/cost/device_catalogue.h"
#include "sim/topology/presets.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

#include <cmath>
#include <set>

using namespace trainyard;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using trainyard::testing::Folder;

TEST_CASE("a device is known by what drivers, logs and tables call it")
{
    const DeviceCatalogue& devices = shipped_devices();
    CHECK(devices.name_in("NVIDIA H100 80GB HBM3") == "H100-SXM5-80GB");
    CHECK(devices.name_in("A100 80GB PCIe") == "A100-PCIe-80GB");
    CHECK(devices.name_in("A100-SXM-40GB") == "A100-SXM4-40GB");
    CHECK(devices.name_in("H100-96GB HBM2e (500 W limit, 2.4 TB/s)") == "H100-SXM5-96GB");
    CHECK(devices.name_in("V100-SXM3-32GB (DGX-2H)") == "V100-SXM3-32GB");
    CHECK(devices.name_in("AMD Instinct MI300X") == "MI300X-192GB");
    CHECK(devices.name_in("all_reduce_gb300_18x4.log") == "GB300");
    CHECK(devices.name_in("NVIDIA GB200") == "GB200"); // no B200
    CHECK(devices.name_in("8xH100") == "H100-SXM5-80GB");
    CHECK(devices.name_in("a100x8") == "A100-SXM4-80GB");
    CHECK(devices.name_in("h1000").empty());
    CHECK(devices.name_in("").empty());
    CHECK(devices.named_in("NVIDIA A10G")->key == "a10");
    CHECK(devices.nvlink_domain_of("GB200 (NVL72)") == 72);
    CHECK(devices.nvlink_domain_of("H100") == 0);
}

TEST_CASE("a device is known by its PCI number, and a generation by its typical device")
{
    const DeviceCatalogue& devices = shipped_devices();
    CHECK(devices.with_pci_id("0x2330")->key == "h100_sxm5_80");
    CHECK(devices.with_pci_id("0xffff") == nullptr);
    const auto typical = [&](int capability) {
        return devices
            .oldest_typical([&](const Device& d) { return d.compute_capability == capability; })
            ->key;
    };
    CHECK(typical(70) == "v100_sxm2_32");
    CHECK(typical(80) == "a100_sxm4_80");
    CHECK(typical(90) == "h100_sxm5_80");
    CHECK(typical(103) == "b300_sxm_288");
    CHECK(devices.oldest_typical([](const Device&) { return false; }) == nullptr);
}

TEST_CASE("what the shipped devices are known by is theirs alone, and their facts agree")
{
    const Presets presets = load_presets().value();
    std::set<std::string> taken;
    std::set<int> generations;
    CHECK(shipped_devices().all().size() == known_devices().size());
    for (const KnownDevice& known : shipped_devices().all()) {
        const Device& device = known.device;
        INFO(device.name);
        CHECK(shipped_devices().named_in(device.name) == &known);
        CHECK(shipped_devices().named_in(known.key) == &known);
        for (const std::string& id : device.pci_ids)
            CHECK(taken.insert(id).second);
        if (device.typical)
            CHECK(generations.insert(device.compute_capability).second);
        if (device.is_cpu())
            continue;
        CHECK(presets.nodes.find(device.usual_node.preset) != nullptr);
        CHECK(device.usual_node.nic_rate.value() > 0);
        CHECK(device.pcie.value() > 0);
        CHECK((device.host_link == HostLink::c2c) == (device.c2c.value() > 0));
        if (device.nvlink.value() > 0)
            CHECK_THAT((device.nvlink_rate * device.nvlinks).value(),
                       WithinRel(device.nvlink.value(), 1e-12));
    }
}

TEST_CASE("a file of one's own makes a device known, and one that cannot be read does not")
{
    const Folder folder;
    std::filesystem::create_directories(folder.path() / "devices");
    std::string text =
        read_file((shipped_profiles().front() / "devices" / "b300-sxm-288.json").string());
    const auto change = [&](const std::string& from, const std::string& to) {
        text.replace(text.find(from), from.size(), to);
    };
    change("B300-SXM-288GB", "X900-SXM-400GB");
    change(R"("B300", "B300-SXM", "b300_sxm_288")", R"("X900")");
    folder.file("devices/x900.json", text);
    folder.file("devices/y900.json", R"({"format": "trainyard.device/1", "name": "Y900"})");
    Folders folders = shipped_profiles();
    folders.insert(folders.begin(), folder.path());
    const DeviceCatalogue devices(folders);
    CHECK(devices.named_in("8 x X900 400GB")->key == "x900");
    CHECK(devices.named_in("Y900") == nullptr);
    CHECK(devices.name_in("NVIDIA H100") == "H100-SXM5-80GB");
}

TEST_CASE(
    "clocks under load follow the power of boards, against the board that shares are fitted on")
{
    const auto watts = [](std::string_view device) {
        return shipped_devices().named_in(device)->device.board_watts;
    };
    const double hopper = watts("H100-SXM5-80GB");
    const double blackwell = watts("GB200");
    int limited = 0;
    for (const KnownDevice& known : shipped_devices().all()) {
        const double clock = known.device.under_load.clock;
        if (clock == 1)
            continue;
        ++limited;
        const double reference = known.device.compute_capability < 100 ? hopper : blackwell;
        CHECK_THAT(clock, WithinAbs(std::cbrt(known.device.board_watts / reference), 5e-4));
    }
    CHECK(limited == 4);
}
