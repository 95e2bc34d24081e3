#pragma once

// What is used of NVML, declared here so that the program builds and runs without it: layouts and
// numbers of NVIDIA's public nvml.h. Only what reads; nothing that sets.

#include <cstddef>
#include <cstdint>

namespace trainyard::nvml {

using Return = int; // nvmlReturn_t
inline constexpr Return success = 0;
inline constexpr Return invalid_argument = 2;
inline constexpr Return not_supported = 3;
inline constexpr Return no_permission = 4;
inline constexpr Return insufficient_size = 7;
inline constexpr Return driver_not_loaded = 9;
inline constexpr Return library_not_found = 12;
inline constexpr Return function_not_found = 13;
inline constexpr Return gpu_is_lost = 15;
inline constexpr Return reset_required = 16;
inline constexpr Return operating_system = 17;
inline constexpr Return library_driver_mismatch = 18;

struct DeviceHandle; // opaque
using Device = DeviceHandle*;

struct PciInfo { // nvmlPciInfo_t, read with the _v3 functions
    char legacy_bus_id[16];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned device_and_vendor; // device number << 16 | vendor
    unsigned subsystem;
    char bus_id[32];
};

struct Memory { // nvmlMemory_t, bytes
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

struct Utilization { // nvmlUtilization_t, per cent of the last sampling period
    unsigned gpu;
    unsigned memory;
};

struct ProcessInfo { // nvmlProcessInfo_t of the _v3 functions
    unsigned pid;
    unsigned long long used_memory; // bytes; all ones: not known
    unsigned gpu_instance;
    unsigned compute_instance;
};

struct FieldValue { // nvmlFieldValue_t
    unsigned field;
    unsigned scope;
    long long timestamp;
    long long latency_us;
    int type;
    Return result;
    union {
        double as_double;
        unsigned as_unsigned;
        unsigned long long as_unsigned_long_long;
    } value;
};

struct FabricInfo {            // nvmlGpuFabricInfo_t, of the function without a version
    unsigned char cluster[16]; // UUID; zeros: NVLink does not leave the node
    Return status;
    unsigned clique;
    unsigned char state;
};
inline constexpr unsigned char fabric_complete = 3;
static_assert(sizeof(FabricInfo) == 28);
static_assert(sizeof(PciInfo) == 68 && sizeof(ProcessInfo) == 24 && sizeof(FieldValue) == 40);

inline constexpr int type_double = 0;
inline constexpr int type_unsigned = 1;
inline constexpr int type_unsigned_long = 2;
inline constexpr int type_unsigned_long_long = 3;

inline constexpr unsigned field_nvlink_speed = 164;       // MB/s of the link named by the scope
inline constexpr unsigned field_nvlink_speed_common = 90; // MB/s of any active link

inline constexpr unsigned field_c2c_links = 170;  // NVLink-C2C between a GPU and its CPU
inline constexpr unsigned field_c2c_active = 171; // 1: the link named by the scope is
inline constexpr unsigned field_c2c_speed = 172;  // MB/s of the link named by the scope

inline constexpr int clock_sm = 1;
inline constexpr int clock_memory = 2;

inline constexpr int remote_gpu = 0;
inline constexpr int remote_switch = 2;

// Why clocks are below what they could be (a set of bits).
inline constexpr unsigned long long slow_idle = 0x01;
inline constexpr unsigned long long slow_set_by_user = 0x02;
inline constexpr unsigned long long slow_power_cap = 0x04;
inline constexpr unsigned long long slow_hardware = 0x08;
inline constexpr unsigned long long slow_software_thermal = 0x20;
inline constexpr unsigned long long slow_hardware_thermal = 0x40;
inline constexpr unsigned long long slow_power_brake = 0x80;

// Null: this NVML does not have it.
struct Functions {
    Return (*init)() = nullptr;
    Return (*shutdown)() = nullptr;
    const char* (*error_string)(Return) = nullptr;
    Return (*driver_version)(char*, unsigned) = nullptr;
    Return (*nvml_version)(char*, unsigned) = nullptr;
    Return (*cuda_version)(int*) = nullptr; // 12040: 12.4
    Return (*device_count)(unsigned*) = nullptr;
    Return (*device_at)(unsigned, Device*) = nullptr;
    Return (*name)(Device, char*, unsigned) = nullptr;
    Return (*uuid)(Device, char*, unsigned) = nullptr;
    Return (*pci)(Device, PciInfo*) = nullptr;
    Return (*capability)(Device, int*, int*) = nullptr;
    Return (*memory)(Device, Memory*) = nullptr;
    Return (*mig_mode)(Device, unsigned* now, unsigned* pending) = nullptr;
    Return (*persistence)(Device, unsigned*) = nullptr;
    Return (*ecc)(Device, unsigned* now, unsigned* pending) = nullptr;
    Return (*power_limit)(Device, unsigned*) = nullptr; // mW
    Return (*default_power_limit)(Device, unsigned*) = nullptr;
    Return (*clock)(Device, int type, unsigned*) = nullptr; // MHz
    Return (*max_clock)(Device, int type, unsigned*) = nullptr;
    Return (*slow_reasons)(Device, unsigned long long*) = nullptr;
    Return (*utilization)(Device, Utilization*) = nullptr;
    Return (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
    Return (*pcie_generation)(Device, unsigned*) = nullptr;
    Return (*max_pcie_generation)(Device, unsigned*) = nullptr;
    Return (*pcie_width)(Device, unsigned*) = nullptr;
    Return (*max_pcie_width)(Device, unsigned*) = nullptr;
    Return (*nvlink_state)(Device, unsigned link, unsigned* active) = nullptr;
    Return (*nvlink_version)(Device, unsigned link, unsigned*) = nullptr;
    Return (*nvlink_remote)(Device, unsigned link, PciInfo*) = nullptr;
    Return (*nvlink_remote_type)(Device, unsigned link, int*) = nullptr;
    Return (*fields)(Device, int count, FieldValue*) = nullptr;
    Return (*fabric)(Device, FabricInfo*) = nullptr;                 // driver 535
    Return (*common_ancestor)(Device, Device, int* level) = nullptr; // 10 PIX ... 50 SYS
};

} // namespace trainyard::nvml
