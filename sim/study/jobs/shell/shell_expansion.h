#pragma once

// What the words of a script become once variables are put in.

#include "sim/study/jobs/shell/shell_arithmetic.h"
#include "sim/study/jobs/shell/shell_tokens.h"

#include <map>

namespace trainyard {

struct ShellVariable {
    std::vector<TracedText> values;          // one, or those of an array
    std::map<std::string, TracedText> named; // those set by a subscript
    bool exported = false;

    bool operator==(const ShellVariable&) const = default;
};

using ShellVariables = std::map<std::string, ShellVariable, std::less<>>;

// Puts variables into words. What is not known stays as "${NAME}" or "$(...)", so that it is seen
// where it ends up. Holds references: use it while they live.
class ShellExpander {
public:
    explicit ShellExpander(const ShellVariables& variables) : variables_(variables) {}

    // As an argument: unquoted values are split at blanks, lists give a word each.
    std::vector<TracedText> words(const ShellToken& token);

    // As the right side of an assignment: one text.
    TracedText text(const std::vector<ShellPiece>& pieces);

    // As the right side of == and =~ in [[ ]]: what is quoted stands for itself.
    TracedText pattern(const std::vector<ShellPiece>& pieces);

    // What stands inside an expansion or a subscript, with its own expansions put in.
    TracedText expanded(const TracedText& text) { return inner_text(text).value_or(text); }

    std::optional<std::string> lookup(std::string_view name) const;

    // Whether what came out so far is beyond all reason: a script that doubles its variables.
    bool overflown() const { return produced_ > most_produced; }

    // The line of an expansion that stays as it is since it lies too deep in others; 0: none.
    int too_deep() const { return too_deep_; }

    static constexpr std::size_t most_produced = std::size_t{8} << 20; // characters

private:
    std::vector<TracedText> values(const ShellPiece& piece);
    std::vector<TracedText> parameter(const TracedText& inside, int line);
    // What a name and its subscript mean, before an operator is applied.
    struct Selected {
        std::vector<TracedText> values;
        bool set = false;
        bool list = false; // all of them
        int first = 0;     // the number of the first
    };
    Selected selected(const std::string& name, TracedText& rest);
    std::vector<TracedText> with_operator(const Selected& of, const TracedText& rest,
                                          const TracedText& unknown);
    std::optional<std::vector<TracedText>> slice(const Selected& of, const std::string& operation);
    std::optional<std::string> output(const TracedText& commands);
    std::string with_unknown_names(const std::string& expression) const;
    std::optional<TracedText> inner_text(const TracedText& inside);
    ShellLookup lookup() const
    {
        return [this](std::string_view name) { return lookup(name); };
    }

    const ShellVariables& variables_;
    std::size_t produced_ = 0;
    int depth_ = 0;
    int too_deep_ = 0;
};

// Whether something in it could not be expanded.
bool has_unknown(std::string_view text);

} // namespace trainyard
