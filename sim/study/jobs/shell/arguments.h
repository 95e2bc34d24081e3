#pragma once

// Arguments of a program, "--name value ...", each with its line, and which of them were looked at.

#include "sim/base/diagnostic.h"
#include "sim/study/jobs/shell/shell_tokens.h"
#include "sim/study/jobs/sought_names.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace trainyard {

struct Argument {
    std::string name; // "--num-layers"; underscores of the file are dashes here
    std::vector<std::string> values;
    int line = 0;
    std::string written{}; // as it stands there, where its name is another's in other words

    std::string text() const; // as written: "--num-layers 32"
    bool operator==(const Argument&) const = default;
};

class Arguments {
public:
    Arguments() = default;

    // "--name value...", "--name=value"; what stands before the first name is left out.
    explicit Arguments(const std::vector<TracedText>& words);

    void add(Argument argument);
    bool empty() const { return arguments_.empty(); }
    std::size_t size() const { return arguments_.size(); }

    // The last one of that name, as argparse takes it; null when absent. Counts as looked at.
    const Argument* find(std::string_view name);
    bool has(std::string_view name) { return find(name) != nullptr; }
    bool contains(std::string_view name) const { return last(name) != nullptr; }
    const Argument* last(std::string_view name) const; // without looking at it

    // Those that were never looked at, in the order of the file.
    std::vector<Argument> unseen() const;

    // All of them, in the order of the file; and others in their place.
    const std::vector<Argument>& all() const { return arguments_; }
    void replace_all(std::vector<Argument> arguments);

    SoughtNames sought() const;

private:
    std::vector<Argument> arguments_;
    std::map<std::string, std::size_t, std::less<>> last_; // where a name stands last
    std::set<std::string, std::less<>> looked_for_;
};

} // namespace trainyard
