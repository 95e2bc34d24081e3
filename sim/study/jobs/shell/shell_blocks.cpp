// Conditions, cases, loops and functions of a script.

#include "sim/base/words.h"
#include "sim/study/jobs/shell/shell_interpreter.h"
#include "sim/study/jobs/shell/shell_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trainyard {
namespace {

constexpr int deepest_call = 16;

} // namespace

bool ShellInterpreter::runs() const
{
    return frames_.empty() || (frames_.back().outer_runs && frames_.back().runs);
}

void ShellInterpreter::push(Frame::Kind kind, bool frame_runs, std::string why)
{
    Frame frame;
    frame.kind = kind;
    frame.outer_runs = runs();
    frame.runs = frame_runs;
    frame.line = line_;
    frame.body = at_;
    if (frame.outer_runs) // else the outer one tells
        frame.why = std::move(why);
    frames_.push_back(std::move(frame));
}

void ShellInterpreter::pop(int last_line)
{
    const Frame& frame = frames_.back();
    if (!frame.why.empty()) {
        std::string why = fmt::format("lines {} to {}: {}", frame.line, last_line, frame.why);
        if (!frame.branches.empty())
            why +=
                fmt::format("{}{}", frame.kind == Frame::Kind::choice ? "; its branches: " : ": ",
                            fmt::join(frame.branches, ", "));
        if (!frame.sets.empty())
            out_.doubtful.push_back(fmt::format("lines {} to {}: what was left out may set {}",
                                                frame.line, last_line,
                                                fmt::join(frame.sets, ", ")));
        out_.skipped.push_back(std::move(why));
    }
    frames_.pop_back();
}

bool ShellInterpreter::takes(std::string_view what)
{
    if (!takes_doubtful_ || !runs())
        return false;
    out_.assumed.push_back(fmt::format("line {}: {}", line_, what));
    return true;
}

bool ShellInterpreter::keyword(const std::string& word)
{
    if (word == "if") {
        push(Frame::Kind::condition, true, "");
        frames_.back().testing = true;
        status_ = true;
        condition_.clear();
    } else if (word == "for")
        open_loop();
    else if (has_word("while until select", word)) {
        const bool once = takes("a loop is run once");
        push(Frame::Kind::loop, once, once ? "" : "a loop was not run");
    } else if (word == "case")
        open_case();
    else if (word == "{")
        open_function();
    else if (word == "function" && at_ < tokens_->size()) {
        function_name_ = (*tokens_)[at_].plain();
        ++at_;
    } else if (closing(word))
        return true;
    else if (has_word("then elif else", word))
        branch(word);
    else
        return has_word("do time", word);
    return true;
}

bool ShellInterpreter::closing(const std::string& word)
{
    if (!has_word("fi done esac }", word))
        return false;
    if (frames_.empty())
        return true;
    const Frame::Kind kind = frames_.back().kind;
    if (word == "done" && kind == Frame::Kind::loop)
        next_round();
    else if (word == "}" && kind == Frame::Kind::function)
        close_function();
    else if ((word == "fi" && kind == Frame::Kind::condition) ||
             (word == "esac" && kind == Frame::Kind::choice) ||
             (word == "}" && kind == Frame::Kind::group))
        pop(line_);
    return true;
}

void ShellInterpreter::branch(const std::string& word)
{
    if (frames_.empty() || frames_.back().kind != Frame::Kind::condition)
        return;
    Frame& frame = frames_.back();
    if (word == "then") {
        frame.testing = false;
        if (!frame.decided && !status_ &&
            takes(fmt::format("{} is taken to hold",
                              condition_.empty() ? "a condition" : condition_)))
            status_ = true;
        frame.runs = frame.runs && !frame.decided && status_ == true;
        const bool unknown = !frame.decided && !status_;
        if (unknown && frame.outer_runs) {
            if (frame.why.empty())
                frame.why = "an if whose condition is not known here was left out";
            if (!condition_.empty())
                frame.branches.push_back(condition_);
        }
        frame.decided = frame.decided || !status_ || *status_;
    } else if (word == "elif") {
        frame.testing = !frame.decided;
        frame.runs = !frame.decided;
        status_ = true;
        condition_.clear();
    } else {
        frame.runs = !frame.decided;
        frame.decided = true;
    }
}

// "case WORD in": its branches follow, each behind its patterns.
void ShellInterpreter::open_case()
{
    const std::string subject =
        at_ < tokens_->size() ? expander_.text((*tokens_)[at_].pieces).text : std::string();
    const bool known = !has_unknown(subject);
    push(Frame::Kind::choice, false,
         known ? "" : fmt::format("a case of {} was not decided", subject));
    Frame& frame = frames_.back();
    frame.subject = subject;
    frame.decided = !known;
    frame.testing = true;
    at_ = std::min(at_ + 2, tokens_->size());
}

bool ShellInterpreter::in_patterns() const
{
    return !frames_.empty() && frames_.back().kind == Frame::Kind::choice && frames_.back().testing;
}

void ShellInterpreter::close_patterns()
{
    Frame& frame = frames_.back();
    const bool matches =
        std::any_of(frame.patterns.begin(), frame.patterns.end(),
                    [&](const std::string& one) { return shell_matches(one, frame.subject); });
    constexpr std::size_t most_told = 20;
    if (!frame.why.empty() && frame.branches.size() < most_told)
        frame.branches.push_back(fmt::format("{}", fmt::join(frame.patterns, "|")));
    frame.runs = matches && !frame.decided;
    frame.decided = frame.decided || matches;
    frame.testing = false;
    frame.patterns.clear();
}

