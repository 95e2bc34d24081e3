#include "sim/study/jobs/shell/shell_arithmetic.h"

#include <cctype>
#include <charconv>
#include <limits>

namespace trainyard {
namespace {

using Number = std::optional<std::int64_t>;

Number combined(std::int64_t a, std::string_view operation, std::int64_t b)
{
    std::int64_t out = 0;
    if (operation == "+")
        return __builtin_add_overflow(a, b, &out) ? Number() : out;
    if (operation == "-")
        return __builtin_sub_overflow(a, b, &out) ? Number() : out;
    if (operation == "*")
        return __builtin_mul_overflow(a, b, &out) ? Number() : out;
    if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min()))
        return std::nullopt;
    return operation == "/" ? a / b : a % b;
}

Number power(std::int64_t base, std::int64_t exponent)
{
    if (exponent < 0 || exponent > 64)
        return std::nullopt;
    Number out = 1;
    for (std::int64_t i = 0; i < exponent && out; ++i)
        out = combined(*out, "*", base);
    return out;
}

Number whole_number(std::string_view text)
{
    std::int64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size() ? Number(out) : std::nullopt;
}

// One function per level of precedence, each of them over the next.
class Expression {
public:
    Expression(std::string_view text, const ShellLookup& variable)
        : text_(text), variable_(variable)
    {}

    Number value()
    {
        const Number out = sum();
        return skip_blanks(), at_ == text_.size() ? out : std::nullopt;
    }

private:
    void skip_blanks()
    {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
            ++at_;
    }

    bool accept(std::string_view word)
    {
        skip_blanks();
        const std::string_view rest = text_.substr(at_);
        if (!rest.starts_with(word) || (word == "*" && rest.starts_with("**")))
            return false;
        at_ += word.size();
        return true;
    }

    Number sum()
    {
        Number left = product();
        while (left) {
            const std::string_view operation = accept("+") ? "+" : accept("-") ? "-" : "";
            if (operation.empty())
                break;
            const Number right = product();
            left = right ? combined(*left, operation, *right) : std::nullopt;
        }
        return left;
    }

    Number product()
    {
        Number left = factor();
        while (left) {
            const std::string_view operation = accept("*")   ? "*"
                                               : accept("/") ? "/"
                                               : accept("%") ? "%"
                                                             : "";
            if (operation.empty())
                break;
            const Number right = factor();
            left = right ? combined(*left, operation, *right) : std::nullopt;
        }
        return left;
    }

    Number factor()
    {
        if (++depth_ > deepest)
            return std::nullopt;
        const Number base = accept("-") ? negated(factor()) : atom();
        const Number out = base && accept("**") ? raised(*base, factor()) : base;
        --depth_;
        return out;
    }

    static Number negated(Number value) { return value ? combined(0, "-", *value) : std::nullopt; }
    static Number raised(std::int64_t base, Number exponent)
    {
        return exponent ? power(base, *exponent) : std::nullopt;
    }

    Number atom()
    {
        if (accept("(")) {
            const Number inner = sum();
            return accept(")") ? inner : std::nullopt;
        }
        const bool braced = accept("${");
        if (!braced)
            accept("$");
        std::size_t end = at_;
        while (end < text_.size() &&
               (text_[end] == '_' || std::isalnum(static_cast<unsigned char>(text_[end])) != 0))
            ++end;
        const std::string_view word = text_.substr(at_, end - at_);
        at_ = end;
        if (braced && !accept("}"))
            return std::nullopt;
        return word.empty() ? std::nullopt : number_or_variable(word);
    }

    // A variable must hold a number itself: an expression in it is left alone.
    Number number_or_variable(std::string_view word) const
    {
        if (std::isdigit(static_cast<unsigned char>(word.front())) != 0)
            return whole_number(word);
        const std::optional<std::string> text = variable_(word);
        return text ? whole_number(*text) : std::nullopt;
    }

    static constexpr int deepest = 64;
    std::string_view text_;
    const ShellLookup& variable_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

} // namespace

std::optional<std::int64_t> shell_arithmetic(std::string_view expression,
                                             const ShellLookup& variable)
{
    return Expression(expression, variable).value();
}

} // namespace trainyard
