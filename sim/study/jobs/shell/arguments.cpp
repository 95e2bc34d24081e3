#include "sim/study/jobs/shell/arguments.h"

#include <algorithm>
#include <cctype>

namespace trainyard {
namespace {

// "-1" and "-0.5" are values.
bool is_option(std::string_view word)
{
    return word.size() > 1 && word[0] == '-' && word != "--" &&
           std::isdigit(static_cast<unsigned char>(word[1])) == 0 && word[1] != '.';
}

// Every underscore, of -short and --long options alike.
std::string with_dashes_throughout(std::string name)
{
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

} // namespace

std::string Argument::text() const
{
    if (!written.empty())
        return written;
    std::string out = name;
    for (const std::string& value : values)
        out += " " + value;
    return out;
}

Arguments::Arguments(const std::vector<TracedText>& words)
{
    std::optional<Argument> open;
    for (const TracedText& word : words) {
        if (!is_option(word.text)) {
            if (open)
                open->values.push_back(word.text);
            continue;
        }
        if (open)
            add(std::move(*open));
        const std::size_t equals = word.text.find('=');
        open = Argument{with_dashes_throughout(word.text.substr(0, equals)), {}, word.line()};
        if (equals != std::string::npos)
            open->values.push_back(word.text.substr(equals + 1));
    }
    if (open)
        add(std::move(*open));
}

void Arguments::add(Argument argument)
{
    last_[argument.name] = arguments_.size();
    arguments_.push_back(std::move(argument));
}

const Argument* Arguments::find(std::string_view name)
{
    looked_for_.emplace(name);
    return last(name);
}

const Argument* Arguments::last(std::string_view name) const
{
    const auto found = last_.find(name);
    return found == last_.end() ? nullptr : &arguments_[found->second];
}

std::vector<Argument> Arguments::unseen() const
{
    std::vector<Argument> out;
    for (const Argument& argument : arguments_)
        if (!looked_for_.contains(argument.name))
            out.push_back(argument);
    return out;
}

void Arguments::replace_all(std::vector<Argument> arguments)
{
    arguments_.clear();
    last_.clear();
    for (Argument& one : arguments)
        add(std::move(one));
}

SoughtNames Arguments::sought() const
{
    SoughtNames out;
    for (const std::string& name : looked_for_)
        (contains(name) ? out.found : out.missed).push_back(name);
    return out;
}

} // namespace trainyard