// "for NAME in WORD...": runs once for each word, where all are known.
void ShellInterpreter::open_loop()
{
    if (at_ < tokens_->size() && (*tokens_)[at_].kind == ShellToken::Kind::arithmetic)
        return open_counted_loop();
    const auto word_at = [&](std::size_t i) {
        return i < tokens_->size() ? (*tokens_)[i].plain() : std::string();
    };
    const std::string name = word_at(at_);
    std::vector<TracedText> items;
    bool known = word_at(at_ + 1) == "in" && runs();
    if (known) {
        std::size_t i = at_ + 2;
        for (; i < tokens_->size() && (*tokens_)[i].kind == ShellToken::Kind::word; ++i)
            for (TracedText& item : expander_.words((*tokens_)[i]))
                items.push_back(std::move(item));
        at_ = i;
    }
    known = known && !items.empty() &&
            std::none_of(items.begin(), items.end(),
                         [](const TracedText& item) { return has_unknown(item.text); });
    if (!known && takes(fmt::format("a loop is run once, {} as it stands", name))) {
        items = {traced("${" + name + "}", line_)};
        known = true;
    }
    push(Frame::Kind::loop, known, known ? "" : "a loop was not run");
    if (!known)
        return;
    Frame& frame = frames_.back();
    frame.variable = name;
    frame.items = std::move(items);
    frame.body = at_;
    frame.next_item = 1;
    out_.variables[name].values = {frame.items.front()};
}

// "for ((first; while; step))", as long as its condition is known to hold.
void ShellInterpreter::open_counted_loop()
{
    const TracedText& text = (*tokens_)[at_++].pieces.front().text;
    std::vector<TracedText> clauses;
    for (std::size_t from = 0; from <= text.text.size();) {
        const std::size_t end = std::min(text.text.find(';', from), text.text.size());
        clauses.push_back(text.part(from, end - from));
        from = end + 1;
    }
    const bool whole = clauses.size() == 3 && runs();
    if (whole)
        calculate(clauses[0]);
    const std::optional<bool> begins = whole ? calculate(clauses[1]) : std::nullopt;
    const bool once = !begins && takes("a loop is run once");
    push(Frame::Kind::loop, once || begins == true, once || begins ? "" : "a loop was not run");
    if (!once)
        frames_.back().clauses = std::move(clauses);
}

void ShellInterpreter::next_round()
{
    Frame& frame = frames_.back();
    frame.runs = frame.runs || std::exchange(frame.goes_on, false);
    const bool counts = !frame.clauses.empty() && runs();
    if (counts)
        calculate(frame.clauses[2]);
    const bool again = counts ? calculate(frame.clauses[1]) == true
                              : runs() && frame.next_item < frame.items.size();
    if (!again)
        return pop(line_);
    if (counts) {
        at_ = frame.body;
        return;
    }
    out_.variables[frame.variable].values = {frame.items[frame.next_item]};
    ++frame.next_item;
    at_ = frame.body;
}

// "break" and "continue", of the innermost loop.
void ShellInterpreter::leave_round(const std::string& word)
{
    const auto loop = std::find_if(frames_.rbegin(), frames_.rend(), [](const Frame& frame) {
        return frame.kind == Frame::Kind::loop;
    });
    if (loop == frames_.rend())
        return;
    for (auto frame = frames_.rbegin(); frame != loop + 1; ++frame) {
        frame->runs = false;
        frame->decided = true;
    }
    loop->goes_on = word == "continue";
}

void ShellInterpreter::open_function()
{
    push(function_name_.empty() ? Frame::Kind::group : Frame::Kind::function,
         function_name_.empty(), "");
    frames_.back().variable = function_name_;
    function_name_.clear();
}

void ShellInterpreter::close_function()
{
    const Frame& frame = frames_.back();
    if (frame.outer_runs)
        functions_[frame.variable] = {tokens_, frame.body, at_ - 1, frame.line, line_, false};
    pop(line_);
}

// Runs a function with the words of a command as its parameters. False where there is none.
bool ShellInterpreter::call(const std::string& name, std::size_t at)
{
    const auto found = functions_.find(name);
    if (found == functions_.end())
        return false;
    found->second.called = true;
    if (depth_ >= deepest_call)
        return true; // one that calls itself without end does no more
    std::vector<TracedText> words;
    for (std::size_t i = at + 1; i < command_.size(); ++i)
        for (TracedText& word : expander_.words(*command_[i]))
            words.push_back(std::move(word));
    const ShellVariables before = out_.variables;
    set_parameters(std::move(words));
    const Function function = found->second;
    const int line = line_;
    command_.clear();
    walk(*function.tokens, function.begin, function.end);
    line_ = line;
    // Positional parameters are the caller's again; other variables are the script's.
    for (auto it = out_.variables.begin(); it != out_.variables.end();) {
        const bool positional = it->first.find_first_not_of("0123456789#@") == std::string::npos;
        it = positional ? out_.variables.erase(it) : std::next(it);
    }
    for (const auto& [key, variable] : before)
        if (key.find_first_not_of("0123456789#@") == std::string::npos)
            out_.variables[key] = variable;
    return true;
}

} // namespace trainyard
