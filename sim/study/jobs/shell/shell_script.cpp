#include "sim/study/jobs/shell/shell_script.h"

#include "sim/study/jobs/shell/shell_test.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::size_t most_commands = 100'000;

// A part of the script that runs or does not: if, a loop, a function, case, { }.
struct Frame {
    enum class Kind { condition, loop, choice, function, group };
    Kind kind = Kind::group;
    bool outer_runs = true; // what it stands in; fixed while it is open
    bool runs = true;       // the commands being read now
    bool decided = false;   // of an if: a branch was taken, or none can be
    bool testing = false;   // between if and then
    int line = 0;
    std::string why; // it was left out; empty when it was not
};

bool is_one_of(const std::string& word, std::initializer_list<std::string_view> list)
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

bool closes(const std::string& word, Frame::Kind kind)
{
    switch (kind) {
    case Frame::Kind::condition:
        return word == "fi";
    case Frame::Kind::loop:
        return word == "done";
    case Frame::Kind::choice:
        return word == "esac";
    case Frame::Kind::function:
    case Frame::Kind::group:
        return word == "}";
    }
    return false;
}

class Interpreter {
public:
    Interpreter(ShellScript& out) : out_(out), expander_(out.variables) {}

    void run(const std::vector<ShellToken>& tokens)
    {
        for (const ShellToken& token : tokens) {
            if (stopped_ || expander_.overflown() || out_.commands.size() > most_commands)
                break;
            take(token);
        }
        end_command("\n");
        while (!frames_.empty())
            pop(frames_.back().line);
    }

    int too_deep() const { return expander_.too_deep(); }
    bool overflown() const { return expander_.overflown() || out_.commands.size() > most_commands; }

private:
    void take(const ShellToken& token)
    {
        line_ = token.line;
        if (token.kind == ShellToken::Kind::redirect) {
            target_follows_ = true;
            return;
        }
        if (token.kind == ShellToken::Kind::operation) {
            operation(token.operation);
            return;
        }
        if (target_follows_) {
            target_follows_ = false;
            return;
        }
        if (command_.empty() && keyword(token.plain()))
            return;
        command_.push_back(&token);
    }

    // Inside [[ ]] the operators belong to the condition.
    bool inside_double_brackets() const
    {
        return !command_.empty() && command_.front()->plain() == "[[" &&
               command_.back()->plain() != "]]";
    }

    void operation(const std::string& op)
    {
        target_follows_ = false;
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
    }

    bool runs() const
    {
        return frames_.empty() || (frames_.back().outer_runs && frames_.back().runs);
    }

    void push(Frame::Kind kind, bool frame_runs, std::string why)
    {
        Frame frame;
        frame.kind = kind;
        frame.outer_runs = runs();
        frame.runs = frame_runs;
        frame.line = line_;
        if (frame.outer_runs) // else the outer one tells
            frame.why = std::move(why);
        frames_.push_back(std::move(frame));
    }

    void pop(int last_line)
    {
        const Frame& frame = frames_.back();
        if (!frame.why.empty())
            out_.skipped.push_back(
                fmt::format("lines {} to {}: {}", frame.line, last_line, frame.why));
        frames_.pop_back();
    }

    // Words that open and close parts. True when the word was one.
    bool keyword(const std::string& word)
    {
        if (word == "if") {
            push(Frame::Kind::condition, true, "");
            frames_.back().testing = true;
            status_ = true;
        } else if (is_one_of(word, {"for", "while", "until", "select"}))
            push(Frame::Kind::loop, false, "a loop was not run");
        else if (word == "case")
            push(Frame::Kind::choice, false, "a case was not decided");
        else if (word == "{")
            push(function_name_.empty() ? Frame::Kind::group : Frame::Kind::function,
                 function_name_.empty(),
                 function_name_.empty() ? ""
                                        : fmt::format("function {} was not run", function_name_)),
                function_name_.clear();
        else if (is_one_of(word, {"fi", "done", "esac", "}"})) {
            if (!frames_.empty() && closes(word, frames_.back().kind))
                pop(line_);
        } else if (is_one_of(word, {"then", "elif", "else"}))
            branch(word);
        else
            return is_one_of(word, {"do", "time"});
        return true;
    }

    void branch(const std::string& word)
    {
        if (frames_.empty() || frames_.back().kind != Frame::Kind::condition)
            return;
        Frame& frame = frames_.back();
        if (word == "then") {
            frame.testing = false;
            frame.runs = frame.runs && !frame.decided && status_ == true;
            const bool unknown = !frame.decided && !status_;
            if (unknown && frame.why.empty() && frame.outer_runs)
                frame.why = "an if whose condition is not known here was left out";
            frame.decided = frame.decided || !status_ || *status_;
        } else if (word == "elif") {
            frame.testing = !frame.decided;
            frame.runs = !frame.decided;
            status_ = true;
        } else {
            frame.runs = !frame.decided;
            frame.decided = true;
        }
    }

