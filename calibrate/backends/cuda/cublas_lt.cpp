#include "calibrate/backends/cuda/cublas_lt.h"

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/backend/shared_library.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

constexpr const char* variable = "TRAINYARD_CUBLASLT_LIBRARY";

} // namespace

CublasLt open_cublas_lt()
{
    const std::string fix =
        fmt::format("install cuBLAS (package libcublas, or pip install nvidia-cublas), or name "
                    "libcublasLt's file in {}",
                    variable);
    OpenedLibrary library = open_library({.title = "cuBLASLt",
                                          .names = {"libcublasLt.so.13", "libcublasLt.so.12"},
                                          .variable = variable,
                                          .roots = usual_library_roots(),
                                          .fix = fix});
    CublasLt lt;
    lt.path = library.path;
    const auto need = [&](const char* name, auto& function) {
        library.functions.need(name, function);
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
    require_all(library, fix);
    if (const cublasStatus_t status = lt.create(&lt.handle); status != CUBLAS_STATUS_SUCCESS)
        throw MeasureFailure{FailureKind::missing,
                             fmt::format("{}: {}", lt.path, lt.status_name(status)), fix};
    return lt;
}

} // namespace trainyard
