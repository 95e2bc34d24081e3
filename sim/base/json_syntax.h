#pragma once

// What is wrong with a text that is no JSON, in words for people.

#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

struct JsonSyntaxProblem {
    std::string message;
    std::string hint;
};

// nlohmann's words, without its identifiers and without the text last read (which may be huge).
JsonSyntaxProblem explain_json_error(std::string what);

// A text with what Python writes for numbers that JSON has not: Infinity as the largest power of
// ten that a number holds, NaN as null. Nothing where there is no such word outside of quotes.
std::optional<std::string> without_python_numbers(std::string_view text);

} // namespace trainyard
