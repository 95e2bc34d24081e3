#pragma once

// The arguments that a recipe stands for.

#include "sim/study/jobs/job_context.h"
#include "sim/study/jobs/recipes/dialect.h"
#include "sim/study/jobs/shell/arguments.h"

namespace trainyard {

// Every setting of `part` in the words of the dialect, with its line. References are put in:
// ${NAME:default} and ${oc.env:NAME,default} become what --define says of NAME, else the default;
// ${.sibling} and ${model.size} what stands there. What is not known stays as ${NAME}.
Arguments recipe_arguments(const Json& part, const RecipeDialect& dialect, const Json& root,
                           const std::map<std::string, std::string>& defined);

// What the framework has where the arguments do not say, in line 0; `denied` are switches that
// something said are off.
void add_unsaid(const RecipeDialect& dialect, const std::set<std::string, std::less<>>& denied,
                Arguments& arguments);

// Tells those as assumptions.
void tell_unsaid(const RecipeDialect& dialect, const Arguments& arguments, JobDraft& draft);

} // namespace trainyard
