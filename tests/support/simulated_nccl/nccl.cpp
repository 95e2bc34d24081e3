#include "tests/support/simulated_nccl/world.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace trainyard;
using namespace trainyard::simulated;

// The communicator of one rank.
struct ncclComm {
    World* world = nullptr; // lives longer
    Clique* clique = nullptr;
    int rank = 0;
    int ranks = 1;
    int calls = 0;
    bool aborted = false;

    const Faults& faults() const { return world->faults.at(rank); }
    bool sick() const { return calls > faults().healthy_ops; }
};

namespace {

std::mutex current_mutex;
std::shared_ptr<World> current_world;

// Threads left behind may still ask while the next test sets it.
std::shared_ptr<World> current()
{
    const std::lock_guard lock(current_mutex);
    return current_world;
}

Stream& of(CudaStream stream)
{
    return *reinterpret_cast<Stream*>(stream);
}

ElementType element_type(NcclType type)
{
    switch (type) {
    case NcclType::float32:
        return ElementType::float32;
    case NcclType::float16:
        return ElementType::float16;
    case NcclType::bfloat16:
        return ElementType::bfloat16;
    case NcclType::uint8:
        break;
    }
    return ElementType::uint8;
}

enum class Kind { all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all };

struct Call {
    Kind kind;
    std::size_t count;
    ElementType type;
    int root = 0;

