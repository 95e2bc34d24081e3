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

} // namespace trainyard
