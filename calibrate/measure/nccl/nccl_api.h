#pragma once

// NCCL's C interface as far as measuring needs it: a table of functions that is filled from the
// library at run time, or by a simulation. Declarations as in nccl.h, whose interface only grows.

#include "calibrate/measure/nccl/cuda_api.h"

#include <climits>

struct ncclComm;

namespace trainyard {

enum class NcclResult : int {
    success = 0,
    unhandled_cuda_error = 1,
    system_error = 2,
    internal_error = 3,
    invalid_argument = 4,
    invalid_usage = 5,
    remote_error = 6,
    in_progress = 7
};

enum class NcclType : int { uint8 = 1, float16 = 6, float32 = 7, bfloat16 = 9 };
enum class NcclOperator : int { sum = 0 };

using NcclComm = ::ncclComm*;

struct NcclId {
    char bytes[128];
};

// The oldest form of ncclConfig_t (2.14). A library takes the defaults for what came later, going
// by `size` and `version`.
struct NcclConfig {
    std::size_t size = sizeof(NcclConfig);
    unsigned magic = 0xcafebeef;
    unsigned version = 21400;
    int blocking = 1;
    int undefined = INT_MIN; // fills the structure's tail
};

struct NcclApi {
    NcclResult (*get_version)(int* version) = nullptr;
    NcclResult (*get_unique_id)(NcclId* id) = nullptr;
    NcclResult (*comm_init_rank_config)(NcclComm* comm, int ranks, NcclId id, int rank,
                                        NcclConfig* config) = nullptr;
    NcclResult (*comm_destroy)(NcclComm comm) = nullptr;
    NcclResult (*comm_abort)(NcclComm comm) = nullptr;
    NcclResult (*comm_get_async_error)(NcclComm comm, NcclResult* error) = nullptr;
    const char* (*get_error_string)(NcclResult result) = nullptr;
    const char* (*get_last_error)(NcclComm comm) = nullptr;

    NcclResult (*all_reduce)(const void* send, void* receive, std::size_t count, NcclType type,
                             NcclOperator op, NcclComm comm, CudaStream stream) = nullptr;
    NcclResult (*all_gather)(const void* send, void* receive, std::size_t send_count, NcclType type,
                             NcclComm comm, CudaStream stream) = nullptr;
    NcclResult (*reduce_scatter)(const void* send, void* receive, std::size_t receive_count,
                                 NcclType type, NcclOperator op, NcclComm comm,
                                 CudaStream stream) = nullptr;
    NcclResult (*broadcast)(const void* send, void* receive, std::size_t count, NcclType type,
                            int root, NcclComm comm, CudaStream stream) = nullptr;
    NcclResult (*reduce)(const void* send, void* receive, std::size_t count, NcclType type,
                         NcclOperator op, int root, NcclComm comm, CudaStream stream) = nullptr;
    NcclResult (*send)(const void* data, std::size_t count, NcclType type, int peer, NcclComm comm,
                       CudaStream stream) = nullptr;
    NcclResult (*receive)(void* data, std::size_t count, NcclType type, int peer, NcclComm comm,
                          CudaStream stream) = nullptr;
    NcclResult (*group_start)() = nullptr;
    NcclResult (*group_end)() = nullptr;

    // Since 2.28; null: made of grouped messages.
    NcclResult (*all_to_all)(const void* send, void* receive, std::size_t count, NcclType type,
                             NcclComm comm, CudaStream stream) = nullptr;

    // setenv and unsetenv (`value` null) of this process: how an algorithm is forced.
    void (*set_variable)(const char* name, const char* value) = nullptr;
};

// The oldest NCCL that is used: 2.18 (2023) is what PyTorch 2.1 came with.
inline constexpr int oldest_nccl = 21800;

// "2.28.9" of 22809.
std::string nccl_version_text(int version);

struct NcclLibrary {
    NcclApi api;
    int version = 0;
    std::string path; // where it was found
};

// Opens libnccl.so.2: what TRAINYARD_NCCL_LIBRARY names and nothing else if it is set; else the one
// that the dynamic linker finds, else those of CUDA and of Python wheels. It stays open. Throws
// MeasureFailure (missing) with every place that was tried, also for one that is too old or lacks a
// function.
NcclLibrary open_nccl();

} // namespace trainyard
