#include "calibrate/backends/cuda/cublas_lt.h"

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/nccl/shared_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainyard {

namespace {

constexpr const char* variable = "TRAINYARD_CUBLASLT_LIBRARY";

} // namespace

CublasLt open_cublas_lt()
{
    const OpenedLibrary library = open_library({.names = {"libcublasLt.so.13", "libcublasLt.so.12"},
                                                .variable = variable,
                                                .roots = usual_library_roots()});
    const std::string fix =
        fmt::format("install cuBLAS (package libcublas, or pip install nvidia-cublas), or name "
                    "libcublasLt's file in {}",
                    variable);
    if (!library.handle)
        throw MeasureFailure{
            FailureKind::missing,
            fmt::format("cuBLASLt cannot be opened: {}", fmt::join(library.tried, "; ")), fix};
    CublasLt lt;
    lt.path = library.path;
    std::vector<std::string> missing;
    const auto need = [&](const char* name, auto& function) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
            library_symbol(library, name));
        if (!function)
            missing.emplace_back(name);
    };
    need("cublasLtCreate", lt.create);
    need("cublasLtGetStatusName", lt.status_name);
    need("cublasLtMatmul", lt.matmul);
    need("cublasLtMatmulDescCreate", lt.matmul_desc_create);
    need("cublasLtMatmulDescDestroy", lt.matmul_desc_destroy);
    need("cublasLtMatmulDescSetAttribute", lt.matmul_desc_set);
    need("cublasLtMatrixLayoutCreate", lt.layout_create);
    need("cublasLtMatrixLayoutDestroy", lt.layout_destroy);
    need("cublasLtMatrixLayoutSetAttribute", lt.layout_set);
    need("cublasLtMatmulPreferenceCreate", lt.preference_create);
    need("cublasLtMatmulPreferenceDestroy", lt.preference_destroy);
    need("cublasLtMatmulPreferenceSetAttribute", lt.preference_set);
    need("cublasLtMatmulAlgoGetHeuristic", lt.heuristic);
    if (!missing.empty())
        throw MeasureFailure{FailureKind::missing,
                             fmt::format("{} lacks {}", lt.path, fmt::join(missing, ", ")), fix};
    if (const cublasStatus_t status = lt.create(&lt.handle); status != CUBLAS_STATUS_SUCCESS)
        throw MeasureFailure{FailureKind::missing,
                             fmt::format("{}: {}", lt.path, lt.status_name(status)), fix};
    return lt;
}

} // namespace trainyard
