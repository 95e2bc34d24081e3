#include "calibrate/import/read_pairs.h"

#include "calibrate/import/pair_text.h"

namespace trainyard {
namespace {

bool starts_with(std::string_view text, std::string_view any)
{
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    return start != std::string_view::npos && any.find(text[start]) != std::string_view::npos;
}

Checked<ImportedPairs> pairs_in(std::string_view text, const std::string& file)
{
    if (!starts_with(text, "{"))
        return read_pair_text(text);
    const Checked<Json> json = parse_json(text, file);
    if (!json)
        return tl::make_unexpected(json.error());
    return is_pairs(*json) ? read_pairs(*json) : read_nvbandwidth_json(*json);
}

} // namespace

Checked<ImportedPairs> read_pairs(std::string_view text, const std::string& file)
{
    Checked<ImportedPairs> pairs = pairs_in(text, file);
    if (!pairs)
        return pairs;
    if (pairs->matrices.empty()) {
        Problems problems;
        for (const std::string& flag : pairs->notes.flagged)
            problems.push_back({file, 0, "", flag, "", Severity::error});
        if (problems.empty())
            problems = problem_with(file, "no matrix of bandwidths or latencies was found",
                                    "wanted: output of nvbandwidth or p2pBandwidthLatencyTest");
        return tl::make_unexpected(std::move(problems));
    }
    for (const PairMatrix& matrix : pairs->matrices)
        add_note(pairs->notes.understood, describe(matrix));
    return pairs;
}

} // namespace trainyard
