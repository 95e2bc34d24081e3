#include "sim/study/jobs/shell/shell_tokens.h"

#include "sim/base/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace trainyard {

void TracedText::append(std::string_view more, int line)
{
    text += more;
    lines.resize(text.size(), line);
}

void TracedText::append(const TracedText& more)
{
    text += more.text;
    lines.insert(lines.end(), more.lines.begin(), more.lines.end());
}

TracedText TracedText::part(std::size_t from, std::size_t count) const
{
    const std::size_t begin = std::min(from, text.size());
    const std::size_t end = count > text.size() - begin ? text.size() : begin + count;
    const auto at = [this](std::size_t i) {
        return lines.begin() + static_cast<std::ptrdiff_t>(i);
    };
    return {text.substr(begin, end - begin), std::vector<int>(at(begin), at(end))};
}

TracedText traced(std::string_view text, int first_line)
{
    TracedText out;
    int line = first_line;
    for (const char c : text) {
        out.append(std::string_view(&c, 1), line);
        line += c == '\n' ? 1 : 0;
    }
    return out;
}

std::string ShellToken::plain() const
{
    if (kind != Kind::word || pieces.size() != 1)
        return {};
    const ShellPiece& piece = pieces.front();
    return piece.kind == ShellPiece::Kind::literal && !piece.quoted ? piece.text.text
                                                                    : std::string();
}

// After these a command begins.
bool ShellToken::leads() const
{
    constexpr std::string_view words = "if elif while until then else do for ! { time";
    return has_word(words, plain());
}

