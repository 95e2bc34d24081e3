#include "calibrate/backends/cuda/kernels.h"
#include "calibrate/backends/cuda/plans.h"
#include "calibrate/measure/nccl/collective_layout.h"
#include "calibrate/measure/nccl/device_arena.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

namespace trainyard {

namespace {

constexpr std::size_t workspace_bytes = std::size_t{32} << 20; // what frameworks give on Hopper
constexpr int candidates = 6;                                  // of the heuristics
constexpr int trial_launches = 3;
constexpr int checked_elements = 4096;

cudaDataType_t data_type(ElementType type)
{
    switch (type) {
    case ElementType::float16:
        return CUDA_R_16F;
    case ElementType::bfloat16:
        return CUDA_R_16BF;
    case ElementType::float8_e4m3:
        return CUDA_R_8F_E4M3;
    default:
        return CUDA_R_32F;
    }
}

ElementType result_type(ElementType type)
{
    return type == ElementType::float8_e4m3 ? ElementType::bfloat16 : type;
}

// cuBLASLt's matrices lie by columns: row-major c = a x b' is column-major c' = b x a', so that its
// first operand is our b, transposed, and its second our a.
class GemmPlan : public DevicePlan {
public:
    GemmPlan(CudaRuntime& cuda, const CublasLt& lt, const LocalWork& work)
        : cuda_(cuda),
          lt_(lt),
          work_(work),
          element_(static_cast<std::uint64_t>(element_bytes(work.type)))
    {
        describe_operands();
        if (work.type == ElementType::float8_e4m3)
            give_scales();
        workspace_ = require(cuda_, cuda_.allocate(Bytes(workspace_bytes)),
                             "allocating cuBLASLt's workspace");
        choose_algorithm();
    }

    ~GemmPlan() override
    {
        for (const cublasLtMatrixLayout_t layout : {a_, b_, c_})
            if (layout)
                lt_.layout_destroy(layout);
        if (matmul_)
            lt_.matmul_desc_destroy(matmul_);
        cudaFree(workspace_);
        cudaFree(scale_);
    }

    Bytes slot() const override { return Bytes(c_at() + result_bytes()); }

    CudaCode launch(std::byte* slot, CudaStream stream) override
    {
        return launch(slot, stream, algorithm_) == CUBLAS_STATUS_SUCCESS ? CudaCode::success
                                                                         : CudaCode::launch_failure;
    }

    CudaResult<std::optional<std::int64_t>> wrong(std::byte* slot, CudaStream stream) override
    {
        const GemmOperands operands{slot,    slot + b_at(), slot + c_at(), work_.m,
                                    work_.n, work_.k,       work_.batch,   work_.type};
        const CudaResult<std::int64_t> count = counted(stream, [&](unsigned long long* counter) {
            return queue_check_gemm(operands, checked_elements, counter, stream);
        });
        return count.map([](std::int64_t found) { return std::optional(found); });
    }

private:
    std::uint64_t bytes(std::int64_t rows, std::int64_t columns) const
    {
        return static_cast<std::uint64_t>(work_.batch * rows * columns) * element_;
    }
    std::uint64_t b_at() const { return aligned(bytes(work_.m, work_.k)); }
    std::uint64_t c_at() const { return b_at() + aligned(bytes(work_.n, work_.k)); }

    void require_lt(cublasStatus_t status, const char* doing) const
    {
        if (status != CUBLAS_STATUS_SUCCESS)
            throw MeasureFailure{FailureKind::refused,
                                 fmt::format("cuBLASLt, {} for {}: {}", doing,
                                             trainyard::describe(TimedWork(work_)),
                                             lt_.status_name(status)),
                                 "leave this shape out"};
    }

    std::uint64_t result_bytes() const
    {
        return static_cast<std::uint64_t>(work_.batch * work_.m * work_.n) *
               static_cast<std::uint64_t>(element_bytes(result_type(work_.type)));
    }

