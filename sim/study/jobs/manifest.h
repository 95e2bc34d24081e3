#pragma once

// Kubernetes manifests (Jobs, PyTorchJobs, MPIJobs, JobSets and whatever else asks for containers)
// and tasks of SkyPilot.

#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

struct ManifestJob {
    std::string script; // what the first container with a command does, at the manifest's lines
    std::optional<int> pods; // with GPUs, all replicas together
    std::optional<int> gpus; // of each

    bool operator==(const ManifestJob&) const = default;
};

// Nothing where the text is neither, or none of its containers has a command.
std::optional<ManifestJob> read_manifest(std::string_view text);

} // namespace trainyard
