#pragma once

// GPUs that are not there: streams with a clock of their own, memory that is the host's, and NCCL
// among threads as ranks. Streams advance when somebody looks at an event, as far as all that they
// wait for has come; collectives move real data. Faults are set before the ranks start.

#include "calibrate/measure/nccl/nccl_backend.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

namespace trainyard::simulated {

// Of one rank.
struct Faults {
    CudaCode driver = CudaCode::success; // what the first call of CUDA says
    CudaCode device = CudaCode::success; // what taking the device says
    int devices = 8;
    int capability = 90;
    std::uint64_t memory = std::uint64_t{256} << 20;
    bool dies_before_meeting = false;

    NcclResult create = NcclResult::success;
    std::string says; // ncclGetLastError
    bool create_hangs = false;

    int healthy_ops = 0;          // of communication, before what follows
    bool hangs_on_device = false; // its kernels never meet the others'
    bool hangs_in_call = false;   // until aborted
    bool ignores_abort = false;   // with the above: not even then
    NcclResult async = NcclResult::success;
    bool corrupts = false; // one element of each result
};

struct Speeds {
    double latency = 20e-6; // of a collective or message
    double rate = 1e9;      // bytes per second, nccl-tests' size over time
    double kernel = 3e-6;   // an empty kernel
    double memory_rate = 1e12;
    double flop_rate = 100e12;
    double host_issue = 1e-6; // what the host spends per launch
};

struct Mark { // a recorded event
    bool done = false;
    double time = 0;
};

struct World;
struct Device;

struct Item {
    double issued = 0;   // host time
    double duration = 0; // of a kernel
    std::function<void()> effect;
    std::shared_ptr<Mark> record;
    std::shared_ptr<Mark> wait;
    std::function<std::optional<double>(double start)> communicate; // its end, once it is known
};

struct Event {
    std::shared_ptr<Mark> mark = std::make_shared<Mark>();
};

struct Stream {
    Device* device = nullptr;
    std::deque<Item> items;
    double time = 0;
    std::vector<Item>* captured = nullptr;
};

struct Device {
    std::shared_ptr<World> world;
    double host = 0;
    std::vector<Stream*> streams;
    std::map<std::byte*, std::uint64_t> sizes;
    std::vector<std::unique_ptr<std::byte[]>> memory; // kept: others' ops may still point to it
    std::uint64_t used = 0;
};

struct Collective {
    struct Party {
        const std::byte* send = nullptr;
        std::byte* receive = nullptr;
        double time = 0;
    };
    std::map<int, Party> parties;
    std::optional<double> end;
};

struct Message {
    const std::byte* send = nullptr;
    std::byte* receive = nullptr;
    double time = 0; // of the later end
    bool moved = false;
};

// Communicators with one id.
struct Clique {
    int ranks = 0;
    int arrived = 0;                                                // making it
    std::map<int, std::uint64_t> made;                              // collectives, by rank
    std::map<std::uint64_t, Collective> collectives;                // by number
    std::map<std::pair<int, int>, std::map<int, Message>> messages; // by from and to
    std::map<std::tuple<int, int, bool>, int> ends; // of messages: by rank, peer, whether it sends
};

struct World {
    std::mutex mutex;
    std::condition_variable changed;
    Speeds speeds;
    std::map<int, Faults> faults; // by rank
    int nccl_version = 22809;
    bool has_all_to_all = true;
    std::string topology = "<system version=\"1\"/>"; // what NCCL dumps
    std::map<std::string, Clique> cliques;
    std::map<std::string, std::string> variables; // set by set_variable and not unset
    std::vector<std::string> forced;              // NCCL_ALGO when a communicator was made
    int ids = 0;
    int aborts = 0;
    int living_comms = 0;
    bool ended = false;                           // calls that hang come back
    std::vector<std::shared_ptr<ncclComm>> comms; // kept: ops may still look at them
};

// `world` is what NcclApi's functions work on until the next call.
NcclLibrary nccl_of(std::shared_ptr<World> world);

std::unique_ptr<CudaApi> cuda_of(std::shared_ptr<World> world, int rank);

// What CUDA's handles stand for.
inline Stream& of(CudaStream stream)
{
    return *reinterpret_cast<Stream*>(stream);
}

inline Event& of(CudaEvent event)
{
    return *reinterpret_cast<Event*>(event);
}

// Under world.mutex.
void queue(Stream& stream, Item item);

// Elements of the simulated memory as numbers.
float element(const std::byte* memory, ElementType type, std::uint64_t index);
void set_element(std::byte* memory, ElementType type, std::uint64_t index, float value);

} // namespace trainyard::simulated
