#include "calibrate/backends/mpi/mpi_communicator.h"

#include <fmt/core.h>

#include <limits>

namespace trainyard {
namespace {

MPI_Comm with_errors_returned(MPI_Comm communicator)
{
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
    return communicator;
}

int rank_in(MPI_Comm communicator)
{
    int rank = 0;
    check_mpi(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
    return rank;
}

int size_of(MPI_Comm communicator)
{
    int size = 0;
    check_mpi(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
    return size;
}

int elements(std::size_t bytes, ElementType type)
{
    return static_cast<int>(bytes / static_cast<std::size_t>(element_bytes(type)));
}

} // namespace

MpiCommunicator::MpiCommunicator(MPI_Comm communicator, std::shared_ptr<const MpiTypes> types,
                                 const MemoryLimits& limits)
    : HostCommunicator({.rank = rank_in(communicator), .ranks = size_of(communicator)}, limits),
      communicator_(with_errors_returned(communicator)),
      types_(std::move(types))
{
    int* largest = nullptr;
    int known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&largest), &known);
    largest_tag_ = known != 0 ? *largest : 32767; // what the standard grants
}

MpiCommunicator::~MpiCommunicator()
{
    if (!aborted()) // freeing waits for the others
        MPI_Comm_free(&communicator_);
}

void MpiCommunicator::wait(const char* what)
{
    for (int done = 0; done == 0;) {
        if (aborted())
            throw MeasureFailure{FailureKind::aborted, "aborted", ""};
        check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                              MPI_STATUSES_IGNORE),
                  what);
    }
}

// Ranks that are not there yet keep the others here: so this one listens to abort().
void MpiCommunicator::barrier()
{
    requests_.assign(1, MPI_REQUEST_NULL);
    check_mpi(MPI_Ibarrier(communicator_, requests_.data()), "MPI_Ibarrier");
    wait("MPI_Ibarrier");
}

std::optional<std::size_t> MpiCommunicator::fixed_slots(const CollectiveWork& /*work*/) const
{
    return std::nullopt;
}

void MpiCommunicator::plan(const CollectiveWork& work)
{
    if (work.size.value() / static_cast<std::uint64_t>(element_bytes(work.type)) >
        std::numeric_limits<int>::max())
        throw MeasureFailure{FailureKind::refused, "MPI counts elements up to 2^31",
                             "time smaller sizes or a larger type"};
}

void MpiCommunicator::collective(const CollectiveWork& work, std::size_t slot)
{
    const OpBuffers here = buffers(slot);
    const MPI_Datatype type = MpiTypes::datatype(work.type);
    const int count = elements(work.size.value(), work.type);
    const int share = count / place().ranks;
    const bool in_place = work.buffers == Buffers::in_place;
    const bool root = place().rank == work.root;
    const void* input = in_place ? MPI_IN_PLACE : here.input.data();
    void* output = here.output.data();
    const MPI_Op sum = types_->sum(work.type);
    const MPI_Comm all = communicator_;
    switch (work.collective) {
    case CollectiveKind::all_reduce:
        return check_mpi(MPI_Allreduce(input, output, count, type, sum, all), "MPI_Allreduce");
    case CollectiveKind::all_gather:
        return check_mpi(MPI_Allgather(input, share, type, output, share, type, all),
                         "MPI_Allgather");
    case CollectiveKind::reduce_scatter:
        return check_mpi(MPI_Reduce_scatter_block(input, output, share, type, sum, all),
                         "MPI_Reduce_scatter_block");
    case CollectiveKind::all_to_all:
        return check_mpi(MPI_Alltoall(input, share, type, output, share, type, all),
                         "MPI_Alltoall");
    case CollectiveKind::broadcast: // has one buffer: the root sends its input
        return check_mpi(MPI_Bcast(root ? here.input.data() : output, count, type, work.root, all),
                         "MPI_Bcast");
    case CollectiveKind::reduce: // in place is the root's affair
        return check_mpi(
            MPI_Reduce(root ? input : here.input.data(), output, count, type, sum, work.root, all),
            "MPI_Reduce");
    case CollectiveKind::barrier:
        return check_mpi(MPI_Barrier(all), "MPI_Barrier");
    case CollectiveKind::send_receive:
        break;
    }
    throw MeasureFailure{FailureKind::refused, "no collective of MPI", ""};
}

void MpiCommunicator::exchange(std::byte* memory, std::span<const Transfer> transfers)
{
    requests_.clear();
    for (const Transfer& transfer : transfers) {
        if (transfer.bytes > std::numeric_limits<int>::max() || transfer.index > largest_tag_)
            throw MeasureFailure{FailureKind::refused, "more bytes or messages than MPI counts",
                                 "time smaller sizes"};
        std::byte* at = memory + transfer.offset;
        const int count = static_cast<int>(transfer.bytes);
        MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
        if (transfer.way == Transfer::Way::send)
            check_mpi(MPI_Isend(at, count, MPI_BYTE, transfer.peer, transfer.index, communicator_,
                                &request),
                      "MPI_Isend");
        else
            check_mpi(MPI_Irecv(at, count, MPI_BYTE, transfer.peer, transfer.index, communicator_,
                                &request),
                      "MPI_Irecv");
    }
    wait("a message of MPI");
}

// Waits look for themselves; a blocking collective of MPI cannot be called back.
void MpiCommunicator::wake() noexcept {}

MeasureFailure MpiCommunicator::failure(const std::exception& error) const
{
    return {FailureKind::broken, fmt::format("MPI: {}", error.what()), ""};
}

} // namespace trainyard
