#pragma once

// Arithmetic that several formats share.

#include "sim/study/jobs/job_context.h"

namespace trainyard {

// Sequences of one step, as DeepSpeed and trainers state them: any two fix the third.
struct BatchSizes {
    std::optional<std::int64_t> all;          // of all replicas
    std::optional<std::int64_t> micro;        // of one forward pass of a replica
    std::optional<std::int64_t> accumulation; // passes per step
    std::string all_name;                     // as the format calls them
    std::string micro_name;
    std::string accumulation_name;
    Origin origin;                      // told of contradictions
    std::optional<Origin> micro_origin; // where `micro` is stated; else it follows from the others
    std::int64_t usual_micro = 1;       // where neither `all` nor `micro` is stated
    std::string whose_default;          // "Hugging Face Trainer's"
};

// Sets training.micro_batch and training.global_batch; where nothing is stated, the default of the
// framework, as an assumption. A contradiction is a problem of the draft.
void settle_batches(const BatchSizes& sizes, JobContext& context);

// Layers of the model, 0 when it is not known here.
int layers_of(const JobDraft& draft);

// A length that nothing states is no longer than the model has learned positions: whether it was
// longer.
bool shortened_to_positions(JobDraft& draft);

// Layers on a device when `every`-th layer of it is recomputed.
int layers_recomputed(const JobDraft& draft, int every);

} // namespace trainyard
