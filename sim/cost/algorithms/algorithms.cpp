#include "sim/cost/algorithms/direct.h"
#include "sim/cost/algorithms/nvls.h"
#include "sim/cost/algorithms/ring.h"
#include "sim/cost/algorithms/sharp.h"
#include "sim/cost/algorithms/tree.h"

namespace trainyard {

std::span<const Algorithm* const> all_algorithms()
{
    using namespace algorithms;
    static constexpr std::array all{&ring, &tree, &nvls, &sharp, &direct};
    return all;
}

std::vector<std::pair<std::string_view, const Algorithm*>> nccl_algorithm_words()
{
    std::vector<std::pair<std::string_view, const Algorithm*>> words;
    for (const Algorithm* algorithm : all_algorithms())
        for (const std::string_view word : algorithm->nccl_words)
            if (!word.empty())
                words.emplace_back(word, algorithm);
    words.emplace_back("PAT", nullptr);
    return words;
}

} // namespace trainyard
