#include "sim/strategy/packing.h"

#include "sim/base/fields.h"
#include "sim/strategy/misfits.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace trainyard {

std::vector<std::int64_t> documents_of(const Packing& packing, std::int64_t sequence_length)
{
    if (!packing.documents.empty())
        return packing.documents;
    std::vector<std::int64_t> lengths;
    for (std::int64_t left = sequence_length; left > 0; left -= packing.document_length)
        lengths.push_back(std::min(left, packing.document_length));
    return lengths;
}

template <>
const FieldTable<Packing>& fields_of<Packing>()
{
    static const auto table =
        FieldTable<Packing>("packing", "Documents that fill a sequence; a token sees its own only.")
            .field("document_length", &Packing::document_length,
                   {.help = "tokens of each document, the last but what is left; 0: as documents "
                            "says",
                    .min = 0,
                    .max = 1e9})
            .field("documents", &Packing::documents,
                   {.help = "tokens of each document; together those of the sequence"});
    return table;
}

Problems packing_misfits(const Job& job)
{
    if (!job.training.packing)
        return {};
    const Packing& packing = *job.training.packing;
    const std::int64_t length = job.training.sequence_length;
    const auto refuse = [](const char* member, std::string message, std::string hint) {
        return Problems{refusal(fmt::format("/training/packing{}", member), std::move(message),
                                std::move(hint))};
    };
    const auto* model = std::get_if<Transformer>(&job.model.architecture);
    if (model == nullptr)
        return refuse("", "a list of layers has no sequences to pack", "leave it out");
    if (packing.documents.empty() == (packing.document_length == 0))
        return refuse("", "documents are given by their length or by a list of lengths",
                      "give document_length or documents");
    if (std::ranges::any_of(packing.documents, [](std::int64_t d) { return d < 1; }))
        return refuse("/documents", "a document without tokens", "at least 1 each");
    const std::int64_t sum =
        std::accumulate(packing.documents.begin(), packing.documents.end(), std::int64_t{0});
    if (!packing.documents.empty() && sum != length)
        return refuse("/documents",
                      fmt::format("documents of {} tokens in a sequence of {}", sum, length),
                      fmt::format("lengths that add up to {}", length));
    if (packing.document_length > length)
        return refuse("/document_length",
                      fmt::format("documents of {} tokens in sequences of {}",
                                  packing.document_length, length),
                      fmt::format("at most {}", length));
    return {};
}

} // namespace trainyard
