#include "sim/study/jobs/argument_values.h"

#include "sim/study/jobs/shell/shell_expansion.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace trainyard {

namespace {

// The first variable that could not be put into a text: "NAME" of "${NAME}" or "${NAME:-1}";
// empty when there is none.
std::string unset_variable(std::string_view text)
{
    const std::size_t begin = text.find("${");
    if (begin == std::string_view::npos)
        return {};
    const std::string_view rest = text.substr(begin + 2);
    const auto end = std::ranges::find_if_not(
        rest, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    return std::string(rest.begin(), end);
}

// "{{ nodes }}", "<FILL>", "[[layers]]": what a template has for a value; empty when there is none.
std::string template_placeholder(std::string_view text)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> marks{
        {{"{{", "}}"}, {"{%", "%}"}, {"<", ">"}, {"[[", "]]"}}};
    for (const auto& [open, close] : marks) {
        const std::size_t begin = text.find(open);
        const std::size_t end =
            begin == std::string_view::npos ? begin : text.find(close, begin + open.size());
        if (end != std::string_view::npos)
            return std::string(text.substr(begin, end + close.size() - begin));
    }
    return {};
}

// As Python reads numbers: "32_000" is 32000.
std::string without_digit_groups(std::string_view text)
{
    const auto digit = [&](std::size_t i) {
        return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] != '_' || i == 0 || !digit(i - 1) || !digit(i + 1))
            out += text[i];
    return out;
}

// The whole text as a number; else why it is none.
template <class T>
std::errc parse_number(std::string_view text, T& out)
{
    const std::string digits = without_digit_groups(text);
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, out);
    return error == std::errc() && end != last ? std::errc::invalid_argument : error;
}

} // namespace

const std::string* ArgumentValues::value(std::string_view name)
{
    const Argument* argument = arguments_.find(name);
    if (argument == nullptr)
        return nullptr;
    if (argument->values.empty()) {
        draft_.refuse(origin(name), "its value is missing", "");
        return nullptr;
    }
    const std::string& text = argument->values.front();
    if (!has_unknown(text) && template_placeholder(text).empty())
        return &text;
    draft_.flag(fmt::format("line {}: {}: not known here, as if the argument were absent "
                            "(--define NAME=VALUE gives a variable)",
                            argument->line, argument->text()));
    return nullptr;
}

void ArgumentValues::refuse_missing(std::string_view name, const std::string& hint)
{
    const Argument* const argument = arguments_.find(name);
    if (argument == nullptr)
        return draft_.refuse({}, fmt::format("{} is missing", name), hint);
    const std::string text = argument->text();
    const std::string variable = unset_variable(text);
    if (!variable.empty())
        draft_.refuse(origin(name), fmt::format("the variable {} is not set", variable),
                      define_hint(variable));
    else if (const std::string placeholder = template_placeholder(text); !placeholder.empty())
        draft_.refuse(origin(name),
                      fmt::format("{} is a place of a template that is not filled in", placeholder),
                      "write the value in its place");
    else if (has_unknown(text))
        draft_.refuse(origin(name), "is the output of a command, which is not run here",
                      "write the value in its place");
}

void ArgumentValues::refuse_unknown(std::string_view name)
{
    const Argument* const argument = arguments_.find(name);
    if (argument != nullptr && !argument->values.empty() &&
        (has_unknown(argument->values.front()) ||
         !template_placeholder(argument->values.front()).empty()))
        refuse_missing(name, "");
}

// What the script left out may set it.
std::string ArgumentValues::define_hint(const std::string& variable) const
{
    std::string out = fmt::format("--define {}=VALUE sets it", variable);
    constexpr std::size_t most = 3;
    for (std::size_t i = 0; i < std::min(most, draft_.left_out.size()); ++i)
        out += "; " + draft_.left_out[i];
    return out;
}

std::optional<std::int64_t> ArgumentValues::whole(std::string_view name)
{
    const std::string* text = value(name);
    if (text == nullptr)
        return std::nullopt;
    std::int64_t out = 0;
    const std::errc error = parse_number(*text, out);
    if (error == std::errc())
        return out;
    draft_.refuse(origin(name),
                  error == std::errc::result_out_of_range ? "is beyond any size"
                                                          : "expected a whole number",
                  "");
    return std::nullopt;
}

std::optional<double> ArgumentValues::number(std::string_view name)
{
    const std::string* text = value(name);
    if (text == nullptr)
        return std::nullopt;
    double out = 0;
    if (parse_number(*text, out) == std::errc())
        return out;
    draft_.refuse(origin(name), "expected a number", "");
    return std::nullopt;
}

std::string ArgumentValues::text(std::string_view name)
{
    const std::string* out = value(name);
    return out == nullptr ? std::string() : *out;
}

// "${MODELS}/llama-2-7b" without the folder that is not known.
std::string ArgumentValues::last_of_path(std::string_view name)
{
    const Argument* const argument = arguments_.find(name);
    std::string text =
        argument == nullptr || argument->values.empty() ? std::string() : argument->values.front();
    const auto known = [&] { return !has_unknown(text) && template_placeholder(text).empty(); };
    while (!known() && text.find('/') != std::string::npos)
        text.erase(0, text.find('/') + 1);
    return known() ? text : std::string();
}

std::vector<std::string> ArgumentValues::words(std::string_view name)
{
    return value(name) == nullptr ? std::vector<std::string>() : arguments_.find(name)->values;
}

bool ArgumentValues::on(std::string_view name)
{
    const Argument* argument = arguments_.find(name);
    if (argument == nullptr)
        return false;
    if (argument->values.empty())
        return true;
    const std::string& value = argument->values.front();
    return value != "false" && value != "False" && value != "0";
}

Origin ArgumentValues::origin(std::string_view name)
{
    const Argument* argument = arguments_.find(name);
    return argument == nullptr ? Origin{0, std::string(name)}
                               : Origin{argument->line, argument->text()};
}

std::string_view ArgumentValues::either(std::string_view one, std::string_view other)
{
    return !arguments_.contains(one) && arguments_.contains(other) ? other : one;
}

} // namespace trainyard