    std::uint64_t part() const { return count * static_cast<std::uint64_t>(element_bytes(type)); }
};

// What rank `to` receives, from copies of what all sent.
std::vector<std::byte> received(const Call& call, int to,
                                const std::vector<std::vector<std::byte>>& sent)
{
    const std::uint64_t part = call.part();
    const auto place = static_cast<std::uint64_t>(to);
    std::vector<std::byte> out;
    const auto append = [&](const std::vector<std::byte>& from, std::uint64_t at) {
        out.insert(out.end(), from.begin() + static_cast<std::ptrdiff_t>(at),
                   from.begin() + static_cast<std::ptrdiff_t>(at + part));
    };
    switch (call.kind) {
    case Kind::broadcast:
        append(sent[static_cast<std::size_t>(call.root)], 0);
        return out;
    case Kind::all_gather:
        for (const auto& one : sent)
            append(one, 0);
        return out;
    case Kind::all_to_all:
        for (const auto& one : sent)
            append(one, part * place);
        return out;
    case Kind::reduce:
        if (to != call.root)
            return out;
        [[fallthrough]];
    case Kind::all_reduce:
    case Kind::reduce_scatter:
        break;
    }
    out.resize(part);
    const std::uint64_t first = call.kind == Kind::reduce_scatter ? call.count * place : 0;
    for (std::uint64_t i = 0; i < call.count; ++i) {
        float sum = 0;
        for (const auto& one : sent)
            sum += element(one.data(), call.type, first + i);
        set_element(out.data(), call.type, i, sum);
    }
    return out;
}

std::uint64_t sent_bytes(const Call& call, int ranks)
{
    return call.kind == Kind::reduce_scatter || call.kind == Kind::all_to_all
               ? call.part() * static_cast<std::uint64_t>(ranks)
               : call.part();
}

// The size by which nccl-tests divides.
std::uint64_t whole_size(const Call& call, int ranks)
{
    const bool parts = call.kind == Kind::all_gather || call.kind == Kind::reduce_scatter ||
                       call.kind == Kind::all_to_all;
    return call.part() * static_cast<std::uint64_t>(parts ? ranks : 1);
}

void finish(const ncclComm& comm, const Call& call, Collective& collective)
{
    std::vector<std::vector<std::byte>> sent;
    double start = 0;
    for (const auto& [rank, party] : collective.parties) {
        start = std::max(start, party.time);
        sent.emplace_back(party.send, party.send + sent_bytes(call, comm.ranks));
    }
    for (const auto& [rank, party] : collective.parties) {
        const std::vector<std::byte> result = received(call, rank, sent);
        if (result.empty())
            continue;
        std::memcpy(party.receive, result.data(), result.size());
        if (comm.world->faults.at(rank).corrupts)
            set_element(party.receive, call.type, call.count - 1,
                        element(party.receive, call.type, call.count - 1) + 1);
    }
    const Speeds& speeds = comm.world->speeds;
    collective.end =
        start + speeds.latency + static_cast<double>(whole_size(call, comm.ranks)) / speeds.rate;
}

// Before an operation is queued: what makes it fail or hang. Takes world.mutex.
NcclResult enter(ncclComm& comm, std::unique_lock<std::mutex>& lock)
{
    ++comm.calls;
    const Faults& faults = comm.faults();
    if (faults.hangs_in_call && comm.sick()) {
        comm.world->changed.wait(
            lock, [&] { return comm.world->ended || (comm.aborted && !faults.ignores_abort); });
        return NcclResult::internal_error;
    }
    return comm.aborted ? NcclResult::invalid_usage : NcclResult::success;
}

NcclResult collective(const Call& call, const void* send, void* receive, NcclComm comm,
                      CudaStream stream)
{
    std::unique_lock lock(comm->world->mutex);
    if (const NcclResult result = enter(*comm, lock); result != NcclResult::success)
        return result;
    const std::uint64_t number = comm->clique->made[comm->rank]++;
    const bool hangs = comm->faults().hangs_on_device && comm->sick();
    const Collective::Party party{static_cast<const std::byte*>(send),
                                  static_cast<std::byte*>(receive), 0};
    Item item;
    item.issued = of(stream).device->host += comm->world->speeds.host_issue;
    item.communicate = [=](double start) -> std::optional<double> {
        if (comm->aborted)
            return start;
        if (hangs)
            return std::nullopt;
        Collective& whole = comm->clique->collectives[number];
        Collective::Party own = party;
        own.time = start;
        whole.parties.emplace(comm->rank, own);
        if (!whole.end && static_cast<int>(whole.parties.size()) == comm->ranks)
            finish(*comm, call, whole);
        return whole.end;
    };
    queue(of(stream), std::move(item));
    return NcclResult::success;
}

// One end of a message that is queued.
struct End {
    bool sends;
    std::byte* data;
    std::size_t bytes;
    int peer;
    int index;
};

std::optional<double> exchange(const ncclComm& comm, const std::vector<End>& ends, double start)
{
    double end = start;
    bool complete = true;
    std::uint64_t out = 0;
    std::uint64_t in = 0;
    for (const End& one : ends) {
        const std::pair<int, int> way =
            one.sends ? std::pair(comm.rank, one.peer) : std::pair(one.peer, comm.rank);
        Message& message = comm.clique->messages[way][one.index];
        (one.sends ? out : in) += one.bytes;
        if (one.sends)
            message.send = one.data;
        else
            message.receive = one.data;
        message.time = std::max(message.time, start);
        if (!message.send || !message.receive) {
            complete = false;
            continue;
        }
        if (!message.moved) {
            std::memcpy(message.receive, message.send, one.bytes);
            if (comm.world->faults.at(way.second).corrupts)
                message.receive[0] ^= std::byte{1};
            message.moved = true;
        }
        end = std::max(end, message.time);
    }
    if (!complete)
        return std::nullopt;
    const Speeds& speeds = comm.world->speeds;
    return end + speeds.latency + static_cast<double>(std::max(out, in)) / speeds.rate;
}

thread_local int group_depth = 0;
thread_local std::vector<End> group_ends;
thread_local NcclComm group_comm = nullptr;
thread_local CudaStream group_stream = nullptr;

NcclResult end_group()
{
    if (--group_depth > 0 || group_ends.empty())
        return NcclResult::success;
    const NcclComm comm = group_comm;
    std::vector<End> ends = std::exchange(group_ends, {});
    std::unique_lock lock(comm->world->mutex);
    if (const NcclResult result = enter(*comm, lock); result != NcclResult::success)
        return result;
    const bool hangs = comm->faults().hangs_on_device && comm->sick();
    for (End& end : ends)
        end.index = comm->clique->ends[{comm->rank, end.peer, end.sends}]++;
    Item item;
    item.issued = of(group_stream).device->host += comm->world->speeds.host_issue;
    item.communicate = [=](double start) -> std::optional<double> {
        if (comm->aborted)
            return start;
        return hangs ? std::nullopt : exchange(*comm, ends, start);
    };
    queue(of(group_stream), std::move(item));
    return NcclResult::success;
}

NcclResult add_end(const End& end, NcclComm comm, CudaStream stream)
{
    ++group_depth;
    group_comm = comm;
    group_stream = stream;
    group_ends.push_back(end);
    return end_group();
}

// As NCCL: the rank that is to, where a variable names a file.
void write_dump(const World& world, int rank)
{
    const auto value = [&world](const char* name) {
        const auto set = world.variables.find(name);
        const char* const given = std::getenv(name);
        return set != world.variables.end() ? set->second : std::string(given ? given : "");
    };
    const std::string file = value("NCCL_TOPO_DUMP_FILE");
    if (!file.empty() && std::to_string(rank) == value("NCCL_TOPO_DUMP_FILE_RANK"))
        std::ofstream(file) << world.topology;
}

NcclResult create(NcclComm* out, int ranks, NcclId id, int rank, NcclConfig* config)
{
    const std::shared_ptr<World> world = current();
    std::unique_lock lock(world->mutex);
    const Faults& faults = world->faults[rank];
    if (faults.create != NcclResult::success)
        return faults.create;
    if (config->magic != 0xcafebeef || config->size < sizeof(NcclConfig))
        return NcclResult::invalid_argument;
    Clique& clique = world->cliques[std::string(id.bytes, sizeof(id.bytes))];
    clique.ranks = ranks;
    write_dump(*world, rank);
    world->forced.push_back(world->variables["NCCL_ALGO"] + "/" + world->variables["NCCL_PROTO"]);
    if (!faults.create_hangs)
        ++clique.arrived;
    world->changed.notify_all();
    world->changed.wait(lock, [&] { return world->ended || clique.arrived == ranks; });
    if (world->ended)
        return NcclResult::internal_error;
    auto comm = std::make_shared<ncclComm>();
    *comm = {world.get(), &clique, rank, ranks, 0, false};
    world->comms.push_back(comm);
    ++world->living_comms;
    *out = comm.get();
    return NcclResult::success;
}

NcclResult end_comm(NcclComm comm, bool abort)
{
    const std::lock_guard lock(comm->world->mutex);
    comm->aborted = abort;
    comm->world->aborts += abort ? 1 : 0;
    --comm->world->living_comms;
    comm->world->changed.notify_all();
    return NcclResult::success;
}

const char* last_error(NcclComm)
{
    // Of the rank that fails to make a communicator: there is one at most in a test.
    static thread_local std::string words;
    words.clear();
    const std::shared_ptr<World> here = current(); // for as long as the loop reads it
    for (const auto& [rank, faults] : here->faults)
        words += faults.says;
    return words.c_str();
}

} // namespace