    // `op` ends the command; && and || decide whether the next one runs.
    void end_command(const std::string& op)
    {
        const bool chained_out = chain_ == "&&"   ? status_ != true
                                 : chain_ == "||" ? status_ != false
                                                  : false;
        if (!command_.empty() && runs() && !chained_out)
            run_command();
        chain_ = op == "&&" || op == "||" ? op : std::string();
        command_.clear();
        condition_operators_.clear();
    }

    void run_command()
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
        else if (name == "true" || name == ":" || name == "false")
            status_ = name != "false";
        else if (is_one_of(name, {"export", "declare", "typeset", "local", "readonly"}))
            declare(at + 1, name == "export");
        else if (name == "exit" || name == "return")
            stopped_ = true;
        else
            record(at, std::move(assigned));
    }

    std::optional<bool> condition(std::size_t from)
    {
        std::vector<std::string> words;
        auto next = condition_operators_.begin();
        for (std::size_t i = from; i < command_.size(); ++i) {
            for (; next != condition_operators_.end() && next->first <= i; ++next)
                words.push_back(next->second);
            if (const std::string plain = command_[i]->plain(); plain != "]" && plain != "]]")
                words.push_back(expander_.text(command_[i]->pieces).text);
        }
        return shell_test(words);
    }

    // Whether the word is an assignment; lists are set at once, texts go to `assigned`.
    bool assign(const ShellToken& token, std::map<std::string, TracedText>& assigned)
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
            if (!adds)
                variable.values.clear();
            std::vector<TracedText> items;
            for (const ShellToken& item : token.items)
                for (TracedText& value : expander_.words(item))
                    items.push_back(std::move(value));
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

    void declare(std::size_t from, bool exports)
    {
        for (std::size_t i = from; i < command_.size(); ++i) {
            std::map<std::string, TracedText> assigned;
            std::string name = command_[i]->plain();
            if (assign(*command_[i], assigned))
                for (auto& [key, value] : assigned) {
                    name = key;
                    out_.variables[key].values = {std::move(value)};
                }
            if (const auto found = out_.variables.find(name);
                exports && found != out_.variables.end())
                found->second.exported = true;
        }
        status_ = true;
    }

    void record(std::size_t from, std::map<std::string, TracedText> assigned)
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

    ShellScript& out_;
    ShellExpander expander_;
    std::vector<Frame> frames_;
    std::vector<const ShellToken*> command_;
    std::vector<std::pair<std::size_t, std::string>> condition_operators_; // before which word
    std::string function_name_;
    std::string chain_;
    std::optional<bool> status_ = true; // of the last command; nothing when it is not known
    bool target_follows_ = false;
    bool stopped_ = false;
    int line_ = 0;
};

// Slurm sets these from the directives of a script.
void define_slurm_variables(ShellScript& script)
{
    for (const TracedText& directive : script.directives) {
        std::string text = directive.text;
        std::replace(text.begin(), text.end(), '=', ' ');
        const ShellTokens words = shell_tokens(traced(text, directive.line()));
        for (std::size_t i = 0; i + 1 < words.tokens.size(); ++i) {
            const std::string name = words.tokens[i].plain();
            const std::string value = words.tokens[i + 1].plain();
            const auto define = [&](std::string_view variable) {
                TracedText traced_value;
                traced_value.append(value, directive.line());
                script.variables[std::string(variable)].values = {std::move(traced_value)};
            };
            if (name == "-N" || name == "--nodes") {
                define("SLURM_NNODES");
                define("SLURM_JOB_NUM_NODES");
            } else if (name == "-n" || name == "--ntasks")
                define("SLURM_NTASKS");
            else if (name == "--ntasks-per-node")
                define("SLURM_NTASKS_PER_NODE");
            else if (name == "--gpus-per-node")
                define("SLURM_GPUS_PER_NODE");
        }
    }
}

} // namespace

Checked<ShellScript> read_shell(const TracedText& text, const std::string& file,
                                const std::map<std::string, std::string>& defined)
{
    ShellTokens tokens = shell_tokens(text);
    ShellScript out;
    out.directives = std::move(tokens.directives);
    out.skipped = std::move(tokens.skipped);
    define_slurm_variables(out);
    for (const auto& [name, value] : defined) {
        TracedText traced_value;
        traced_value.append(value, 0);
        out.variables[name].values = {std::move(traced_value)};
    }
    Interpreter interpreter(out);
    interpreter.run(tokens.tokens);
    out.too_deep = tokens.too_deep > 0 ? tokens.too_deep : interpreter.too_deep();
    for (const auto& [name, variable] : out.variables)
        if (variable.exported && !variable.values.empty())
            out.exported[name] = variable.values.front();
    if (interpreter.overflown())
        return tl::unexpected(
            Problems{{file, 0, "", "its variables grow beyond all reason",
                      "give the launch line with the values put in", Severity::error}});
    return out;
}

} // namespace trainyard
