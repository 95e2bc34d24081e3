#pragma once

// cuBLASLt, opened at run time: it is half a gigabyte, and machines with Python's wheels keep it
// where no linker looks.

#include <cublasLt.h>

#include <string>

namespace trainyard {

struct CublasLt {
    decltype(&cublasLtCreate) create = nullptr;
    decltype(&cublasLtGetStatusName) status_name = nullptr;
    decltype(&cublasLtMatmul) matmul = nullptr;
    decltype(&cublasLtMatmulDescCreate) matmul_desc_create = nullptr;
    decltype(&cublasLtMatmulDescDestroy) matmul_desc_destroy = nullptr;
    decltype(&cublasLtMatmulDescSetAttribute) matmul_desc_set = nullptr;
    decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
    decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
    decltype(&cublasLtMatrixLayoutSetAttribute) layout_set = nullptr;
    decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
    decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
    decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
    decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;

    cublasLtHandle_t handle = nullptr; // of the device in use; lives as long as the process
    std::string path;
};

// On the device in use. Throws MeasureFailure (missing). TRAINYARD_CUBLASLT_LIBRARY names a file.
CublasLt open_cublas_lt();

} // namespace trainyard
