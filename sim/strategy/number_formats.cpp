#include "sim/strategy/number_formats.h"

#include "sim/base/fields.h"
#include "sim/strategy/misfits.h"
#include "sim/workload/number_format.h"

#include <fmt/core.h>

namespace trainyard {

template <>
const FieldTable<NumberFormats>& fields_of<NumberFormats>()
{
    using N = NumberFormats;
    static const auto table =
        FieldTable<N>("formats", "Where a narrow number format is used.")
            .field("parameter_gather", &N::parameter_gather,
                   {.help = "layers' matrices are stored and gathered in the narrow format; else "
                            "as the framework does"})
            .field("first_wide_layers", &N::first_wide_layers,
                   {.help = "layers at the front whose products stay in 16 bit", .min = 0})
            .field("last_wide_layers", &N::last_wide_layers,
                   {.help = "layers at the back whose products stay in 16 bit", .min = 0});
    return table;
}

Problems format_misfits(const Job& job)
{
    const NumberFormats& formats = job.training.formats;
    const Precision precision = job.training.precision;
    Problems problems;
    const auto refuse = [&](const char* member, std::string message, std::string hint) {
        problems.push_back(refusal(fmt::format("/training/formats/{}", member), std::move(message),
                                   std::move(hint)));
    };
    const auto* model = std::get_if<Transformer>(&job.model.architecture);
    const int wide = formats.first_wide_layers + formats.last_wide_layers;
    if (wide > 0 && !is_narrow(precision))
        refuse(formats.first_wide_layers > 0 ? "first_wide_layers" : "last_wide_layers",
               fmt::format("{} has no narrower products to keep layers from", to_name(precision)),
               "leave it out, or choose fp8, fp8_block, mxfp8 or nvfp4");
    else if (wide > 0 && (model == nullptr || wide > model->layers))
        refuse("last_wide_layers",
               fmt::format("{} wide layers of {}", wide, model == nullptr ? 0 : model->layers),
               "at most the layers of a transformer");
    if (formats.parameter_gather == true && !gathers_parameters(precision))
        refuse("parameter_gather",
               fmt::format("parameters cannot be gathered in {}", to_name(precision)),
               "formats that can: fp8, mxfp8");
    return problems;
}

} // namespace trainyard
