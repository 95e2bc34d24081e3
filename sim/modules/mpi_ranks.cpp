// Ranks over MPI. Its own handling of errors stays: whatever fails ends all ranks.

#include "sim/study/ranks/ranks_module.h"

#include <mpi.h>

namespace {

int start(int* rank, int* ranks, int* ranks_of_this_host)
{
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, ranks);
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, ranks_of_this_host);
    MPI_Comm_free(&host);
    return provided < MPI_THREAD_SERIALIZED ? 1 : 0;
}

void send(int to, int tag, const void* bytes, std::size_t size)
{
    MPI_Send(bytes, static_cast<int>(size), MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

long long waiting(int from, int tag)
{
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &status);
    if (there == 0)
        return -1;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    return size;
}

void receive(int from, int tag, void* bytes, std::size_t size)
{
    MPI_Recv(bytes, static_cast<int>(size), MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void finish()
{
    MPI_Finalize();
}

void abort_all(int exit_code)
{
    MPI_Abort(MPI_COMM_WORLD, exit_code);
}

} // namespace

extern "C" [[gnu::visibility("default")]] const trainyard_ranks* trainyard_ranks_1()
{
    static const trainyard_ranks table{start, send, waiting, receive, finish, abort_all};
    return &table;
}
