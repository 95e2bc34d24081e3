#include "sim/study/jobs/shell/shell_interpreter.h"

#include "sim/study/jobs/shell/shell_test.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::size_t most_commands = 100'000;
constexpr std::size_t most_steps = 5'000'000; // tokens, those of loops and functions counted again
constexpr std::size_t longest_told = 80;      // characters of a condition

bool is_either(const std::string& word, std::initializer_list<std::string_view> list)
{
    return std::find(list.begin(), list.end(), word) != list.end();
}

// Length of "NAME" in "NAME=..." or "NAME+=..."; 0 when it is no assignment.
std::size_t assigned_name(const std::string& text)
{
    std::size_t end = 0;
    while (end < text.size() &&
           (text[end] == '_' || std::isalnum(static_cast<unsigned char>(text[end])) != 0))
        ++end;
    if (end == 0 || std::isdigit(static_cast<unsigned char>(text.front())) != 0)
        return 0;
    const std::string_view rest = std::string_view(text).substr(end);
    return rest.starts_with("=") || rest.starts_with("+=") ? end : 0;
}

} // namespace

bool ShellInterpreter::overflown() const
{
    return expander_.overflown() || out_.commands.size() > most_commands || steps_ > most_steps;
}

void ShellInterpreter::run(const std::vector<ShellToken>& tokens)
{
    walk(tokens, 0, tokens.size());
    while (!frames_.empty())
        pop(frames_.back().line);
    for (const auto& [name, function] : functions_)
        if (!function.called)
            out_.skipped.push_back(fmt::format("lines {} to {}: function {} was not run",
                                               function.first_line, function.last_line, name));
}

// Between two tokens, as a part of the script that is run by itself: its blocks end with it.
void ShellInterpreter::walk(const Tokens& tokens, std::size_t begin, std::size_t end)
{
    const Tokens* const outer_tokens = tokens_;
    const std::size_t outer_at = at_;
    const std::size_t outer_frames = frames_.size();
    const std::string outer_chain = std::exchange(chain_, {});
    tokens_ = &tokens;
    ++depth_;
    for (at_ = begin; at_ < end && !stopped_ && !overflown();) {
        ++steps_;
        take(tokens[at_++]);
    }
    end_command("\n");
    while (depth_ > 1 && frames_.size() > outer_frames)
        pop(line_);
    if (depth_ > 1)
        stopped_ = false; // its return
    --depth_;
    tokens_ = outer_tokens;
    at_ = outer_at;
    chain_ = outer_chain;
}

void ShellInterpreter::take(const ShellToken& token)
{
    line_ = token.line;
    if (token.kind == ShellToken::Kind::redirect) {
        target_follows_ = true;
        redirect_ = token.operation;
        if (redirect_.starts_with("<<") && redirect_ != "<<<")
            here_document_ = &token;
        return;
    }
    if (token.kind == ShellToken::Kind::operation) {
        operation(token.operation);
        return;
    }
    if (target_follows_) {
        target_follows_ = false;
        if (redirect_ == "<<<")
            here_string_ = expander_.text(token.pieces);
        else if (is_either(redirect_, {">", ">>", ">|"}))
            written_to_ = expander_.text(token.pieces).text;
        return;
    }
    if (in_patterns()) {
        if (frames_.back().patterns.empty() && token.plain() == "esac")
            pop(line_);
        else
            frames_.back().patterns.push_back(expander_.text(token.pieces).text);
        return;
    }
    if (command_.empty() && keyword(token.plain()))
        return;
    command_.push_back(&token);
}

// Inside [[ ]] the operators belong to the condition.
bool ShellInterpreter::inside_double_brackets() const
{
    return !command_.empty() && command_.front()->plain() == "[[" &&
           command_.back()->plain() != "]]";
}

