#pragma once

// The words and operators of a shell script, with the line of each: quotes, continuations, comments
// and here-documents are dealt with, nothing is expanded yet.

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// Text that remembers the line each character came from, through every variable it passes.
struct TracedText {
    std::string text;
    std::vector<int> lines; // one per character

    void append(std::string_view more, int line);
    void append(const TracedText& more);
    TracedText part(std::size_t from, std::size_t count = std::string::npos) const;
    int line() const { return lines.empty() ? 0 : lines.front(); }

    bool operator==(const TracedText&) const = default;
};

// Part of a word: taken as it is, or what `${...}`, `$((...))` or `$(...)` holds.
struct ShellPiece {
    enum class Kind { literal, parameter, arithmetic, command };
    Kind kind = Kind::literal;
    TracedText text;
    bool quoted = false; // not split into words after expansion

    bool operator==(const ShellPiece&) const = default;
};

struct ShellToken {
    enum class Kind {
        word,
        operation, // newline ; && || | & ;; ( )
        redirect,  // its target is the next word; the pieces of "<<" are its here-document
        array,     // name=( items ): the pieces are "name=" or "name+="
        arithmetic // ((...)) as a command: the piece is what it holds
    };
    Kind kind = Kind::word;
    std::string operation;
    std::vector<ShellPiece> pieces;
    std::vector<ShellToken> items;
    int line = 0;

    // The text of a word without quotes or expansions; empty for any other.
    std::string plain() const;
    bool leads() const; // a keyword before a command

    bool operator==(const ShellToken&) const = default;
};

struct ShellTokens {
    std::vector<ShellToken> tokens;
    std::vector<TracedText> directives; // what follows #SBATCH on its line
    std::vector<std::string> skipped;   // sentences on what was not read
    int too_deep = 0; // line of brackets within an expansion beyond `most_brackets`; 0: none
};

// How deep brackets lie in one another where a script means it.
inline constexpr int most_brackets = 64;

// Any text has tokens: an open quote ends with it.
ShellTokens shell_tokens(const TracedText& text);
TracedText traced(std::string_view text, int first_line = 1);

// The pieces of text inside double quotes, such as a default value.
std::vector<ShellPiece> quoted_pieces(const TracedText& text);

} // namespace trainyard
