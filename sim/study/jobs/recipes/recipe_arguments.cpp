#include "sim/study/jobs/recipes/recipe_arguments.h"

#include <algorithm>
#include <set>

namespace trainyard {
namespace {

std::string text_of(const Json& value)
{
    return value.is_string() ? value.as_string() : to_text(value, JsonStyle::compact);
}

class RecipeWalk {
public:
    RecipeWalk(const RecipeDialect& dialect, const Json& root,
               const std::map<std::string, std::string>& defined)
        : dialect_(dialect), root_(root), defined_(defined)
    {}

    Arguments take(const Json& part)
    {
        collect(part, "");
        add_unsaid(dialect_, denied_, out_);
        return std::move(out_);
    }

private:
    void collect(const Json& node, const std::string& path)
    {
        for (const Json::Member& member : node.members()) {
            const std::string name = path.empty() ? member.first : path + "." + member.first;
            if (member.second.is_object())
                collect(member.second, name);
            else if (!member.second.is_null())
                setting(name, member.second, node);
        }
    }

    void setting(const std::string& name, const Json& value, const Json& siblings)
    {
        const std::string said =
            value.is_array() ? std::string() : filled(text_of(value), siblings);
        const RecipeKey* const key = key_of(dialect_, name, said);
        if (key != nullptr && (key->argument.empty() || !goes_with(*key, siblings)))
            return;
        Argument argument;
        argument.line = value.line();
        argument.name = key != nullptr ? std::string(key->argument) : as_argument(name);
        if (key != nullptr && key->value == "off") {
            denied_.insert(argument.name);
            return;
        }
        if (key != nullptr && !key->value.empty()) {
            if (key->value != "-")
                argument.values.emplace_back(key->value);
        } else if (value.is_array())
            for (const Json& item : value.items())
                argument.values.push_back(filled(text_of(item), siblings));
        else if (value.is_bool() && !value.as_bool()) {
            denied_.insert(argument.name);
            return;
        } else if (!value.is_bool())
            argument.values = as_words(said);
        if (value.is_array() && argument.values.empty())
            return;
        // What stands deeper in the tree belongs to something else there: it says nothing over one
        // further out.
        const auto depth = std::count(name.begin(), name.end(), '.');
        const auto [known, first] = depths_.emplace(argument.name, depth);
        if (!first && known->second < depth)
            return;
        known->second = depth;
        out_.add(std::move(argument));
    }

    static bool goes_with(const RecipeKey& key, const Json& siblings)
    {
        const Json* const other = key.with.empty() ? nullptr : setting_at(siblings, key.with);
        return key.with.empty() || (other != nullptr && other->is_bool() && other->as_bool());
    }

    // Tests of Megatron-LM put their values into a command line: "2 2" and "[attn mlp]" are two.
    std::vector<std::string> as_words(std::string_view said) const
    {
        const bool place = said.find_first_of("{<") != std::string_view::npos; // of a template
        const bool list = said.starts_with('[') && said.ends_with(']');
        if (dialect_.mark != "MODEL_ARGS" || place ||
            (!list && said.find(' ') == std::string_view::npos))
            return {std::string(said)};
        if (list)
            said = said.substr(1, said.size() - 2);
        std::vector<std::string> out;
        while (!said.empty()) {
            const std::size_t end = std::min(said.find(' '), said.size());
            if (end > 0)
                out.emplace_back(said.substr(0, end));
            said = said.substr(std::min(end + 1, said.size()));
        }
        return out;
    }

    static std::string as_argument(const std::string& name)
    {
        std::string out = name.substr(name.rfind('.') + 1);
        if (!out.starts_with("--"))
            out = "--" + out;
        std::replace(out.begin() + 2, out.end(), '_', '-');
        return out;
    }

    // $NAME, ${NAME}, ${NAME:default}, ${.sibling} and ${a.b} of a text that is nothing else.
    std::string filled(std::string text, const Json& siblings) const
    {
        if (text.size() < 2 || text.front() != '$')
            return text;
        if (text[1] != '{')
            text = "${" + text.substr(1) + "}";
        if (text.find("${", 2) != std::string::npos)
            return text;
        if (const std::size_t close = text.find('}'); close != text.size() - 1) {
            if (close == std::string::npos)
                return text;
            // "${MODEL:llama}.yaml"
            return filled(text.substr(0, close + 1), siblings) + text.substr(close + 1);
        }
        std::string inside = text.substr(2, text.size() - 3);
        for (const std::string_view resolver : {"oc.env:", "env:"})
            if (inside.starts_with(resolver))
                inside = inside.substr(resolver.size());
        const std::size_t end = inside.find_first_of(":,");
        const std::string name = inside.substr(0, end);
        if (const auto found = defined_.find(name); found != defined_.end())
            return found->second;
        if (end != std::string::npos) {
            const std::string fallback = inside.substr(end + 1);
            return fallback.starts_with('-') ? fallback.substr(1) : fallback;
        }
        const Json* const other =
            name.starts_with('.') ? setting_at(siblings, name.substr(1)) : setting_at(root_, name);
        const bool plain = other != nullptr && !other->is_object() && !other->is_array();
        return plain && !text_of(*other).starts_with("$") ? text_of(*other) : text;
    }

    const RecipeDialect& dialect_;
    const Json& root_;
    const std::map<std::string, std::string>& defined_;
    Arguments out_;
    std::set<std::string, std::less<>> denied_;    // switches that are said to be off
    std::map<std::string, std::ptrdiff_t> depths_; // of the setting each argument came from
};

} // namespace

void add_unsaid(const RecipeDialect& dialect, const std::set<std::string, std::less<>>& denied,
                Arguments& arguments)
{
    const auto applies = [&](const UnsaidArgument& one) {
        if (arguments.contains(one.argument) || denied.contains(one.argument) ||
            std::ranges::any_of(one.unless,
                                [&](std::string_view name) { return arguments.contains(name); }))
            return false;
        const Argument* const beside = arguments.last(one.where);
        return one.where.empty() || (beside != nullptr && beside->values.size() == 1 &&
                                     beside->values.front() == one.is);
    };
    for (const UnsaidArgument& one : dialect.unsaid)
        if (applies(one)) {
            Argument argument{std::string(one.argument), {}, 0};
            if (!one.value.empty())
                argument.values.emplace_back(one.value);
            arguments.add(std::move(argument));
        }
}

void tell_unsaid(const RecipeDialect& dialect, const Arguments& arguments, JobDraft& draft)
{
    for (const UnsaidArgument& one : dialect.unsaid)
        if (const Argument* const argument = arguments.last(one.argument);
            argument != nullptr && argument->line == 0)
            draft.assume(fmt::format("{}: {}'s default where nothing is said", argument->text(),
                                     dialect.name));
}

Arguments recipe_arguments(const Json& part, const RecipeDialect& dialect, const Json& root,
                           const std::map<std::string, std::string>& defined)
{
    return RecipeWalk(dialect, root, defined).take(part);
}

} // namespace trainyard