void ShellInterpreter::operation(const std::string& op)
{
    target_follows_ = false;
    if (in_patterns()) {
        if (op == ")" && !frames_.back().patterns.empty())
            close_patterns();
        return;
    }
    if (inside_double_brackets() && op != "\n" && op != ";") {
        condition_operators_.emplace_back(command_.size(), op);
        return;
    }
    if (op == "(" && command_.size() == 1) {
        function_name_ = command_.front()->plain();
        command_.clear();
        return;
    }
    if (op == ")" && command_.empty())
        return;
    end_command(op);
    if (op == ";;" && !frames_.empty() && frames_.back().kind == Frame::Kind::choice) {
        frames_.back().testing = true;
        frames_.back().runs = false;
    }
}

// `op` ends the command; && and || decide whether the next one runs.
void ShellInterpreter::end_command(const std::string& op)
{
    const bool chained_out = chain_ == "&&"   ? status_ != true
                             : chain_ == "||" ? status_ != false
                                              : false;
    chain_ = op == "&&" || op == "||" ? op : std::string();
    if (!command_.empty() && runs() && !chained_out)
        run_command();
    else if (!command_.empty() && !runs())
        note_left_out();
    command_.clear();
    condition_operators_.clear();
    here_string_ = {};
    here_document_ = nullptr;
    written_to_.clear();
}

// A branch that is not taken, because it is not known whether it is, may give variables other
// values than those which stay.
void ShellInterpreter::note_left_out()
{
    const auto undecided = std::find_if(frames_.begin(), frames_.end(), [](const Frame& frame) {
        return !frame.why.empty() && frame.kind != Frame::Kind::loop;
    });
    if (undecided == frames_.end())
        return;
    for (const ShellToken* token : command_) {
        const std::string plain = token->pieces.empty() ? "" : token->pieces.front().text.text;
        const std::string name = plain.substr(0, assigned_name(plain));
        const auto known = out_.variables.find(name);
        const bool adds_to_itself =
            std::any_of(token->pieces.begin(), token->pieces.end(), [&](const ShellPiece& piece) {
                return piece.kind == ShellPiece::Kind::parameter &&
                       piece.text.text.starts_with(name);
            });
        if (!name.empty() && known != out_.variables.end() && !adds_to_itself)
            undecided->sets.insert(name);
    }
}

void ShellInterpreter::run_command()
{
    std::map<std::string, TracedText> assigned;
    std::size_t at = 0;
    while (at < command_.size() && assign(*command_[at], assigned))
        ++at;
    if (at == command_.size()) {
        for (auto& [name, value] : assigned)
            out_.variables[name].values = {std::move(value)};
        status_ = true;
        return;
    }
    const std::string name = command_[at]->plain();
    if (name == "[" || name == "[[" || name == "test")
        status_ = condition(at + 1);
    else if (name == "true" || name == ":" || name == "false") {
        assign_defaults(at + 1);
        status_ = name != "false";
    } else if (is_either(name, {"export", "declare", "typeset", "local", "readonly"}))
        declare(at + 1, name == "export");
    else if (name == "exit" || name == "return")
        leave(at);
    else if (name == "read" && !here_string_.text.empty())
        read_words(at + 1, assigned.contains("IFS") ? assigned.at("IFS").text : " \t\n");
    else if (name == "shift")
        shift(at + 1);
    else if (name == "source" || name == ".")
        read_other_file(at + 1);
    else if (!call(name, at) && !read_document(name, at))
        record(at, std::move(assigned));
}

// A script that gives up, because what it needs is not given, is read on: it is meant to run.
void ShellInterpreter::leave(std::size_t at)
{
    const std::string status = at + 1 < command_.size() ? command_[at + 1]->plain() : std::string();
    const bool gives_up = !status.empty() && status != "0" && !frames_.empty();
    if (gives_up && depth_ == 1)
        out_.skipped.push_back(fmt::format("line {}: it would give up there; read on", line_));
    stopped_ = !gives_up || depth_ > 1;
}

