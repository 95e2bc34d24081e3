#include "calibrate/measure/discover/matrix_study.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr double most_slow = 0.25; // of pairs whose classes are not known

bool is_square(const PairMatrix& matrix)
{
    return std::all_of(matrix.values.begin(), matrix.values.end(),
                       [&](const auto& row) { return row.size() == matrix.values.size(); });
}

PairStudy study_of(const PairMatrix& matrix, const Words& classes)
{
    PairStudy out;
    out.rates = matrix.values;
    const std::size_t count = matrix.values.size();
    for (std::size_t i = 0; i < count; ++i) {
        out.names.push_back(fmt::format("GPU {}", i));
        out.rates[i][i].reset(); // a copy within one GPU is another thing
    }
    out.classes = classes.size() == count
                      ? classes
                      : Words(count, std::vector<std::string>(count, "measured"));
    return out;
}

std::size_t pairs_of(const PairStudy& study)
{
    std::size_t out = 0;
    for (const auto& row : study.rates)
        out += static_cast<std::size_t>(
            std::count_if(row.begin(), row.end(), [](const auto& rate) { return rate; }));
    return out;
}

} // namespace

MatrixVerdicts judge(const PairMatrix& matrix, const Words& classes)
{
    if (matrix.quantity != PairQuantity::bandwidth)
        return {{}, "links are judged by bandwidth, not by latency"};
    if (matrix.rows != "GPU" || !is_square(matrix))
        return {{}, "only pairs of GPUs are judged"};
    const PairStudy study = study_of(matrix, classes);
    MatrixVerdicts out{verdicts(study), {}};
    if (classes.size() == matrix.values.size())
        return out;
    std::size_t slow = 0;
    for (const SlowVerdict& verdict : out.verdicts.slow)
        slow += verdict.pairs.size();
    if (static_cast<double>(slow) > most_slow * static_cast<double>(pairs_of(study)))
        return {{},
                "the pairs are joined in several ways; the node's nvidia-smi topo -m tells which "
                "are alike"};
    return out;
}

std::string shortfall_text(const SlowVerdict& verdict)
{
    return fmt::format("{:.0f} % below the others of its kind", 100 * (1 - verdict.share));
}

} // namespace trainyard
