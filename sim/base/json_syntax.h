#pragma once

// What is wrong with a text that is no JSON, in words for people.

#include <string>

namespace trainyard {

struct JsonSyntaxProblem {
    std::string message;
    std::string hint;
};

// nlohmann's words, without its identifiers and without the text last read (which may be huge).
JsonSyntaxProblem explain_json_error(std::string what);

} // namespace trainyard
