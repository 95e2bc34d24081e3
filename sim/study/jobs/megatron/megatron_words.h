#pragma once

// Names that older releases and forks of Megatron-LM have for what it calls otherwise.

#include "sim/study/jobs/job_draft.h"
#include "sim/study/jobs/shell/arguments.h"

namespace trainyard {

// Puts those arguments into Megatron-LM's words of today; each keeps the text that it was written
// as.
void put_in_own_words(Arguments& arguments, JobDraft& draft);

// What a fork's program builds by itself where its arguments describe no form of a layer:
// "pretrain_llama.py" has LLaMA's.
void add_form_of_program(const std::string& program, Arguments& arguments, JobDraft& draft);

// Whether the last name of a path has that word, a number behind it aside: "pretrain_t5.py" has
// "t5" and "train_mamba2.py" has "mamba", "/data/t5/pretrain_gpt.py" has neither.
bool file_name_has_word(std::string_view path, std::string_view word);

} // namespace trainyard
