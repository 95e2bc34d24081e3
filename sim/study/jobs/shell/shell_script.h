#pragma once

// The commands a shell script would run, as far as its text tells: variables put in, simple
// conditions decided, nothing executed.

#include "sim/base/diagnostic.h"
#include "sim/study/jobs/shell/shell_expansion.h"

namespace trainyard {

struct ShellCommand {
    std::vector<TracedText> words;
    std::map<std::string, TracedText> environment; // assignments before its first word

    bool operator==(const ShellCommand&) const = default;
};

struct ShellScript {
    std::vector<ShellCommand> commands;
    ShellVariables variables;                   // as they are at the end
    std::map<std::string, TracedText> exported; // to the programs it starts
    std::vector<TracedText> directives;         // of Slurm: what follows #SBATCH
    std::vector<std::string> skipped;           // sentences on lines that were left out
    std::vector<std::string> doubtful;          // on those of them that may set what is read
    std::vector<std::string> assumed;           // on what decided its conditions
    std::map<std::string, std::string> files;   // that it writes itself, by path
    TracedText shown_call;                      // its arguments, as one of its comments shows them
    int too_deep = 0; // line of expansions nested too deep to be read; 0: none
};

// Slurm sets variables from the directives of a script.
void define_slurm_variables(ShellScript& script);

// The text of a file that a script names; nothing when it is not there.
using ShellFiles = std::function<std::optional<std::string>(const std::string& path)>;

// `defined`: variables the caller knows; `files`: those that it reads as parts of itself. Refused:
// a text that is not text or too long, and variables that grow beyond all reason.
Checked<ShellScript> read_shell(const TracedText& text, const std::string& file,
                                const std::map<std::string, std::string>& defined,
                                const ShellFiles& files = {});

// The same where what is not known to run is taken to, which `assumed` tells: an if whose condition
// is not known, a loop over words that are not, a function that nothing calls.
Checked<ShellScript> read_doubtful_shell(const TracedText& text, const std::string& file,
                                         const std::map<std::string, std::string>& defined,
                                         const ShellFiles& files);

// A script that another one starts as a text ("bash -c '...'"), with what that one knows.
Checked<ShellScript> read_inner_shell(const TracedText& text, const ShellVariables& known);

} // namespace trainyard