namespace trainyard::simulated {

NcclLibrary nccl_of(std::shared_ptr<World> world)
{
    {
        const std::lock_guard lock(current_mutex);
        current_world = world;
    }
    NcclLibrary nccl;
    nccl.version = world->nccl_version;
    nccl.path = "simulated";
    NcclApi& api = nccl.api;
    api.get_version = [](int* version) {
        *version = current()->nccl_version;
        return NcclResult::success;
    };
    api.get_unique_id = [](NcclId* id) {
        const std::shared_ptr<World> here = current();
        const std::lock_guard lock(here->mutex);
        *id = {};
        const std::string text = std::to_string(++here->ids);
        std::copy(text.begin(), text.end(), id->bytes);
        return NcclResult::success;
    };
    api.comm_init_rank_config = create;
    api.comm_destroy = [](NcclComm comm) { return end_comm(comm, false); };
    api.comm_abort = [](NcclComm comm) { return end_comm(comm, true); };
    api.comm_get_async_error = [](NcclComm comm, NcclResult* error) {
        const std::lock_guard lock(comm->world->mutex);
        *error = comm->sick() ? comm->faults().async : NcclResult::success;
        return NcclResult::success;
    };
    api.get_error_string = [](NcclResult result) {
        return result == NcclResult::remote_error ? "remote process exited or there was a network "
                                                    "error"
                                                  : "unhandled error";
    };
    api.get_last_error = last_error;
    api.all_reduce = [](const void* send, void* receive, std::size_t count, NcclType type,
                        NcclOperator, NcclComm comm, CudaStream stream) {
        return collective({Kind::all_reduce, count, element_type(type)}, send, receive, comm,
                          stream);
    };
    api.all_gather = [](const void* send, void* receive, std::size_t count, NcclType type,
                        NcclComm comm, CudaStream stream) {
        return collective({Kind::all_gather, count, element_type(type)}, send, receive, comm,
                          stream);
    };
    api.reduce_scatter = [](const void* send, void* receive, std::size_t count, NcclType type,
                            NcclOperator, NcclComm comm, CudaStream stream) {
        return collective({Kind::reduce_scatter, count, element_type(type)}, send, receive, comm,
                          stream);
    };
    api.broadcast = [](const void* send, void* receive, std::size_t count, NcclType type, int root,
                       NcclComm comm, CudaStream stream) {
        return collective({Kind::broadcast, count, element_type(type), root}, send, receive, comm,
                          stream);
    };
    api.reduce = [](const void* send, void* receive, std::size_t count, NcclType type, NcclOperator,
                    int root, NcclComm comm, CudaStream stream) {
        return collective({Kind::reduce, count, element_type(type), root}, send, receive, comm,
                          stream);
    };
    if (world->has_all_to_all)
        api.all_to_all = [](const void* send, void* receive, std::size_t count, NcclType type,
                            NcclComm comm, CudaStream stream) {
            return collective({Kind::all_to_all, count, element_type(type)}, send, receive, comm,
                              stream);
        };
    api.send = [](const void* data, std::size_t count, NcclType type, int peer, NcclComm comm,
                  CudaStream stream) {
        auto* bytes = const_cast<std::byte*>(static_cast<const std::byte*>(data));
        const auto size = static_cast<std::size_t>(element_bytes(element_type(type)));
        return add_end({true, bytes, count * size, peer, 0}, comm, stream);
    };
    api.receive = [](void* data, std::size_t count, NcclType type, int peer, NcclComm comm,
                     CudaStream stream) {
        const auto size = static_cast<std::size_t>(element_bytes(element_type(type)));
        return add_end({false, static_cast<std::byte*>(data), count * size, peer, 0}, comm, stream);
    };
    api.group_start = [] {
        ++group_depth;
        return NcclResult::success;
    };
    api.group_end = end_group;
    api.set_variable = [](const char* name, const char* value) {
        const std::shared_ptr<World> here = current();
        const std::lock_guard lock(here->mutex);
        if (value)
            here->variables[name] = value;
        else
            here->variables.erase(name);
    };
    return nccl;
}

} // namespace trainyard::simulated