namespace {

bool is_name_character(char c)
{
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// Longest first.
constexpr std::array<std::string_view, 10> operations{"&&", "||", ";;", "|&", "\n",
                                                      ";",  "|",  "&",  "(",  ")"};
constexpr std::array<std::string_view, 12> redirects{"&>>", "<<<", "<<-", "&>", "<<", ">>",
                                                     ">&",  ">|",  "<>",  "<&", "<",  ">"};

struct HereDocument {
    std::string mark;
    bool as_it_is = false; // its mark is quoted: nothing is put in
    std::size_t token = 0; // which opens it
};

class ShellLexer {
public:
    explicit ShellLexer(const TracedText& source) : source_(source) {}

    ShellTokens script()
    {
        while (skip_blanks(), !at_end())
            out_.tokens.push_back(next());
        return std::move(out_);
    }

    std::vector<ShellPiece> inside_quotes()
    {
        while (!at_end())
            read_quoted_character();
        flush(true);
        return std::move(pieces_);
    }

private:
    bool at_end() const { return at_ >= source_.text.size(); }
    char peek(std::size_t ahead = 0) const
    {
        return at_ + ahead < source_.text.size() ? source_.text[at_ + ahead] : '\0';
    }
    bool ahead(std::string_view text) const
    {
        return std::string_view(source_.text).substr(at_).starts_with(text);
    }
    int line() const
    {
        return source_.lines.empty() ? 0 : source_.lines[std::min(at_, source_.lines.size() - 1)];
    }

    bool skip_continuation()
    {
        for (const std::string_view end : {std::string_view("\\\n"), std::string_view("\\\r\n")})
            if (ahead(end)) {
                at_ += end.size();
                return true;
            }
        return false;
    }

    void skip_blanks()
    {
        while (!at_end()) {
            if (peek() == ' ' || peek() == '\t' || peek() == '\r')
                ++at_;
            else if (peek() == '#')
                skip_comment();
            else if (!skip_continuation())
                return;
        }
    }

    void skip_comment()
    {
        const std::size_t end = std::min(source_.text.find('\n', at_), source_.text.size());
        constexpr std::string_view slurm = "#SBATCH";
        if (ahead(slurm))
            out_.directives.push_back(
                source_.part(at_ + slurm.size(), end - std::min(end, at_ + slurm.size())));
        at_ = end;
    }

    // Length of a template's "<output_dir>", "<path/to/model>"; 0 where none begins. A shell would
    // read a file there.
    std::size_t placeholder() const
    {
        if (peek() != '<')
            return 0;
        std::size_t length = 1;
        while (is_name_character(peek(length)) ||
               (peek(length) != '\0' &&
                std::string_view("-./").find(peek(length)) != std::string_view::npos))
            ++length;
        return length > 1 && peek(length) == '>' ? length + 1 : 0;
    }

    ShellToken next()
    {
        ShellToken token;
        token.line = line();
        if (!ahead("&&") && placeholder() == 0)
            for (const std::string_view word : redirects)
                if (ahead(word)) {
                    token.kind = ShellToken::Kind::redirect;
                    token.operation = word;
                    at_ += word.size();
                    if (word == "<<" || word == "<<-")
                        note_here_document();
                    return token;
                }
        if (at_arithmetic_command()) {
            add_piece(ShellPiece::Kind::arithmetic, true, 2, closing("))", 2), 2);
            token.kind = ShellToken::Kind::arithmetic;
            token.pieces = std::exchange(pieces_, {});
            return token;
        }
        for (const std::string_view word : operations)
            if (ahead(word)) {
                token.kind = ShellToken::Kind::operation;
                token.operation = word;
                at_ += word.size();
                if (word == "\n")
                    read_here_documents();
                return token;
            }
        return word(std::move(token));
    }

    // ((...)) where a command begins, or behind "for".
    bool at_arithmetic_command()
    {
        const bool begins = out_.tokens.empty() ||
                            out_.tokens.back().kind == ShellToken::Kind::operation ||
                            out_.tokens.back().leads();
        return begins && !inside_list_ && ahead("((") && closing("))", 2) < source_.text.size();
    }

    ShellToken word(ShellToken token)
    {
        if (!out_.tokens.empty() && out_.tokens.back().plain() == "=~" && !inside_list_) {
            read_expression();
            token.pieces = std::exchange(pieces_, {});
            return token;
        }
        while (!at_end() && (placeholder() > 0 ||
                             std::string_view(" \t\r\n;&|<>()").find(peek()) == std::string::npos))
            if (const std::size_t length = placeholder(); length > 0)
                for (std::size_t i = 0; i < length; ++i)
                    take();
            else if (!skip_continuation())
                read_character();
        flush(false);
        token.pieces = std::move(pieces_);
        pieces_.clear();
        const std::string plain = token.plain();
        const bool number =
            !plain.empty() && plain.find_first_not_of("0123456789") == std::string::npos;
        if (number && (peek() == '<' || peek() == '>'))
            return next(); // a descriptor: 2>
        // A list holds no lists: the shell has none, and their depth would be the stack's.
        if (peek() == '(' && plain.ends_with('=') && plain.size() > 1 && !inside_list_) {
            ++at_;
            token.kind = ShellToken::Kind::array;
            inside_list_ = true;
            read_items(token);
            inside_list_ = false;
        }
        return token;
    }

    void read_items(ShellToken& array)
    {
        while (skip_blanks(), !at_end() && peek() != ')') {
            ShellToken item;
            item.line = line();
            if (std::string_view("\n;&|<>(").find(peek()) != std::string::npos) {
                ++at_; // a new line between items
                continue;
            }
            item = word(std::move(item));
            array.items.push_back(std::move(item));
        }
        ++at_;
    }

    void flush(bool quoted)
    {
        if (!literal_.text.empty())
            push_literal(quoted);
    }

    void push_literal(bool quoted)
    {
        if (!pieces_.empty() && pieces_.back().kind == ShellPiece::Kind::literal &&
            pieces_.back().quoted == quoted)
            pieces_.back().text.append(literal_);
        else
            pieces_.push_back({ShellPiece::Kind::literal, std::move(literal_), quoted});
        literal_ = {};
    }

    void take() { literal_.append(std::string_view(source_.text).substr(at_, 1), line()), ++at_; }

    // A regular expression ends with a blank outside its brackets; what a backslash stands before
    // is quoted.
    void read_expression()
    {
        int depth = 0;
        const auto ends = [&] {
            return peek() == '\n' || (depth <= 0 && (peek() == ' ' || peek() == '\t'));
        };
        while (!at_end() && !ends())
            if (peek() == '\\') {
                flush(false);
                ++at_;
                if (!at_end())
                    take();
                flush(true);
            } else {
                depth += peek() == '(' ? 1 : peek() == ')' ? -1 : 0;
                read_character();
            }
        flush(false);
    }

    // '' and "" are words too, unless an expansion stands in them.
    void read_quotes(char quote)
    {
        flush(false);
        const std::size_t before = pieces_.size();
        ++at_;
        while (!at_end() && peek() != quote) {
            if (quote == '"')
                read_quoted_character();
            else
                take();
        }
        ++at_;
        if (!literal_.text.empty() || pieces_.size() == before)
            push_literal(true);
    }

    void read_character()
    {
        switch (peek()) {
        case '\'':
        case '"':
            read_quotes(peek());
            break;
        case '\\':
            ++at_;
            if (!at_end())
                take();
            break;
        default:
            if (!read_expansion(false))
                take();
        }
    }

    void read_quoted_character()
    {
        if (skip_continuation())
            return;
        if (peek() == '\\' && std::string_view("\"\\$`").find(peek(1)) != std::string::npos &&
            peek(1) != '\0')
        {
            ++at_;
            take();
        } else if (!read_expansion(true))
            take();
    }

    // At '$' or '`': the expansion as a piece of its own. False when it is only that character.
    bool read_expansion(bool quoted)
    {
        using Kind = ShellPiece::Kind;
        if (peek() == '`')
            return add_piece(Kind::command, quoted, 1, closing("`", 1), 1);
        if (peek() != '$')
            return false;
        if (ahead("$(("))
            return add_piece(Kind::arithmetic, quoted, 3, closing("))", 3), 2);
        if (ahead("$("))
            return add_piece(Kind::command, quoted, 2, closing(")", 2), 1);
        if (ahead("${"))
            return add_piece(Kind::parameter, quoted, 2, closing("}", 2), 1);
        std::size_t end = at_ + 1;
        if (std::string_view("@*#?$!0123456789").find(peek(1)) != std::string::npos &&
            peek(1) != '\0')
            ++end;
        else
            while (end < source_.text.size() && is_name_character(source_.text[end]))
                ++end;
        return end > at_ + 1 && add_piece(Kind::parameter, quoted, 1, end, 0);
    }

    // Where `close` stands that ends what opened `from` characters ahead; brackets inside count.
    std::size_t closing(std::string_view close, std::size_t from)
    {
        const char last = close.back();
        const char open = last == ')' ? '(' : last == '}' ? '{' : '\0';
        int depth = 0;
        for (std::size_t i = at_ + from; i < source_.text.size(); ++i) {
            const char c = source_.text[i];
            if (c == '\\')
                ++i;
            else if (depth == 0 && std::string_view(source_.text).substr(i).starts_with(close))
                return i;
            else if (c == open) {
                if (++depth > most_brackets && out_.too_deep == 0)
                    out_.too_deep = source_.lines[i];
            } else if (c == last)
                --depth;
        }
        return source_.text.size();
    }

    bool add_piece(ShellPiece::Kind kind, bool quoted, std::size_t skip, std::size_t end,
                   std::size_t close)
    {
        flush(quoted);
        const std::size_t begin = std::min(at_ + skip, end);
        TracedText inner = source_.part(begin, end - begin);
        if (inner.lines.empty())
            inner.lines.clear();
        pieces_.push_back({kind, std::move(inner), quoted});
        at_ = std::min(end + close, source_.text.size());
        return true;
    }

    void note_here_document()
    {
        skip_blanks();
        std::size_t end = at_;
        while (end < source_.text.size() &&
               std::string_view(" \t\r\n;&|<>()").find(source_.text[end]) == std::string::npos)
            ++end;
        HereDocument document{"", false, out_.tokens.size()};
        for (const char c : source_.text.substr(at_, end - at_))
            if (c != '\'' && c != '"' && c != '\\')
                document.mark += c;
            else
                document.as_it_is = true;
        if (!document.mark.empty())
            here_documents_.push_back(std::move(document));
    }

    void read_here_documents()
    {
        for (const HereDocument& document : here_documents_) {
            bool found = false;
            TracedText body;
            while (!at_end() && !found) {
                const std::size_t end = std::min(source_.text.find('\n', at_), source_.text.size());
                std::string_view text = std::string_view(source_.text).substr(at_, end - at_);
                while (text.ends_with('\r'))
                    text.remove_suffix(1);
                while (text.starts_with('\t'))
                    text.remove_prefix(1);
                found = text == document.mark;
                const std::size_t next = std::min(end + 1, source_.text.size());
                if (!found)
                    body.append(source_.part(at_, next - at_));
                at_ = next;
            }
            if (document.token < out_.tokens.size()) // else within a list, where none belongs
                out_.tokens[document.token].pieces =
                    document.as_it_is
                        ? std::vector<ShellPiece>{{ShellPiece::Kind::literal, body, true}}
                        : quoted_pieces(body);
        }
        here_documents_.clear();
    }

    const TracedText& source_;
    std::size_t at_ = 0;
    bool inside_list_ = false;
    TracedText literal_;
    std::vector<ShellPiece> pieces_;
    std::vector<HereDocument> here_documents_; // opened in this line
    ShellTokens out_;
};

} // namespace

ShellTokens shell_tokens(const TracedText& text)
{
    return ShellLexer(text).script();
}

std::vector<ShellPiece> quoted_pieces(const TracedText& text)
{
    return ShellLexer(text).inside_quotes();
}

} // namespace trainyard
