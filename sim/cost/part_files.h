#pragma once

// The files a profile is made of: where they lie, which names they answer to.

#include "sim/cost/profile_library.h"
#include "sim/cost/profile_parts.h"

namespace trainyard {

struct PartKind {
    const char* key;    // in a profile, and in messages
    const char* folder; // of a folder of profiles
    std::string_view format;
};

inline constexpr PartKind device_kind{"device", "devices", device_format};
inline constexpr PartKind fabric_kind{"fabric", "fabrics", fabric_format};
inline constexpr PartKind network_kind{"network", "networks", network_format};
inline constexpr PartKind collectives_kind{"collectives", "collectives", collectives_format};
inline constexpr PartKind gloo_kind{"gloo", "collectives", gloo_format};
inline constexpr PartKind ucx_kind{"ucx", "collectives", ucx_format};
inline constexpr PartKind nvshmem_kind{"nvshmem", "collectives", nvshmem_format};
inline constexpr PartKind mpi_kind{"mpi", "collectives", mpi_format};
inline constexpr PartKind interference_kind{"interference", "interference", interference_format};
inline constexpr PartKind kernels_kind{"kernels", "kernels", kernels_format};
inline constexpr PartKind knots_kind{"knots", "knots", knots_format};
inline constexpr PartKind software_kind{"software", "software", software_format};
inline constexpr PartKind storage_kind{"storage", "storage", storage_format};
inline constexpr PartKind host_kind{"host", "hosts", host_format};
inline constexpr PartKind profile_kind{"profile", ".", profile_format};

bool answers_to(const std::string& name, const std::vector<std::string>& aliases,
                std::string_view wanted);

// The files of a kind, folder by folder, sorted within each.
std::vector<std::filesystem::path> files_of(const Folders& folders, const PartKind& kind);

// "name" members (else stems) of the files of a kind, sorted.
std::vector<std::string> names_in(const Folders& folders, const PartKind& kind);

struct RawFile {
    std::string path;
    Json json;
};
struct PartFile {
    std::string path;
    PlainTree plain;
};

class PartFiles {
public:
    PartFiles(const Folders& folders, Problems& problems) : folders_(folders), problems_(&problems)
    {}

    // The file of that name: a path relative to a folder, a stem, or a name the file answers to.
    // Reports an unknown name at `where`, with those that exist.
    std::optional<std::filesystem::path> find(const Reader& where, const PartKind& kind,
                                              const std::string& name) const;
    bool exists(const PartKind& kind, const std::string& name) const;

    // Parsed, its format checked. Nothing after problems have been reported.
    std::optional<RawFile> open_raw(const std::filesystem::path& path,
                                    std::string_view format) const;
    // The same with provenance taken apart.
    std::optional<PartFile> open(const std::filesystem::path& path, std::string_view format) const;

private:
    std::optional<std::filesystem::path> locate(const PartKind& kind,
                                                const std::string& name) const;

    Folders folders_;
    Problems* problems_;
};

} // namespace trainyard
