// Variables and parameters of a script.

#include "sim/study/jobs/shell/shell_interpreter.h"

#include <algorithm>

namespace trainyard {

std::size_t assigned_name(const std::string& text)
{
    std::size_t end = 0;
    while (end < text.size() &&
           (text[end] == '_' || std::isalnum(static_cast<unsigned char>(text[end])) != 0))
        ++end;
    if (end == 0 || std::isdigit(static_cast<unsigned char>(text.front())) != 0)
        return 0;
    const std::string_view rest = std::string_view(text).substr(end);
    return rest.starts_with("=") || rest.starts_with("+=") || rest.starts_with("[") ? end : 0;
}

// Whether the word is an assignment; lists are set at once, texts go to `assigned`.
bool ShellInterpreter::assign(const ShellToken& token, std::map<std::string, TracedText>& assigned)
{
    if (token.pieces.empty() || token.pieces.front().kind != ShellPiece::Kind::literal ||
        token.pieces.front().quoted)
        return false;
    const std::string& head = token.pieces.front().text.text;
    const std::size_t length = assigned_name(head);
    if (length == 0)
        return false;
    const std::string name = head.substr(0, length);
    if (head[length] == '[')
        return assign_element(name, token, length);
    const bool adds = head[length] == '+';
    ShellVariable& variable = out_.variables[name];
    if (token.kind == ShellToken::Kind::array) {
        if (!adds)
            variable.named.clear();
        std::vector<TracedText> items; // which may hold what the list was
        for (const ShellToken& item : token.items)
            if (!assign_element(name, item, 0))
                for (TracedText& value : expander_.words(item))
                    items.push_back(std::move(value));
        if (!adds)
            variable.values.clear();
        variable.values.insert(variable.values.end(), items.begin(), items.end());
        return true;
    }
    std::vector<ShellPiece> pieces = token.pieces;
    pieces.front().text = pieces.front().text.part(length + (adds ? 2 : 1));
    TracedText value = expander_.text(pieces);
    if (adds && !variable.values.empty())
        variable.values.front().append(value);
    else
        assigned[name] = std::move(value);
    return true;
}

// NAME[key]=value, and [key]=value in a list. False where the text from `from` on is neither.
bool ShellInterpreter::assign_element(const std::string& name, const ShellToken& token,
                                      std::size_t from)
{
    std::vector<ShellPiece> key = token.pieces;
    const auto is_plain = [](const ShellPiece& piece) {
        return piece.kind == ShellPiece::Kind::literal && !piece.quoted;
    };
    if (key.empty() || !is_plain(key.front()) ||
        !key.front().text.text.substr(from).starts_with('['))
        return false;
    key.front().text = key.front().text.part(from + 1);
    for (std::size_t i = 0; i < key.size(); ++i) {
        const std::size_t close =
            is_plain(key[i]) ? key[i].text.text.find("]=") : std::string::npos;
        if (close == std::string::npos)
            continue;
        std::vector<ShellPiece> value(key.begin() + static_cast<std::ptrdiff_t>(i), key.end());
        value.front().text = value.front().text.part(close + 2);
        key.resize(i + 1);
        key.back().text = key.back().text.part(0, close);
        out_.variables[name].named[expander_.text(key).text] = expander_.text(value);
        return true;
    }
    return false;
}

// ": ${NAME:=value}" gives NAME a value where it has none.
void ShellInterpreter::assign_defaults(std::size_t from)
{
    for (std::size_t i = from; i < command_.size(); ++i)
        for (const ShellPiece& piece : command_[i]->pieces) {
            const std::size_t operation = piece.text.text.find_first_of(":=");
            if (piece.kind != ShellPiece::Kind::parameter || operation == std::string::npos ||
                !piece.text.text.substr(operation).starts_with(
                    piece.text.text[operation] == ':' ? ":=" : "="))
                continue;
            out_.variables[piece.text.text.substr(0, operation)].values = {expander_.text({piece})};
        }
}

void ShellInterpreter::declare(std::size_t from, bool exports)
{
    for (std::size_t i = from; i < command_.size(); ++i) {
        std::map<std::string, TracedText> assigned;
        std::string name = command_[i]->plain();
        if (assign(*command_[i], assigned))
            for (auto& [key, value] : assigned) {
                name = key;
                out_.variables[key].values = {std::move(value)};
            }
        if (const auto found = out_.variables.find(name); exports && found != out_.variables.end())
            found->second.exported = true;
    }
    status_ = true;
}

void ShellInterpreter::forget(std::size_t from)
{
    for (std::size_t i = from; i < command_.size(); ++i)
        out_.variables.erase(command_[i]->plain());
    status_ = true;
}

void ShellInterpreter::shift(std::size_t at)
{
    const auto found = out_.variables.find("@");
    const auto count = at < command_.size()
                           ? shell_arithmetic(expander_.text(command_[at]->pieces).text,
                                              [](std::string_view) { return std::nullopt; })
                           : std::optional<std::int64_t>(1);
    if (found == out_.variables.end() || !count || *count < 0)
        return;
    std::vector<TracedText> words = found->second.values;
    words.erase(words.begin(),
                words.begin() + std::min(*count, static_cast<std::int64_t>(words.size())));
    set_parameters(std::move(words));
    status_ = true;
}

// read -r A B <<< "1,2": the words of a text, the last name has what is left; -a: a list of all.
void ShellInterpreter::read_words(std::size_t at, const std::string& separators)
{
    std::vector<std::string> names;
    bool list = false;
    bool whole = false; // with an end of its own: -d ''
    for (std::size_t i = at; i < command_.size(); ++i) {
        const std::string name = command_[i]->plain();
        const bool option = name.size() > 1 && name.front() == '-';
        list = list || (option && name.ends_with('a'));
        whole = whole || (option && name.ends_with('d'));
        if (!name.empty() && name.front() != '-')
            names.push_back(name);
    }
    TracedText text =
        here_document_ != nullptr ? expander_.text(here_document_->pieces) : here_string_;
    if (const std::size_t line = text.text.find('\n'); !whole && line != std::string::npos)
        text = text.part(0, line);
    std::size_t from = 0;
    const auto next = [&](bool last) {
        const std::size_t end =
            last ? text.text.size()
                 : std::min(text.text.find_first_of(separators, from), text.text.size());
        TracedText word = text.part(from, end - from);
        from = end + 1;
        return word;
    };
    if (list && !names.empty()) {
        std::vector<TracedText>& values = out_.variables[names.front()].values;
        values.clear();
        while (from < text.text.size())
            values.push_back(next(false));
    } else
        for (std::size_t i = 0; i < names.size(); ++i)
            out_.variables[names[i]].values = {next(i + 1 == names.size())};
    status_ = true;
}

void ShellInterpreter::set_parameters(std::vector<TracedText> words)
{
    std::erase_if(out_.variables, [](const auto& variable) {
        return variable.first.find_first_not_of("0123456789#@") == std::string::npos;
    });
    out_.variables["#"].values = {traced(std::to_string(words.size()), line_)};
    for (std::size_t i = 0; i < words.size(); ++i)
        out_.variables[std::to_string(i + 1)].values = {words[i]};
    out_.variables["@"].values = std::move(words);
}

} // namespace trainyard
