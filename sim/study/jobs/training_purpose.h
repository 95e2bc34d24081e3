#pragma once

// What a launch trains for, and with which methods, as far as a step of text does not have it.

#include "sim/study/jobs/argument_values.h"

namespace trainyard {

// Flags what preferences and rewards add to a step, and what else of it is not modelled.
void flag_purpose(ArgumentValues& values, JobDraft& draft);

// The same by the words of what is started: "trl dpo", "train_ppo.py".
void flag_purpose_of(const std::string& program, JobDraft& draft);

} // namespace trainyard
