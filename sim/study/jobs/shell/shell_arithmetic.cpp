#include "sim/study/jobs/shell/shell_arithmetic.h"

#include "sim/base/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

namespace trainyard {
namespace {

using Number = std::optional<std::int64_t>;

struct BinaryOperator {
    std::string_view text;
    int precedence = 0;
};

// Longer ones before those that they begin with.
constexpr std::array<BinaryOperator, 18> binary_operators{{{"||", 1},
                                                           {"&&", 2},
                                                           {"|", 3},
                                                           {"^", 4},
                                                           {"&", 5},
                                                           {"==", 6},
                                                           {"!=", 6},
                                                           {"<<", 8},
                                                           {">>", 8},
                                                           {"<=", 7},
                                                           {">=", 7},
                                                           {"<", 7},
                                                           {">", 7},
                                                           {"+", 9},
                                                           {"-", 9},
                                                           {"*", 10},
                                                           {"/", 10},
                                                           {"%", 10}}};

Number truth(bool value)
{
    return value ? 1 : 0;
}

Number compared(std::int64_t a, std::string_view operation, std::int64_t b)
{
    if (operation == "==")
        return truth(a == b);
    if (operation == "!=")
        return truth(a != b);
    if (operation == "<")
        return truth(a < b);
    if (operation == ">")
        return truth(a > b);
    if (operation == "<=")
        return truth(a <= b);
    return operation == ">=" ? truth(a >= b) : std::nullopt;
}

Number of_bits(std::int64_t a, std::string_view operation, std::int64_t b)
{
    constexpr std::int64_t most_shifted = 62;
    if (operation == "&")
        return a & b;
    if (operation == "|")
        return a | b;
    if (operation == "^")
        return a ^ b;
    if (a < 0 || b < 0 || b > most_shifted)
        return std::nullopt;
    if (operation == ">>")
        return a >> b;
    std::int64_t out = 0;
    const bool over = __builtin_mul_overflow(a, std::int64_t{1} << b, &out);
    return operation == "<<" && !over ? Number(out) : std::nullopt;
}

Number combined(std::int64_t a, std::string_view operation, std::int64_t b)
{
    std::int64_t out = 0;
    if (operation == "+")
        return __builtin_add_overflow(a, b, &out) ? Number() : out;
    if (operation == "-")
        return __builtin_sub_overflow(a, b, &out) ? Number() : out;
    if (operation == "*")
        return __builtin_mul_overflow(a, b, &out) ? Number() : out;
    if (operation == "&&")
        return truth(a != 0 && b != 0);
    if (operation == "||")
        return truth(a != 0 || b != 0);
    if (operation != "/" && operation != "%") {
        const Number comparison = compared(a, operation, b);
        return comparison ? comparison : of_bits(a, operation, b);
    }
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

class Expression {
public:
    Expression(std::string_view text, const ShellLookup& variable)
        : text_(text), variable_(variable)
    {}

    Number value()
    {
        const Number out = choice();
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
        if (!rest.starts_with(word) || (word == "!" && rest.starts_with("!=")))
            return false;
        at_ += word.size();
        return true;
    }

    // condition ? one : other
    Number choice()
    {
        if (++depth_ > deepest)
            return std::nullopt;
        Number out = operation(1);
        if (out && accept("?")) {
            const Number one = choice();
            const Number other = accept(":") ? choice() : std::nullopt;
            out = one && other ? (*out != 0 ? one : other) : std::nullopt;
        }
        --depth_;
        return out;
    }

    // Of operators that bind at least as tightly as `loosest`.
    Number operation(int loosest)
    {
        Number left = factor();
        while (left) {
            skip_blanks();
            const std::string_view rest = text_.substr(std::min(at_, text_.size()));
            const auto found =
                std::find_if(binary_operators.begin(), binary_operators.end(),
                             [&](const auto& each) { return rest.starts_with(each.text); });
            if (found == binary_operators.end() || found->precedence < loosest)
                break;
            at_ += found->text.size();
            const Number right = operation(found->precedence + 1);
            left = right ? combined(*left, found->text, *right) : std::nullopt;
        }
        return left;
    }

    Number factor()
    {
        if (++depth_ > deepest)
            return std::nullopt;
        const Number base = accept("-")   ? negated(factor())
                            : accept("!") ? inverted(factor())
                                          : atom();
        const Number out = base && accept("**") ? raised(*base, factor()) : base;
        --depth_;
        return out;
    }

    static Number negated(Number value) { return value ? combined(0, "-", *value) : std::nullopt; }
    static Number inverted(Number value) { return value ? truth(*value == 0) : std::nullopt; }
    static Number raised(std::int64_t base, Number exponent)
    {
        return exponent ? power(base, *exponent) : std::nullopt;
    }

    Number atom()
    {
        if (accept("(")) {
            const Number inner = choice();
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
            return to_number<std::int64_t>(word);
        const std::optional<std::string> text = variable_(word);
        return text ? to_number<std::int64_t>(*text) : std::nullopt;
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

std::optional<ArithmeticAssignment> arithmetic_assignment(std::string_view expression)
{
    constexpr std::string_view blanks = " \t\r\n";
    const auto trimmed = [&](std::string_view text) {
        const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
        return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
    };
    const auto is_name = [](char c) {
        return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
    };
    expression = trimmed(expression);
    for (const std::string_view step : {"++", "--"}) {
        const bool before = expression.starts_with(step);
        if (!before && !expression.ends_with(step))
            continue;
        const std::string name(trimmed(expression.substr(before ? 2 : 0, expression.size() - 2)));
        if (name.empty() || !std::all_of(name.begin(), name.end(), is_name))
            return std::nullopt;
        return ArithmeticAssignment{name, name + " " + step.front() + " 1"};
    }
    const auto end = static_cast<std::size_t>(
        std::find_if_not(expression.begin(), expression.end(), is_name) - expression.begin());
    const std::string name(expression.substr(0, end));
    const std::string_view rest = trimmed(expression.substr(end));
    const std::size_t equals = rest.find('=');
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
        equals == std::string_view::npos || rest.substr(equals).starts_with("=="))
        return std::nullopt;
    const std::string_view operation = rest.substr(0, equals);
    constexpr std::array<std::string_view, 8> operations{"", "+", "-", "*", "/", "%", "<<", ">>"};
    if (std::find(operations.begin(), operations.end(), operation) == operations.end())
        return std::nullopt;
    const std::string value(trimmed(rest.substr(equals + 1)));
    return ArithmeticAssignment{
        name, operation.empty() ? value : name + " " + std::string(operation) + " (" + value + ")"};
}

} // namespace trainyard
