#include "calibrate/measure/nccl/nccl_api.h"

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/backend/shared_library.h"

#include <fmt/core.h>

#include <cstdlib>

namespace trainyard {

namespace {

constexpr const char* library_variable = "TRAINYARD_NCCL_LIBRARY";

void set_own_variable(const char* name, const char* value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

void fill(LibraryFunctions& functions, NcclApi& api)
{
    const auto need = [&](const char* name, auto& function) { functions.need(name, function); };
    need("ncclGetVersion", api.get_version);
    need("ncclGetUniqueId", api.get_unique_id);
    need("ncclCommInitRankConfig", api.comm_init_rank_config);
    need("ncclCommDestroy", api.comm_destroy);
    need("ncclCommAbort", api.comm_abort);
    need("ncclCommGetAsyncError", api.comm_get_async_error);
    need("ncclGetErrorString", api.get_error_string);
    need("ncclGetLastError", api.get_last_error);
    need("ncclAllReduce", api.all_reduce);
    need("ncclAllGather", api.all_gather);
    need("ncclReduceScatter", api.reduce_scatter);
    need("ncclBroadcast", api.broadcast);
    need("ncclReduce", api.reduce);
    need("ncclSend", api.send);
    need("ncclRecv", api.receive);
    need("ncclGroupStart", api.group_start);
    need("ncclGroupEnd", api.group_end);
    functions.take("ncclAlltoAll", api.all_to_all);
}

} // namespace

std::string nccl_version_text(int version)
{
    // 2.8 and older used one digit for the minor version.
    const int major = version >= 10000 ? version / 10000 : version / 1000;
    const int minor = version >= 10000 ? version / 100 % 100 : version / 100 % 10;
    return fmt::format("{}.{}.{}", major, minor, version % 100);
}

NcclLibrary open_nccl()
{
    const std::string newer = fmt::format(
        "install NCCL {} or newer (package libnccl2, or pip install nvidia-nccl-cu13), or name its "
        "file in {}",
        nccl_version_text(oldest_nccl), library_variable);
    OpenedLibrary library = open_library({.title = "NCCL",
                                          .names = {"libnccl.so.2"},
                                          .variable = library_variable,
                                          .roots = usual_library_roots(),
                                          .fix = newer});
    NcclLibrary nccl;
    nccl.path = library.path;
    fill(library.functions, nccl.api);
    if (nccl.api.get_version)
        nccl.api.get_version(&nccl.version);
    if (nccl.api.get_version && nccl.version < oldest_nccl)
        throw MeasureFailure{FailureKind::missing,
                             fmt::format("{} is NCCL {}, too old: {} is needed", nccl.path,
                                         nccl_version_text(nccl.version),
                                         nccl_version_text(oldest_nccl)),
                             newer};
    require_all(library, newer);
    nccl.api.set_variable = set_own_variable;
    return nccl;
}

} // namespace trainyard
