#pragma once

// One rank's side of a communication library: what the measuring protocol needs of it, and no more.
//
// A back end is a module of its own (a shared library with the entry `trainyard_open_backend`), so
// that the program runs where the library it wraps is absent. Resources: not copyable. All calls
// but `abort` come from one thread.

#include "calibrate/measure/backend/rendezvous.h"
#include "calibrate/measure/backend/work.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace trainyard {

// Which rank this is, as the launcher says. Ranks inside a
// Communicator's work count in its group.
struct LaunchPlace {
    int rank = 0;
    int ranks = 1;
    int local_rank = 0; // among the ranks of this host
    int local_ranks = 1;

    bool operator==(const LaunchPlace&) const = default;
};

// Ranks that communicate, and what is forced on their library.
struct GroupSpec {
    std::string name;         // "all 8", "stride 2"
    std::vector<int> members; // world ranks, in the order of the group
    std::string algorithm = "auto";
    std::string protocol = "auto";

    bool operator==(const GroupSpec&) const = default;
};

// What a rank can say of where it runs.
struct BackendFacts {
    std::string name;      // "nccl", "mpi", "gloo"
    std::string version;   // of the library: "2.28.3", "Open MPI 4.1.4"
    std::string device;    // "NVIDIA H100 80GB HBM3"; of a host, its CPU
    std::string device_id; // UUID or PCI bus id; the same for two ranks of one device
    std::string driver;    // empty: none
    std::string cuda;      // runtime; empty: none
    Bytes memory;          // of the device; 0: unknown
    std::map<std::string, std::string>
        properties;                    // clocks, SMs, cores, power limit, ...: for the record
    std::vector<std::string> warnings; // what makes numbers doubtful: busy GPU, MIG, ...

    bool operator==(const BackendFacts&) const = default;
};

// One batch on this rank.
struct BatchTime {
    Seconds elapsed;     // from the first op's start to the last one's end
    bool covered = true; // BesideWork: the other ran the whole time
};

enum class FailureKind : std::uint8_t {
    missing, // no such library, driver or device, or too old a one
    refused, // the library or the device does not do it
    broken,  // a peer is gone, an operation failed
    timed_out,
    aborted // by abort()
};

// Thrown by back ends and by the rendezvous.
struct MeasureFailure {
    FailureKind kind = FailureKind::broken;
    std::string message; // what failed and what the library said
    std::string fix;     // what to do about it; empty: nothing known

    bool operator==(const MeasureFailure&) const = default;
};

// A group of ranks ready to communicate. Destroying it is collective.
class Communicator {
public:
    Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    virtual ~Communicator() = default;

    // Allocates and fills buffers for `work`; replaces what was prepared before. Between ops of a
    // batch buffers rotate over more than twice the device's last cache where memory allows.
    virtual void prepare(const TimedWork& work) = 0;

    // A barrier of the group, then `ops` of the prepared work back to back, until they are done.
    virtual BatchTime run(int ops) = 0;

    // One op of the prepared work on fresh data: how many elements of this rank's result are wrong.
    // Nothing where the work has no result to check.
    virtual std::optional<std::int64_t> wrong_elements() = 0;

    // From any thread: makes calls in progress throw where the library can, soon.
    virtual void abort() noexcept = 0;
};

class RankBackend {
public:
    RankBackend() = default;
    RankBackend(const RankBackend&) = delete;
    RankBackend& operator=(const RankBackend&) = delete;
    virtual ~RankBackend() = default;

    virtual BackendFacts facts() const = 0;

    // Why this back end cannot time `work`, for people; empty: it can.
    virtual std::string cannot(const TimedWork& work) const = 0;

    // Collective over the members. `rendezvous` is this group's own.
    virtual std::unique_ptr<Communicator> join(const GroupSpec& group, Rendezvous& rendezvous) = 0;

    // This host as the library sees it: NCCL's topology XML. Empty: it does not say, or not yet.
    virtual std::string node_topology() const { return {}; }
};

// Entry of a module. Throws MeasureFailure.
using OpenBackend = std::unique_ptr<RankBackend> (*)(const LaunchPlace& place);
inline constexpr const char* open_backend_symbol = "trainyard_open_backend";

template <>
std::vector<EnumName<FailureKind>> enum_names<FailureKind>();
template <>
const FieldTable<LaunchPlace>& fields_of<LaunchPlace>();
template <>
const FieldTable<GroupSpec>& fields_of<GroupSpec>();
template <>
const FieldTable<BackendFacts>& fields_of<BackendFacts>();
template <>
const FieldTable<MeasureFailure>& fields_of<MeasureFailure>();

} // namespace trainyard
