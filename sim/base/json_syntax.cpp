#include "sim/base/json_syntax.h"

#include <array>
#include <utility>

namespace trainyard {
namespace {

struct PythonNumber {
    std::string_view word;
    std::string_view json;
};
constexpr std::array python_numbers{PythonNumber{"Infinity", "1.0e+308"},
                                    PythonNumber{"NaN", "null"}};

// Of the word that begins here; null where it is another.
const PythonNumber* python_number_at(std::string_view text, std::size_t at)
{
    for (const PythonNumber& number : python_numbers)
        if (text.substr(at, number.word.size()) == number.word)
            return &number;
    return nullptr;
}

} // namespace

JsonSyntaxProblem explain_json_error(std::string what)
{
    if (what.find("number overflow") != std::string::npos)
        return {"a number is too large for any value here", "numbers end at 1.8e308"};
    if (const auto detail = what.find(" - "); detail != std::string::npos)
        what = what.substr(detail + 3);
    if (const auto read = what.find("; last read: "); read != std::string::npos)
        what.resize(read);
    const auto says = [&what](std::string_view part) {
        return what.find(part) != std::string::npos;
    };
    if (says("unexpected end of input") || says("missing closing quote"))
        return {"the text ends too early (truncated?)",
                "a bracket, a brace or a quote is still open"};
    if (says("expected end of input"))
        return {"something follows the end of the JSON value", "a file holds one value"};
    std::string hint;
    if (says("; expected '}'") || says("; expected ']'"))
        hint = "is a comma missing before it?";
    else if (says("unexpected '}'") || says("unexpected ']'"))
        hint = "is there a comma too many before it?";
    else if (says("invalid literal"))
        hint = "text and names stand in double quotes; else only true, false, null and numbers";
    else if (says("ill-formed UTF-8"))
        hint = "save the file as UTF-8";
    return {"not valid JSON: " + what, std::move(hint)};
}

std::optional<std::string> without_python_numbers(std::string_view text)
{
    std::string out;
    std::size_t copied = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted && text[i] == '\\')
            ++i;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && (text[i] == 'I' || text[i] == 'N'))
            if (const PythonNumber* number = python_number_at(text, i)) {
                out.append(text.substr(copied, i - copied)).append(number->json);
                copied = i + number->word.size();
                i = copied - 1;
            }
    }
    if (copied == 0)
        return std::nullopt;
    out.append(text.substr(copied));
    return out;
}

} // namespace trainyard
