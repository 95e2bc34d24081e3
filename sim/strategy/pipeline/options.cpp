#include "sim/strategy/pipeline/options.h"

#include "sim/base/fields.h"

namespace trainyard {

template <>
const FieldTable<PipelineOptions>& fields_of<PipelineOptions>()
{
    static const auto table =
        FieldTable<PipelineOptions>("pipeline", "How the pipeline runs, besides its schedule.")
            .field("micro_batch_group", &PipelineOptions::micro_batch_group,
                   {.help = "interleaved-1f1b: micro-batches that go through a chunk before the "
                            "next chunk's turn; else pp",
                    .min = 1,
                    .max = 1e6})
            .field("layout", &PipelineOptions::layout,
                   {.help = "what each virtual stage holds, as Megatron-Core writes it: E "
                            "embedding, t layer, m prediction layer, L loss, | next stage, (tt|)*4 "
                            "repeats"})
            .field("account_for_embedding", &PipelineOptions::account_for_embedding,
                   {.help = "the embedding counts as a layer when stages are cut evenly"})
            .field("account_for_loss", &PipelineOptions::account_for_loss,
                   {.help = "the loss counts as a layer when stages are cut evenly"})
            .field("norm_in_turn", &PipelineOptions::norm_in_turn,
                   {.help = "stages hand the norm of gradients on and update one after the other "
                            "(post-validation) in place of agreeing on it; else on for zb-h2 and "
                            "zb-v"});
    return table;
}

} // namespace trainyard
