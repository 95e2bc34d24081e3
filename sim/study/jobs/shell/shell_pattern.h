#pragma once

// Patterns of a shell, and what operators of ${...} make of a text.

#include "sim/study/jobs/shell/shell_arithmetic.h"
#include "sim/study/jobs/shell/shell_tokens.h"

namespace trainyard {

// Whether all of `text` is of the form that * ? [a-z] and \ tell.
bool shell_matches(std::string_view pattern, std::string_view text);

// `text` as a pattern that matches itself only, in a shell and as a regular expression.
std::string literal_pattern(std::string_view text);

// The match of an extended regular expression of POSIX in `text` and those of its groups; empty:
// there is none. Nothing for what is no expression or too large to be tried.
std::optional<std::vector<std::string>> regular_match(const std::string& expression,
                                                      const std::string& text);

// `operation` is what follows the name: % and # cut a pattern off the end and the front, / puts
// another text in its place, ^ and , change the case, :2:1 takes a part. Nothing for others.
std::optional<TracedText> with_text_operation(const TracedText& text, const TracedText& operation,
                                              const ShellLookup& variable);

} // namespace trainyard
