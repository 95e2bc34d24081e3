#include "tests/unit/measure/simulated_nvml.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace trainyard {
namespace {

using nvml::Return;

std::size_t index_of(nvml::Device device)
{
    return reinterpret_cast<std::uintptr_t>(device) - 1;
}

const SimulatedGpu& gpu_of(nvml::Device device)
{
    return simulated_nvml().gpus.at(index_of(device));
}

Return copy(const std::string& text, char* out, unsigned room)
{
    std::memset(out, 'x', room); // nothing promises an end where the text is cut
    std::memcpy(out, text.c_str(), std::min<std::size_t>(text.size() + 1, room));
    return nvml::success;
}

Return number(unsigned value, unsigned* out)
{
    *out = value;
    return nvml::success;
}

void write_address(const std::string& address, nvml::PciInfo* out)
{
    *out = {};
    std::memcpy(out->bus_id, address.c_str(), std::min<std::size_t>(address.size() + 1, 32));
}

const SimulatedNvlink* link_of(nvml::Device device, unsigned link)
{
    const SimulatedGpu& gpu = gpu_of(device);
    return link < gpu.links.size() ? &gpu.links[link] : nullptr;
}

Return processes(nvml::Device device, unsigned* count, nvml::ProcessInfo* out)
{
    const std::vector<unsigned>& found = gpu_of(device).processes;
    if (simulated_nvml().growing_processes) {
        *count = *count + 1;
        return nvml::insufficient_size;
    }
    if (*count < found.size()) {
        *count = static_cast<unsigned>(found.size());
        return nvml::insufficient_size;
    }
    for (std::size_t i = 0; i < found.size(); ++i)
        out[i] = {found[i], i == 0 ? 1ULL << 30 : ~0ULL, 0, 0};
    *count = static_cast<unsigned>(found.size());
    return nvml::success;
}

std::optional<unsigned> field_of(nvml::Device device, unsigned field, unsigned scope)
{
    const std::vector<bool>& c2c = gpu_of(device).c2c;
    if (field == nvml::field_nvlink_speed && link_of(device, scope) != nullptr)
        return 26'562; // MB/s, as an H100 says
    if (field == nvml::field_c2c_links && !c2c.empty())
        return static_cast<unsigned>(c2c.size());
    if (field == nvml::field_c2c_active && scope < c2c.size())
        return c2c[scope] ? 1 : 0;
    if (field == nvml::field_c2c_speed && scope < c2c.size())
        return 44'712; // MB/s, as a GB300 says
    return std::nullopt;
}

Return fields(nvml::Device device, int count, nvml::FieldValue* out)
{
    for (int i = 0; i < count; ++i) {
        const std::optional<unsigned> value = field_of(device, out[i].field, out[i].scope);
        out[i].result = value ? nvml::success : nvml::not_supported;
        out[i].type = nvml::type_unsigned;
        out[i].value.as_unsigned = value.value_or(0);
    }
    return nvml::success;
}

} // namespace

SimulatedNvml& simulated_nvml()
{
    static SimulatedNvml state;
    return state;
}

