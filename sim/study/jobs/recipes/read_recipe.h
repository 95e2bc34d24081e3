#pragma once

// Jobs that are a tree of settings in YAML or JSON.

#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/recipes/dialect.h"
#include "sim/study/jobs/shell/arguments.h"

#include <functional>

namespace trainyard {

// Settings in YAML or JSON, not a script: what comes first, but for comments, is "key:" or a brace.
// Nodes and GPUs of each that a recipe of NeMo states: "trainer.num_nodes", "trainer.devices".
void take_recipe_sizes(Arguments& arguments, JobDraft& draft);

bool is_tree(std::string_view text);

// Settings in YAML of no framework known here: whatever commands their texts quote, they are no
// job. What asks a cluster for containers is, though.
bool is_other_tree(std::string_view text);

// A recipe that generates, predicts or writes weights in another form.
bool is_recipe_of_no_training(std::string_view text);

// The kind whose reader takes a recipe; nothing for what is none, or is longer than a script may
// be.
std::optional<JobKind> recognise_recipe(std::string_view text);

// What stands beside a recipe and is said over it, put into its arguments.
using RecipeCompletion = std::function<void(const RecipeDialect& dialect, Arguments& arguments)>;

void read_recipe(const std::string& text, JobContext& context,
                 const RecipeCompletion& complete = {});

// What a recipe or a launch says in Trainer's words, and in the DeepSpeed configuration it names.
void read_trainer_program(Arguments& arguments, JobContext& context);

inline constexpr std::size_t longest_script = std::size_t{1} << 20;

} // namespace trainyard
