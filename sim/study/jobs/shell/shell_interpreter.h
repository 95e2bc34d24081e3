#pragma once

// Walks over the tokens of a script as a shell would, as far as its text tells.

#include "sim/study/jobs/shell/shell_script.h"

#include <deque>
#include <set>

namespace trainyard {

// Length of "NAME" in "NAME=...", "NAME+=..." or "NAME[..."; 0 when it is no assignment.
std::size_t assigned_name(const std::string& text);

class ShellInterpreter {
public:
    ShellInterpreter(ShellScript& out, const ShellFiles& files)
        : out_(out), files_(files), expander_(out.variables)
    {}

    // Of the script, or of the function that is called: $1, $2, ..., $@ and $#.
    void set_parameters(std::vector<TracedText> words);

    // What is not known to run is taken to: the first branch of an if, a loop once, functions that
    // nothing calls.
    void take_doubtful() { takes_doubtful_ = true; }

    void run(const std::vector<ShellToken>& tokens);

    int too_deep() const { return expander_.too_deep(); }
    bool overflown() const;

private:
    using Tokens = std::vector<ShellToken>;

    // A part of the script that runs or does not: if, a loop, a function, case, { }.
    struct Frame {
        enum class Kind { condition, loop, choice, function, group };
        Kind kind = Kind::group;
        bool outer_runs = true; // what it stands in; fixed while it is open
        bool runs = true;       // the commands being read now
        bool decided = false;   // of an if or a case: a branch was taken, or none can be
        bool testing = false;   // between if and then; between the patterns of a case
        int line = 0;
        std::string why; // it was left out; empty when it was not
        // of a case
        std::string subject;
        std::vector<std::string> patterns; // of the branch being read
        std::vector<std::string> branches; // all of them, where the subject is not known
        std::set<std::string> sets;        // variables it would give another value, left out
        // of a loop: what its variable still takes, and where its body begins
        std::string variable;
        std::vector<TracedText> items;
        std::size_t next_item = 0;
        std::vector<TracedText> clauses; // of "for ((first; while; step))"
        bool goes_on = false;            // after "continue"
        // of a loop and of a function
        std::size_t body = 0;
    };

    struct Function {
        const Tokens* tokens = nullptr;
        std::size_t begin = 0;
        std::size_t end = 0;
        int first_line = 0;
        int last_line = 0;
        bool called = false;
    };

    void walk(const Tokens& tokens, std::size_t begin, std::size_t end);
    void take(const ShellToken& token);
    void operation(const std::string& op);
    bool inside_double_brackets() const;
    bool runs() const;

    // Blocks (shell_blocks.cpp).
    void push(Frame::Kind kind, bool frame_runs, std::string why);
    void pop(int last_line);
    bool takes(std::string_view what);     // what is not known to run; told where it does
    bool keyword(const std::string& word); // opens or closes a part; true when the word does
    bool closing(const std::string& word);
    void branch(const std::string& word);
    void open_case();
    bool in_patterns() const;
    void close_patterns();
    void open_loop();
    void open_counted_loop();
    void next_round();
    void leave_round(const std::string& word);
    void open_function();
    void close_function();
    bool call(const std::string& name, std::size_t at);

    // Commands.
    void end_command(const std::string& op);
    void note_left_out();
    bool read_document(const std::string& name, std::size_t at);
    bool run_other_script(std::size_t at, const std::map<std::string, TracedText>& assigned);
    void run_apart(const std::string& text, std::vector<TracedText> parameters,
                   const std::map<std::string, TracedText>& assigned);
    void read_inner_script(const std::string& text);
    void run_command();
    void leave(std::size_t at);
    std::optional<bool> condition(std::size_t from);
    std::optional<bool> calculate(const TracedText& expression);
    bool assign(const ShellToken& token, std::map<std::string, TracedText>& assigned);
    bool assign_element(const std::string& name, const ShellToken& token, std::size_t from);
    void assign_defaults(std::size_t from);
    void declare(std::size_t from, bool exports);
    void forget(std::size_t from);
    void shift(std::size_t at);
    void record(std::size_t from, std::map<std::string, TracedText> assigned);
    void read_words(std::size_t at, const std::string& separators);
    void read_other_file(std::size_t at);

    ShellScript& out_;
    const ShellFiles& files_;
    ShellExpander expander_;
    std::vector<Frame> frames_;
    std::map<std::string, Function> functions_;
    std::deque<ShellTokens> other_files_; // whose tokens functions point into
    std::vector<const ShellToken*> command_;
    std::vector<std::pair<std::size_t, std::string>> condition_operators_; // before which word
    const Tokens* tokens_ = nullptr;                                       // being walked over
    std::size_t at_ = 0; // the token after the one that is taken
    std::string function_name_;
    std::string chain_;
    std::string condition_;             // the last one that was not decided
    std::optional<bool> status_ = true; // of the last command; nothing when it is not known
    bool target_follows_ = false;
    std::string redirect_;                      // the operator of the target that follows
    std::string written_to_;                    // > target of the command being read
    const ShellToken* here_document_ = nullptr; // of the command being read
    TracedText here_string_;                    // <<< "text" of the command being read
    bool stopped_ = false;
    bool takes_doubtful_ = false;
    int line_ = 0;
    int depth_ = 0; // of functions and files in one another
    std::size_t steps_ = 0;
};

} // namespace trainyard