nvml::Functions simulated_functions()
{
    nvml::Functions f;
    f.init = [] {
        simulated_nvml().open_sessions += simulated_nvml().init == nvml::success ? 1 : 0;
        return simulated_nvml().init;
    };
    f.shutdown = [] {
        --simulated_nvml().open_sessions;
        return nvml::success;
    };
    f.error_string = [](Return code) -> const char* {
        return code == nvml::library_driver_mismatch ? "Driver/library version mismatch"
                                                     : "trouble";
    };
    f.driver_version = [](char* out, unsigned room) { return copy("580.65.06", out, room); };
    f.nvml_version = [](char* out, unsigned room) { return copy("13.580.65", out, room); };
    f.cuda_version = [](int* out) {
        *out = 13000;
        return nvml::success;
    };
    f.device_count = [](unsigned* out) {
        *out = static_cast<unsigned>(simulated_nvml().gpus.size());
        return simulated_nvml().count;
    };
    f.device_at = [](unsigned index, nvml::Device* out) {
        *out = reinterpret_cast<nvml::Device>(std::uintptr_t{index} + 1);
        return simulated_nvml().gpus.at(index).opens;
    };
    f.name = [](nvml::Device d, char* out, unsigned room) {
        return copy(gpu_of(d).name, out, room);
    };
    f.uuid = [](nvml::Device d, char* out, unsigned room) {
        return copy(fmt::format("GPU-{}", index_of(d)), out, room);
    };
    f.pci = [](nvml::Device d, nvml::PciInfo* out) {
        write_address(gpu_of(d).address, out);
        out->device_and_vendor = gpu_of(d).number << 16 | 0x10de;
        return nvml::success;
    };
    f.capability = [](nvml::Device, int* major, int* minor) {
        *major = 9;
        *minor = 0;
        return nvml::success;
    };
    f.memory = [](nvml::Device d, nvml::Memory* out) {
        *out = {80ULL << 30, 79ULL << 30, 1ULL << 30};
        return gpu_of(d).memory;
    };
    f.mig_mode = [](nvml::Device d, unsigned* now, unsigned* pending) {
        *pending = gpu_of(d).mig;
        return number(gpu_of(d).mig, now);
    };
    f.persistence = [](nvml::Device, unsigned* out) { return number(1, out); };
    f.ecc = [](nvml::Device, unsigned* now, unsigned* pending) {
        *pending = 1;
        return number(1, now);
    };
    f.power_limit = [](nvml::Device d, unsigned* out) {
        return number(gpu_of(d).power_limit, out);
    };
    f.default_power_limit = [](nvml::Device, unsigned* out) { return number(700'000, out); };
    f.clock = [](nvml::Device, int, unsigned* out) { return number(1200, out); };
    f.max_clock = [](nvml::Device, int, unsigned* out) { return number(1980, out); };
    f.slow_reasons = [](nvml::Device d, unsigned long long* out) {
        *out = gpu_of(d).slow_reasons;
        return nvml::success;
    };
    f.utilization = [](nvml::Device d, nvml::Utilization* out) {
        *out = {gpu_of(d).busy, 0};
        return nvml::success;
    };
    f.processes = processes;
    f.pcie_generation = [](nvml::Device d, unsigned* out) {
        return number(gpu_of(d).generation, out);
    };
    f.max_pcie_generation = [](nvml::Device, unsigned* out) { return number(5, out); };
    f.pcie_width = [](nvml::Device d, unsigned* out) { return number(gpu_of(d).lanes, out); };
    f.max_pcie_width = [](nvml::Device, unsigned* out) { return number(16, out); };
    f.nvlink_state = [](nvml::Device d, unsigned link, unsigned* out) {
        const SimulatedNvlink* const found = link_of(d, link);
        return found == nullptr ? nvml::invalid_argument : number(found->active ? 1 : 0, out);
    };
    f.nvlink_remote = [](nvml::Device d, unsigned link, nvml::PciInfo* out) {
        write_address(link_of(d, link)->remote, out);
        return nvml::success;
    };
    f.nvlink_remote_type = [](nvml::Device d, unsigned link, int* out) {
        *out = link_of(d, link)->remote_type;
        return nvml::success;
    };
    f.fields = fields;
    f.fabric = [](nvml::Device d, nvml::FabricInfo* out) {
        *out = {{}, nvml::success, gpu_of(d).clique, nvml::fabric_complete};
        out->cluster[3] = gpu_of(d).domain;
        return nvml::success;
    };
    f.common_ancestor = [](nvml::Device a, nvml::Device b, int* out) {
        if (simulated_nvml().levels.empty())
            return nvml::not_supported;
        *out = simulated_nvml().levels.at(index_of(a)).at(index_of(b));
        return nvml::success;
    };
    return f;
}

SimulatedNvml h100_server(int count)
{
    SimulatedNvml out;
    for (int i = 0; i < count; ++i) {
        SimulatedGpu gpu;
        const int half = std::max(1, count / 2);
        gpu.address = fmt::format("00000000:{}{}:00.0", i / half == 0 ? 1 : 8, 3 + i % half);
        gpu.links.resize(18);
        out.gpus.push_back(gpu);
        out.levels.emplace_back();
        for (int j = 0; j < count; ++j)
            out.levels.back().push_back(i == j ? 0 : i / half == j / half ? 10 : 50);
    }
    return out;
}

} // namespace trainyard
