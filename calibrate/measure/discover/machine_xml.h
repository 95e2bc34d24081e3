#pragma once

// The machine as NCCL would dump it: one form for what NCCL, NVML and /sys say.

#include "calibrate/import/nccl_xml.h"
#include "calibrate/import/smi_matrix.h"
#include "calibrate/measure/discover/nvml.h"
#include "calibrate/measure/discover/sysfs.h"

namespace trainyard {

// NCCL's <system> from the PCIe tree of /sys, with the NVLinks of NVML where it could be asked.
// Bridges that lead to one device only (ports of a switch, root ports) are left out, as NCCL does.
// Nothing where /sys does not show every GPU.
std::optional<XmlElement> xml_of_machine(const HostFacts& host, const NvmlNode* nvml);

// "NV18", "PIX", "PXB", "PHB", "NODE", "SYS" by GPU and GPU, "X" on the diagonal, "?" where not
// told. A GPU pair that only NVSwitches join has the fewer links of the two.
std::vector<std::vector<std::string>> words_between(const NvmlNode& nvml);

// The matrix of `nvidia-smi topo -m` from these words; "PHB" where not told.
SmiMatrix matrix_of_nvml(const NvmlNode& nvml, const HostFacts& host);

} // namespace trainyard
