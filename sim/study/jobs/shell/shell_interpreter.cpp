#include "sim/study/jobs/shell/shell_interpreter.h"

#include "sim/study/jobs/shell/shell_pattern.h"
#include "sim/study/jobs/shell/shell_test.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::size_t most_commands = 100'000;
constexpr std::size_t most_steps = 5'000'000; // tokens, those of loops and functions counted again
constexpr std::size_t longest_told = 80;      // characters of a condition

bool is_either(const std::string& word, std::initializer_list<std::string_view> list)
{
    return std::find(list.begin(), list.end(), word) != list.end();
}

// A variable of the machine or of what starts the script there.
bool is_set_elsewhere(std::string_view name)
{
    constexpr std::array<std::string_view, 8> prefixes{"SLURM", "OMPI_", "PMI",  "PBS_",
                                                       "LSB_",  "MPI_",  "HOST", "KUBERNETES"};
    return name.find("RANK") != std::string_view::npos || name == "WORLD_SIZE" || name == "USER" ||
           std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// The name in "${NAME}"; empty for any other word.
std::string lone_variable(const std::string& word)
{
    return word.starts_with("${") && word.find('}') == word.size() - 1
               ? word.substr(2, word.size() - 3)
               : std::string();
}

bool is_argument(const std::string& name)
{
    return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

// Sides of comparisons with texts that are variables and nothing else: run as it stands, a script
// has nothing in those that no line sets. Of its arguments, which are to be given, those that it
// looks for are left out: it has a value for them.
std::set<std::string> empty_the_unset(std::vector<std::string>& words)
{
    std::set<std::string> out;
    const auto empty = [&](std::string& word) {
        out.insert(lone_variable(word));
        word.clear();
    };
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (is_either(words[i], {"-z", "-n"}) && is_argument(lone_variable(words[i + 1])))
            empty(words[i + 1]);
        const std::string name = lone_variable(words[i]);
        if (i + 2 >= words.size() || name.empty() || !is_either(words[i + 1], {"=", "==", "!="}))
            continue;
        const bool unset = assigned_name(name + "=") == name.size() && !is_set_elsewhere(name);
        if (unset || (is_argument(name) && words[i + 2].empty()))
            empty(words[i]);
    }
    return out;
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
    for (auto& [name, function] : functions_)
        if (!function.called &&
            takes(fmt::format("function {}, which nothing calls, is run", name)))
            walk(*function.tokens, function.begin, function.end);
        else if (!function.called)
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
    if (std::exchange(target_follows_, false) && !token.plain().starts_with("--")) {
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
    else if (command_[at]->kind == ShellToken::Kind::arithmetic)
        status_ = calculate(command_[at]->pieces.front().text);
    else if (name == "let")
        for (std::size_t i = at + 1; i < command_.size(); ++i)
            status_ = calculate(expander_.text(command_[i]->pieces));
    else if (name == "true" || name == ":" || name == "false") {
        assign_defaults(at + 1);
        status_ = name != "false";
    } else if (is_either(name, {"export", "declare", "typeset", "local", "readonly"}))
        declare(at + 1, name == "export");
    else if (name == "exit" || name == "return")
        leave(at);
    else if (name == "break" || name == "continue")
        leave_round(name);
    else if (name == "unset")
        forget(at + 1);
    else if (name == "shift")
        shift(at + 1);
    else if (name == "read" && (here_document_ != nullptr || !here_string_.text.empty()))
        read_words(at + 1, assigned.contains("IFS") ? assigned.at("IFS").text : " \t\n");
    else if (name == "source" || name == ".")
        read_other_file(at + 1);
    else if (!call(name, at) && !read_document(name, at) && !run_other_script(at, assigned))
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
    // In [[ ]] the right side of a comparison is a pattern.
    const bool patterns = command_[from - 1]->plain() == "[[";
    std::vector<std::string> words;
    auto next = condition_operators_.begin();
    for (std::size_t i = from; i < command_.size(); ++i) {
        for (; next != condition_operators_.end() && next->first <= i; ++next)
            words.push_back(next->second);
        const std::vector<ShellPiece>& pieces = command_[i]->pieces;
        if (const std::string plain = command_[i]->plain(); plain == "]" || plain == "]]")
            continue;
        const std::string text = expander_.text(pieces).text;
        if (words.empty() || !is_either(words.back(), {"=", "==", "!=", "=~"}))
            words.push_back(text);
        else if (patterns)
            words.push_back(expander_.pattern(pieces).text);
        else
            words.push_back(has_unknown(text) ? text : literal_pattern(text));
    }
    const std::set<std::string> unset = empty_the_unset(words);
    const std::optional<bool> out = shell_test(words);
    for (const std::string& name : unset)
        if (out && runs())
            out_.assumed.push_back(fmt::format(
                "line {}: {} is empty: {}", line_, is_argument(name) ? "$" + name : name,
                is_argument(name) ? "no argument is given" : "no line sets it"));
    if (!out)
        condition_ = fmt::format("{}", fmt::join(words, " ")).substr(0, longest_told);
    const auto matches = std::find(words.begin(), words.end(), "=~");
    if (out == true && matches > words.begin() && words.end() - matches > 1)
        if (const auto groups = regular_match(matches[1], matches[-1])) {
            ShellVariable& match = out_.variables["BASH_REMATCH"];
            match.values.clear();
            for (const std::string& group : *groups)
                match.values.push_back(traced(group, line_));
        }
    return out;
}

// The outcome of ((...)); an assignment in it is made.
std::optional<bool> ShellInterpreter::calculate(const TracedText& expression)
{
    const std::string text = expander_.expanded(expression).text;
    const ShellLookup lookup = [this](std::string_view name) { return expander_.lookup(name); };
    const auto assignment = arithmetic_assignment(text);
    const auto value = shell_arithmetic(assignment ? assignment->expression : text, lookup);
    if (assignment)
        out_.variables[assignment->name].values = {
            traced(value ? std::to_string(*value) : "$((" + assignment->expression + "))", line_)};
    return value ? std::optional(*value != 0) : std::nullopt;
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
