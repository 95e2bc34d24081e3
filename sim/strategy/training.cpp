#include "sim/strategy/training.h"

#include "sim/base/fields.h"

namespace trainyard {

template <>
std::vector<EnumName<Optimizer>> enum_names<Optimizer>()
{
    return {{Optimizer::adam, "adam"},
            {Optimizer::sgd, "sgd"},
            {Optimizer::adafactor, "adafactor"},
            {Optimizer::muon, "muon"}};
}

template <>
const FieldTable<Training>& fields_of<Training>()
{
    static const auto table =
        FieldTable<Training>("training", "What is trained per step.")
            .field("sequence_length", &Training::sequence_length,
                   {.help = "tokens per sequence; of no effect on a list of layers",
                    .min = 1,
                    .max = 1e9})
            .field("global_batch", &Training::global_batch,
                   {.help = "sequences (samples) per step over all ranks",
                    .min = 1,
                    .max = 1e12,
                    .required = true})
            .field("micro_batch", &Training::micro_batch,
                   {.help = "sequences (samples) per forward pass of one replica",
                    .min = 1,
                    .max = 1e6})
            .field("precision", &Training::precision, {.help = "number format of most GEMMs"})
            .field("optimizer", &Training::optimizer,
                   {.help =
                        "adam keeps two moments per parameter, sgd one momentum, adafactor sums "
                        "over rows and columns, muon one momentum of matrices"})
            .field("recompute", &Training::recompute,
                   {.help = "activations computed again in backward: none, parts of each layer "
                            "(selective: recompute_modules), or whole layers (full)"})
            .field(
                "recompute_layers", &Training::recompute_layers,
                {.help = "with full: layers recomputed on each device; all when absent", .min = 0})
            .field("recompute_modules", &Training::recompute_modules,
                   {.help = "with selective: what of each layer is computed again; the attention "
                            "core when absent"})
            .field("fp32_gradients", &Training::fp32_gradients,
                   {.help = "accumulate and reduce gradients in fp32; else as the framework does"})
            .field("lora", &Training::lora,
                   {.help = "train low-rank adapters of a frozen model; absent: the model itself"})
            .field("packing", &Training::packing,
                   {.help = "documents that share a sequence; absent: each sequence is one"})
            .field("formats", &Training::formats, {.help = "where a narrow number format is used"});
    return table;
}

} // namespace trainyard