    cublasLtMatrixLayout_t layout(ElementType type, std::int64_t rows, std::int64_t columns) const
    {
        cublasLtMatrixLayout_t made = nullptr;
        require_lt(lt_.layout_create(&made, data_type(type), static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns), rows),
                   "describing a matrix");
        const auto count = static_cast<std::int32_t>(work_.batch);
        const std::int64_t stride = rows * columns;
        lt_.layout_set(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count));
        lt_.layout_set(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride));
        return made;
    }

    void describe_operands()
    {
        require_lt(lt_.matmul_desc_create(&matmul_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                   "describing the product");
        const cublasOperation_t transposed = CUBLAS_OP_T;
        require_lt(lt_.matmul_desc_set(matmul_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                       sizeof(transposed)),
                   "describing the product");
        a_ = layout(work_.type, work_.k, work_.m);
        b_ = layout(work_.type, work_.k, work_.n);
        c_ = layout(result_type(work_.type), work_.n, work_.m);
    }

    // One for both operands: the float that cuBLASLt multiplies with.
    void give_scales()
    {
        const float one = 1;
        scale_ = require(cuda_, cuda_.allocate(Bytes(sizeof(one))), "allocating a scale");
        require(cuda_, code_of(cudaMemcpy(scale_, &one, sizeof(one), cudaMemcpyHostToDevice)),
                "writing a scale");
        const void* const pointer = scale_;
        for (const cublasLtMatmulDescAttributes_t which :
             {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER})
            require_lt(lt_.matmul_desc_set(matmul_, which, &pointer, sizeof(pointer)),
                       "giving the scales");
    }

    cublasStatus_t launch(std::byte* slot, CudaStream stream,
                          const cublasLtMatmulAlgo_t& algorithm) const
    {
        const float one = 1;
        const float zero = 0;
        std::byte* c = slot + c_at();
        return lt_.matmul(lt_.handle, matmul_, &one, slot + b_at(), b_, slot, a_, &zero, c, c_, c,
                          c_, &algorithm, workspace_, workspace_bytes, stream);
    }

    std::vector<cublasLtMatmulAlgo_t> proposed() const
    {
        cublasLtMatmulPreference_t preference = nullptr;
        require_lt(lt_.preference_create(&preference), "asking for algorithms");
        lt_.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                           sizeof(workspace_bytes));
        std::array<cublasLtMatmulHeuristicResult_t, candidates> results{};
        int found = 0;
        const cublasStatus_t status = lt_.heuristic(lt_.handle, matmul_, b_, a_, c_, c_, preference,
                                                    candidates, results.data(), &found);
        lt_.preference_destroy(preference);
        require_lt(status, "asking for algorithms");
        std::vector<cublasLtMatmulAlgo_t> algorithms;
        for (int i = 0; i < found; ++i)
            if (results[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS)
                algorithms.push_back(results[static_cast<std::size_t>(i)].algo);
        if (algorithms.empty())
            require_lt(CUBLAS_STATUS_NOT_SUPPORTED, "asking for algorithms");
        return algorithms;
    }

    void choose_algorithm()
    {
        const std::vector<cublasLtMatmulAlgo_t> algorithms = proposed();
        algorithm_ = algorithms.front();
        if (algorithms.size() == 1)
            return;
        DeviceArena arena(cuda_, slot(), Bytes(0));
        const CudaStream stream = require(cuda_, cuda_.make_stream(), "making a stream");
        arena.fill_random(work_.type, stream);
        Seconds best(std::numeric_limits<double>::infinity());
        for (const cublasLtMatmulAlgo_t& algorithm : algorithms)
            if (const Seconds time = trial(algorithm, arena, stream); time < best) {
                best = time;
                algorithm_ = algorithm;
            }
        require(cuda_, cuda_.destroy(stream), "freeing a stream");
    }

    // Infinite where the algorithm does not run.
    Seconds trial(const cublasLtMatmulAlgo_t& algorithm, const DeviceArena& arena,
                  CudaStream stream)
    {
        const CudaEvent begin = require(cuda_, cuda_.make_event(), "making an event");
        const CudaEvent end = require(cuda_, cuda_.make_event(), "making an event");
        Seconds time(std::numeric_limits<double>::infinity());
        bool runs = launch(arena.slot(0), stream, algorithm) == CUBLAS_STATUS_SUCCESS;
        require(cuda_, cuda_.record(begin, stream), "recording an event");
        for (int i = 0; runs && i < trial_launches; ++i)
            runs = launch(arena.slot(static_cast<std::uint64_t>(i)), stream, algorithm) ==
                   CUBLAS_STATUS_SUCCESS;
        require(cuda_, cuda_.record(end, stream), "recording an event");
        require(cuda_, cuda_.synchronize(stream), "trying an algorithm");
        if (runs)
            time = require(cuda_, cuda_.elapsed(begin, end), "reading the time");
        require(cuda_, cuda_.destroy(begin), "freeing an event");
        require(cuda_, cuda_.destroy(end), "freeing an event");
        return time;
    }

    CudaRuntime& cuda_;
    const CublasLt& lt_;
    LocalWork work_;
    std::uint64_t element_;
    cublasLtMatmulDesc_t matmul_ = nullptr;
    cublasLtMatrixLayout_t a_ = nullptr;
    cublasLtMatrixLayout_t b_ = nullptr;
    cublasLtMatrixLayout_t c_ = nullptr;
    std::byte* workspace_ = nullptr;
    std::byte* scale_ = nullptr; // of 8-bit operands
    cublasLtMatmulAlgo_t algorithm_{};
};

} // namespace

std::unique_ptr<DevicePlan> make_gemm_plan(CudaRuntime& cuda, const CublasLt& lt,
                                           const LocalWork& work)
{
    return std::make_unique<GemmPlan>(cuda, lt, work);
}

} // namespace trainyard
