#pragma once

// What the words of a script become once variables are put in.

#include "sim/study/jobs/shell/shell_arithmetic.h"
#include "sim/study/jobs/shell/shell_tokens.h"

#include <map>

namespace trainyard {

struct ShellVariable {
    std::vector<TracedText> values; // one, or those of an array
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

    // Whether what came out so far is beyond all reason: a script that doubles its variables.
    bool overflown() const { return produced_ > most_produced; }

    // The line of an expansion that stays as it is since it lies too deep in others; 0: none.
    int too_deep() const { return too_deep_; }

    static constexpr std::size_t most_produced = std::size_t{8} << 20; // characters

private:
    std::vector<TracedText> values(const ShellPiece& piece);
    std::vector<TracedText> parameter(const TracedText& inside, int line);
    std::vector<TracedText> with_operator(const std::string& name, const TracedText& rest,
                                          const TracedText& whole, int line);
    TracedText length_of(const TracedText& inside, int line) const;
    const TracedText* entry_of(const std::vector<TracedText>& list, const TracedText& index);
    std::optional<TracedText> inner_text(const TracedText& inside);
    std::optional<std::string> lookup(std::string_view name) const;

    const ShellVariables& variables_;
    std::size_t produced_ = 0;
    int depth_ = 0;
    int too_deep_ = 0;
};

// Whether something in it could not be expanded.
bool has_unknown(std::string_view text);

} // namespace trainyard
