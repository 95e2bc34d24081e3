#pragma once

// A management library without GPUs: answers what a test says.

#include "calibrate/measure/discover/nvml.h"

#include <array>

namespace trainyard {

struct SimulatedNvlink {
    bool active = true;
    int remote_type = nvml::remote_switch;
    std::string remote = "00000000:C1:00.0";
};

struct SimulatedGpu {
    std::string name = "NVIDIA H100 80GB HBM3";
    std::string address; // as NVML writes it: "00000000:13:00.0"
    unsigned number = 0x2330;
    nvml::Return opens = nvml::success;
    nvml::Return memory = nvml::success;
    unsigned mig = 0;
    unsigned lanes = 16;
    unsigned generation = 5;
    unsigned power_limit = 700'000; // mW
    unsigned long long slow_reasons = 0;
    unsigned busy = 0;
    std::vector<unsigned> processes;
    std::vector<SimulatedNvlink> links;
    std::vector<bool> c2c;    // links; whether each is up
    unsigned char domain = 0; // byte of the cluster's UUID; 0: none
    unsigned clique = 1;
};

struct SimulatedNvml {
    nvml::Return init = nvml::success;
    nvml::Return count = nvml::success;
    std::vector<SimulatedGpu> gpus;
    std::vector<std::vector<int>> levels;
    bool growing_processes = false; // never enough room for them
    int open_sessions = 0;          // init less shutdown
};

// What the functions answer from; one at a time.
SimulatedNvml& simulated_nvml();

// All functions that there are.
nvml::Functions simulated_functions();

// `count` H100s as in write_two_switch_server, half at each switch, with 18 NVLinks to NVSwitches
// each.
SimulatedNvml h100_server(int count);

} // namespace trainyard
