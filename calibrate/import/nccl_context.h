#pragma once

// What the lines around a table of nccl-tests say about the run: its program, its ranks and where
// they sat, versions, variables, launch.

#include "calibrate/import/sweep.h"

#include <set>

namespace trainyard {

struct NcclDevice {
    int rank = 0;
    int group = 0;
    int device = 0; // number on its host
    std::string host;
    std::string bus; // PCI address as printed
    std::string name;

    bool operator==(const NcclDevice&) const = default;
};

struct NcclContext {
    std::string program; // "all_reduce" of all_reduce_perf; empty when no line names just one
    std::vector<NcclDevice> devices;
    std::string nccl_version;
    std::string header_version; // that the tests were compiled for
    std::string tests_version;
    std::map<std::string, std::string> variables;
    std::optional<std::int64_t> threads; // per process
    std::optional<std::int64_t> gpus;    // per thread
    std::optional<std::int64_t> min_bytes;
    std::optional<std::int64_t> max_bytes;
    std::optional<std::int64_t> processes;          // of the launch command
    std::optional<std::int64_t> processes_per_node; // of the launch command
    std::optional<std::int64_t> nodes;              // of the launch command
    std::optional<std::int64_t> communicator_ranks; // "nranks 16" of NCCL's own lines
    std::set<std::string> hosts;                    // that NCCL's own lines come from
    std::vector<std::string> flags;                 // versions that contradict each other
    bool used = false;                              // a table stood here since

    bool operator==(const NcclContext&) const = default;
};

// Takes over what the line says. What belongs to one run only is forgotten where the next begins.
void read_context(NcclContext& context, std::string_view line);

// "all_reduce" when the line names one program of nccl-tests (all_reduce_perf, ...).
std::string program_in(std::string_view line);

// "2.29.7" for 22907, "2.8.4" for 2804; empty when it is no version.
std::string version_of_code(std::int64_t code);

// Whether a variable changes how NCCL, UCX or libfabric move data; names of secrets and of what
// only prints never do.
bool changes_paths(std::string_view name);

} // namespace trainyard
