#pragma once

// Profiles and their parts as files: the shipped set and the user's own.
//
// A folder of profiles holds devices/, fabrics/, networks/, collectives/, knots/ and software/, one
// file per part, and profiles that name the parts they are made of. A part of a profile is the name
// or path of such a file, an object in place, or an object with "base" that changes some constants
// of a file.

#include "sim/cost/host_class.h"
#include "sim/cost/profile.h"
#include "sim/cost/storage.h"
#include "sim/topology/topology.h"

#include <filesystem>

namespace trainyard {

using Folders = std::vector<std::filesystem::path>; // earlier ones win

// calibrate/profiles of this program.
Folders shipped_profiles();

struct ProfileFile {
    Profile profile;
    Problems warnings; // implausible values
};

// A profile by name ("h100-sxm-ndr400") or path (with a slash or ".json"). Everything is checked;
// an unknown name lists what exists. Throws WorldError when a file cannot be read.
Checked<ProfileFile> load_profile(const std::string& name_or_path,
                                  const Folders& folders = shipped_profiles());

// The profile that `json`, made in memory, says; problems name `name` as its file.
Checked<ProfileFile> profile_of_json(const Json& json, const std::string& name,
                                     const Folders& folders = shipped_profiles());

// Every problem of a profile or of one of the files that profiles are made of, warnings included;
// the file's "format" says which it is. Throws WorldError when it cannot be read.
Problems check_profile_file(const std::string& path, const Folders& folders = shipped_profiles());

// What a profile is put together from when a scenario names none.
struct ProfileRequest {
    std::string device;   // device model of the topology
    std::string fabric;   // empty: the one the device comes with
    NodeNetwork network;  // by name, else by transport and rate; transport none: NDR, never used
    std::string software; // class name
};

// Hardware defaults of this device, network and software; installation factor 1.
Checked<Profile> assemble(const ProfileRequest& request,
                          const Folders& folders = shipped_profiles());

// Classes by name.
Checked<SoftwareClass> load_software(const std::string& name,
                                     const Folders& folders = shipped_profiles());
Checked<FabricClass> load_fabric(const std::string& name,
                                 const Folders& folders = shipped_profiles());
Checked<NetworkClass> load_network(const std::string& name,
                                   const Folders& folders = shipped_profiles());

// Where data lies, and the processors that load it, by name.
Checked<StorageClass> load_storage(const std::string& name,
                                   const Folders& folders = shipped_profiles());
Checked<HostClass> load_host(const std::string& name, const Folders& folders = shipped_profiles());

// Names of what the folders hold, sorted.
std::vector<std::string> known_profiles(const Folders& folders = shipped_profiles());
std::vector<std::string> known_devices(const Folders& folders = shipped_profiles());
std::vector<std::string> known_networks(const Folders& folders = shipped_profiles());
std::vector<std::string> known_software(const Folders& folders = shipped_profiles());

// Where a profile and the cluster it is used for disagree. Of another device model all its times
// are wrong: an error. Of another kind of links or network some are: warnings.
Problems mismatches(const Profile& profile, const Topology& topology);

} // namespace trainyard