std::optional<bool> ShellInterpreter::condition(std::size_t from)
{
    std::vector<std::string> words;
    auto next = condition_operators_.begin();
    for (std::size_t i = from; i < command_.size(); ++i) {
        for (; next != condition_operators_.end() && next->first <= i; ++next)
            words.push_back(next->second);
        if (const std::string plain = command_[i]->plain(); plain != "]" && plain != "]]")
            words.push_back(expander_.text(command_[i]->pieces).text);
    }
    const std::optional<bool> out = shell_test(words);
    if (out == true && words.size() > 2 && words[1] == "=~")
        if (const auto groups = regex_groups(
                words[0], fmt::format("{}", fmt::join(words.begin() + 2, words.end(), ""))))
        {
            std::vector<TracedText>& matched = out_.variables["BASH_REMATCH"].values;
            matched.assign(groups->size(), {});
            for (std::size_t i = 0; i < groups->size(); ++i)
                matched[i].append((*groups)[i], line_);
        }
    if (!out)
        condition_ = fmt::format("{}", fmt::join(words, " ")).substr(0, longest_told);
    return out;
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
    const bool adds = head[length] == '+';
    ShellVariable& variable = out_.variables[name];
    if (token.kind == ShellToken::Kind::array) {
        std::vector<TracedText> items; // which may hold what the list was
        for (const ShellToken& item : token.items)
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

// read -r A B <<< "1,2": the words of a text, the last name has what is left; read -a A: a list.
void ShellInterpreter::read_words(std::size_t at, const std::string& separators)
{
    std::vector<std::string> names;
    bool list = false;
    for (std::size_t i = at; i < command_.size(); ++i)
        if (const std::string name = command_[i]->plain(); name.starts_with('-'))
            list = list || name.find('a') != std::string::npos;
        else if (!name.empty())
            names.push_back(name);
    status_ = true;
    std::size_t from = 0;
    if (list && !names.empty()) {
        std::vector<TracedText>& words = out_.variables[names.front()].values;
        words.clear();
        while (from < here_string_.text.size()) {
            const std::size_t end = std::min(here_string_.text.find_first_of(separators, from),
                                             here_string_.text.size());
            if (end > from)
                words.push_back(here_string_.part(from, end - from));
            from = end + 1;
        }
        return;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t end = i + 1 == names.size()
                                    ? here_string_.text.size()
                                    : std::min(here_string_.text.find_first_of(separators, from),
                                               here_string_.text.size());
        out_.variables[names[i]].values = {here_string_.part(from, end - from)};
        from = std::min(end + 1, here_string_.text.size());
    }
}

// The parameters of a function, or those that --define gives a script, without the first of them.
void ShellInterpreter::shift(std::size_t at)
{
    constexpr std::size_t most = 100;
    const std::string said = at < command_.size() ? command_[at]->plain() : "1";
    const ShellLookup none = [](std::string_view) { return std::nullopt; };
    const std::int64_t asked = shell_arithmetic(said, none).value_or(0);
    const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(asked, 0, most));
    for (std::size_t i = 1; i < most; ++i) {
        const auto from = out_.variables.find(std::to_string(i + count));
        if (from != out_.variables.end())
            out_.variables[std::to_string(i)] = from->second;
        else
            out_.variables.erase(std::to_string(i));
    }
    if (const auto all = out_.variables.find("@"); all != out_.variables.end()) {
        std::vector<TracedText>& left = all->second.values;
        left.erase(left.begin(),
                   left.begin() + static_cast<std::ptrdiff_t>(std::min(count, left.size())));
        TracedText number;
        number.append(std::to_string(left.size()), line_);
        out_.variables["#"].values = {number};
    }
    status_ = true;
}

void ShellInterpreter::record(std::size_t from, std::map<std::string, TracedText> assigned)
{
    ShellCommand command;
    command.environment = std::move(assigned);
    for (std::size_t i = from; i < command_.size(); ++i)
        for (TracedText& word : expander_.words(*command_[i]))
            command.words.push_back(std::move(word));
    const bool decides = !frames_.empty() && frames_.back().testing;
    status_ = decides ? std::nullopt : std::optional(true); // else taken to succeed
    if (!command.words.empty())
        out_.commands.push_back(std::move(command));
}

} // namespace trainyard
