#pragma once

// A copy of /sys and /proc as a machine could show them, written into a folder.

#include "tests/support/folder.h"

#include <string>
#include <vector>

namespace trainyard {

struct FakePci {
    std::string address;
    std::string kind = "0x060400"; // class; a bridge
    std::string vendor = "0x1000";
    std::string device = "0xc030";
    std::string speed = "32.0 GT/s PCIe";
    int lanes = 16;
    int most_lanes = 16;
    std::string most_speed = "32.0 GT/s PCIe";
    int numa = 0;
};

class FakeMachine {
public:
    std::filesystem::path root() const { return folder_.path(); }

    void file(const std::string& path, const std::string& content) const;
    void link(const std::string& path, const std::string& target) const;

    // `above`: the addresses of the bridges over it, the highest first, joined by slashes.
    void pci(const FakePci& device, const std::string& above = "") const;

    // Two sockets of `cores` cores with two threads each, one NUMA node per socket.
    void two_sockets(int cores) const;

    // An RDMA port of the NIC at `way` (addresses joined by slashes).
    void rdma(const std::string& name, const std::string& way, const std::string& rate,
              const std::string& layer = "InfiniBand",
              const std::string& state = "4: ACTIVE") const;

private:
    testing::Folder folder_;
};

FakePci nvidia_gpu(const std::string& address, int numa = 0);
FakePci mellanox_nic(const std::string& address, int numa = 0);

// A server with 2 sockets; below each a PCIe switch (0000:X1:00.0 below root port 0000:X0:01.0, its
// ports 0000:X2:0P.0) with `gpus` H100s at 0000:XP:00.0 and one NIC; X is 1 or 8, P from 3.
void write_two_switch_server(const FakeMachine& machine, int gpus);

// Whether one of the lines that a reader leaves behind holds `part`.
bool says(const std::vector<std::string>& lines, const std::string& part);

} // namespace trainyard
