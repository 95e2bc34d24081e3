#include "sim/strategy/data/data_misfits.h"

#include "sim/strategy/data/loader_rates.h"

#include <fmt/core.h>

namespace trainyard {

Problems data_misfits(const Job& job)
{
    Problems problems;
    if (!job.data)
        return problems;
    const DataLoading& loading = job.data->loading;
    const DataFormat format = format_of(job);
    if ((format == DataFormat::tokens) != job.model.is_transformer())
        problems.push_back(
            refusal("/data/format",
                    fmt::format("\"{}\" is no input of \"{}\"", to_name(format), job.model.name),
                    job.model.is_transformer() ? "transformers read tokens here"
                                               : "formats that work here: raw, jpeg, packed"));
    const auto* layers = std::get_if<LayerList>(&job.model.architecture);
    if (layers != nullptr && layers->sample_elements == 0)
        problems.push_back(refusal(
            "/data", fmt::format("model \"{}\" does not say how large a sample is", job.model.name),
            "give its \"sample_elements\", e.g. 150528 for 224 x 224 x 3"));
    if (!loading.pinned && loading.copy != HostCopy::blocking)
        problems.push_back(
            refusal("/data/copy",
                    fmt::format("copy \"{}\" needs page-locked memory", to_name(loading.copy)),
                    "set data.pinned to true, or data.copy to blocking"));
    const bool decodes = format == DataFormat::jpeg || format == DataFormat::packed;
    if (decodes && !loading.decode_rate && !(job.data->host.decode.at(loading.decoder) > 0))
        problems.push_back(refusal("/data/decoder",
                                   fmt::format("how fast {} decodes on {} is not known",
                                               to_name(loading.decoder), loading.host),
                                   "give data.decode_rate"));
    return problems;
}

} // namespace trainyard
