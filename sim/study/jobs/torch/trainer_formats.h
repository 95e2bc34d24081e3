#pragma once

// Number formats and kernels in the words of Hugging Face's Trainer and its kin.

#include "sim/study/jobs/argument_values.h"

namespace trainyard {

void read_trainer_precision(Arguments& arguments, JobDraft& draft);

// Of attention and of the loss.
void read_trainer_kernels(Arguments& arguments, JobDraft& draft);

} // namespace trainyard
