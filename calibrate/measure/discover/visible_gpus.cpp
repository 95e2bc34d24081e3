#include "calibrate/measure/discover/visible_gpus.h"

#include "calibrate/import/log_text.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace trainyard {
namespace {

bool names_a_gpu(const std::string& word, int gpus)
{
    if (word.starts_with("GPU-") || word.starts_with("MIG-"))
        return true; // which UUIDs there are only CUDA knows
    const auto index = integer_in(word);
    return index && *index >= 0 && *index < gpus;
}

} // namespace

int visible_gpus(const std::string& variable, int gpus)
{
    std::istringstream words(variable);
    std::set<std::string> seen;
    for (std::string word; std::getline(words, word, ',');) {
        word = trimmed(word);
        if (!names_a_gpu(word, gpus) || !seen.insert(word).second)
            break;
    }
    return std::min(gpus, static_cast<int>(seen.size()));
}

} // namespace trainyard
