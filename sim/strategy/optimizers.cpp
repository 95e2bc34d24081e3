#include "sim/strategy/optimizers.h"

#include "sim/strategy/misfits.h"
#include "sim/strategy/rank_layout.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace trainyard {

namespace {

constexpr double fp32 = 4; // bytes
constexpr int iterations = 5;

// In fp32 Adam reads parameter, gradient and two moments and writes three of them: 28 bytes.
constexpr double adam_traffic = 28;
// Momentum SGD: one moment less.
constexpr double sgd_traffic = 20;
// Adafactor reads the gradient for the sums, for the norm of the update and for the update, and
// reads and writes the parameter.
constexpr double adafactor_traffic = 20;
// Muon reads gradient and momentum, writes the momentum and a 16-bit matrix, reads that back
// orthogonalised, and reads and writes the parameter.
constexpr double muon_traffic = 24;

struct PerParameter {
    double state = 0; // bytes
    double traffic = 0;
};

bool orthogonalised(const ParameterTensor& tensor, const LayerKind& kind)
{
    return tensor.matrix && tensor.rows > 1 && tensor.columns > 1 &&
           (kind.role == LayerKind::Role::dense || kind.role == LayerKind::Role::moe);
}

PerParameter of_tensor(Optimizer optimizer, const ParameterTensor& tensor, const LayerKind& kind,
                       const HeldMatrices& held)
{
    const double matrix = held.rows * held.columns;
    if (optimizer == Optimizer::adafactor)
        return {matrix > 0 ? fp32 * (held.rows + held.columns) / matrix : fp32, adafactor_traffic};
    if (optimizer == Optimizer::muon && orthogonalised(tensor, kind))
        return {fp32, muon_traffic};
    return {2 * fp32, adam_traffic};
}

std::vector<ParameterTensor> trained_tensors(const Job& job, const LayerKind& kind)
{
    const auto& model = std::get<Transformer>(job.model.architecture);
    return job.training.lora ? adapter_tensors(model, kind, *job.training.lora)
                             : parameter_tensors(model, kind);
}

// Optimizers that treat all parameters alike.
std::optional<PerParameter> of_any(Optimizer optimizer)
{
    if (optimizer == Optimizer::adam)
        return PerParameter{2 * fp32, adam_traffic};
    if (optimizer == Optimizer::sgd)
        return PerParameter{fp32, sgd_traffic};
    return std::nullopt;
}

double master_copy(const Training& training)
{
    return storage_bytes(training.precision) == 4 ? 0 : fp32;
}

Kernel product(const GemmShape& shape)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.name = "newton_schulz";
    kernel.precision = Precision::bf16;
    kernel.gemm = shape;
    kernel.bytes = Bytes(static_cast<std::uint64_t>(
        2 * shape.batch * (shape.m * shape.k + shape.k * shape.n + shape.m * shape.n)));
    return kernel;
}

} // namespace

// `trained` may hold more than the layer's own tensors (a copy of the embedding): that is updated
// as Adam does.
OptimizerShare optimizer_share(const Job& job, const LayerKind& kind,
                               const LayerParameters& trained)
{
    const double master = master_copy(job.training);
    OptimizerShare out;
    LayerParameters left = trained;
    const auto add = [&](double LayerParameters::*part, double elements, const PerParameter& per) {
        out.state.*part += (master + per.state) * elements;
        out.adam_equivalent.*part += per.traffic / adam_traffic * elements;
        left.*part -= elements;
    };
    if (const auto alike = of_any(job.training.optimizer)) {
        add(&LayerParameters::dense, trained.dense, *alike);
        add(&LayerParameters::expert, trained.expert, *alike);
        return out;
    }
    const auto& model = std::get<Transformer>(job.model.architecture);
    const Partition partition = partition_of(job);
    for (const ParameterTensor& tensor : trained_tensors(job, kind))
        add(tensor.cut == Cut::experts ? &LayerParameters::expert : &LayerParameters::dense,
            held_elements(tensor, model, partition),
            of_tensor(job.training.optimizer, tensor, kind,
                      held_matrices(tensor, model, partition)));
    if (left.dense > 0)
        add(&LayerParameters::dense, left.dense, {2 * fp32, adam_traffic});
    return out;
}

WorkList newton_schulz(const Job& job, const std::vector<LayerKind>& layers)
{
    if (job.training.optimizer != Optimizer::muon)
        return {};
    const auto& model = std::get<Transformer>(job.model.architecture);
    const Partition partition = partition_of(job);
    const RankLayout layout(job);
    std::map<std::tuple<std::int64_t, std::int64_t, bool>, double> matrices; // by m, n, of experts
    for (const LayerKind& kind : layers)
        for (const ParameterTensor& tensor : trained_tensors(job, kind)) {
            if (!orthogonalised(tensor, kind))
                continue;
            const HeldMatrices held = held_matrices(tensor, model, partition);
            const auto [m, n] = std::minmax(held.rows, held.columns);
            matrices[{std::llround(m), std::llround(n), tensor.cut == Cut::experts}] += held.copies;
        }
    WorkList work;
    for (const auto& [shape, copies] : matrices) {
        const auto& [m, n, expert] = shape;
        const int ranks =
            job.strategy.zero == 0 ? 1 : layout.group_size(expert ? GroupKind::edp : GroupKind::dp);
        const auto count = static_cast<std::int64_t>(std::ceil(copies / ranks));
        for (int i = 0; i < iterations; ++i)
            for (const GemmShape& gemm :
                 {GemmShape{m, m, n, count}, GemmShape{m, m, m, count}, GemmShape{m, n, m, count}})
                work.push_back(product(gemm));
    }
    return work;
}

Problems optimizer_misfits(const Job& job)
{
    constexpr const char* pointer = "/training/optimizer";
    const Optimizer optimizer = job.training.optimizer;
    const bool shaped = optimizer == Optimizer::adafactor || optimizer == Optimizer::muon;
    if (shaped && !job.model.is_transformer())
        return {refusal(pointer, "a list of layers gives no shapes of its matrices",
                        "optimizers that work here: adam, sgd")};
    if (optimizer == Optimizer::adafactor && (job.strategy.zero == 1 || job.strategy.zero == 2))
        return {refusal(pointer,
                        "the distributed optimizer cuts parameters into flat pieces, which have no "
                        "rows and columns to factor",
                        "use zero 0 or 3, or adam")};
    if (optimizer == Optimizer::muon && job.strategy.zero >= 2)
        return {refusal(pointer,
                        "Newton-Schulz iterations need whole matrices, and ZeRO shards them",
                        "use zero 0 or 1 (whole matrices dealt out to ranks)")};
    return {};
}

} // namespace trainyard
