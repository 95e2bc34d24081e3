#include "tests/support/simulated_nccl/communicator.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace trainyard::simulated {

namespace {

std::mutex current_mutex;
std::shared_ptr<World> current_world;

// Threads left behind may still ask while the next test sets it.
std::shared_ptr<World> current()
{
    const std::lock_guard lock(current_mutex);
    return current_world;
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
        return queue_collective({CallKind::all_reduce, count, element_type(type)}, send, receive,
                                comm, stream);
    };
    api.all_gather = [](const void* send, void* receive, std::size_t count, NcclType type,
                        NcclComm comm, CudaStream stream) {
        return queue_collective({CallKind::all_gather, count, element_type(type)}, send, receive,
                                comm, stream);
    };
    api.reduce_scatter = [](const void* send, void* receive, std::size_t count, NcclType type,
                            NcclOperator, NcclComm comm, CudaStream stream) {
        return queue_collective({CallKind::reduce_scatter, count, element_type(type)}, send,
                                receive, comm, stream);
    };
    api.broadcast = [](const void* send, void* receive, std::size_t count, NcclType type, int root,
                       NcclComm comm, CudaStream stream) {
        return queue_collective({CallKind::broadcast, count, element_type(type), root}, send,
                                receive, comm, stream);
    };
    api.reduce = [](const void* send, void* receive, std::size_t count, NcclType type, NcclOperator,
                    int root, NcclComm comm, CudaStream stream) {
        return queue_collective({CallKind::reduce, count, element_type(type), root}, send, receive,
                                comm, stream);
    };
    if (world->has_all_to_all)
        api.all_to_all = [](const void* send, void* receive, std::size_t count, NcclType type,
                            NcclComm comm, CudaStream stream) {
            return queue_collective({CallKind::all_to_all, count, element_type(type)}, send,
                                    receive, comm, stream);
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
    api.group_start = start_group;
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
