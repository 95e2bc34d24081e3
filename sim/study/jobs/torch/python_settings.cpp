#include "sim/study/jobs/torch/python_settings.h"

#include "sim/base/words.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace trainyard {
namespace {

constexpr int deepest_call = 64;
constexpr std::size_t most_copied = 100'000; // values, of variables named again and again

std::size_t values_in(const Json& tree)
{
    std::size_t out = 1;
    if (tree.is_array())
        for (const Json& item : tree.items())
            out += values_in(item);
    if (tree.is_object())
        for (const Json::Member& member : tree.members())
            out += values_in(member.second);
    return out;
}

struct PythonValue {
    Json json;
    std::string call; // the name of what was called; empty: it is no call
};

class PythonReader {
public:
    // `known` are settings that functions further down return, as far as they are known.
    PythonReader(std::string_view text, const std::vector<PythonSettings>& known)
        : text_(text), known_(known)
    {}

    std::vector<PythonSettings> read()
    {
        while (skip_blanks(), at_ < text_.size())
            statement();
        return std::move(out_);
    }

private:
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void step()
    {
        line_ += text_[at_] == '\n' ? 1 : 0;
        ++at_;
    }

    // Within brackets a new line is a blank; between statements too.
    void skip_blanks(bool lines = true)
    {
        while (at_ < text_.size())
            if (peek() == '#')
                while (at_ < text_.size() && peek() != '\n')
                    step();
            else if (peek() == ' ' || peek() == '\t' || peek() == '\r' ||
                     (peek() == '\n' && (lines || open_ > 0)))
                step();
            else
                return;
    }

    std::string dotted_name()
    {
        const std::size_t from = at_;
        while (peek() == '_' || peek() == '.' ||
               std::isalnum(static_cast<unsigned char>(peek())) != 0)
            ++at_;
        return std::string(text_.substr(from, at_ - from));
    }

    bool accept(char c)
    {
        skip_blanks(false);
        if (peek() != c)
            return false;
        step();
        return true;
    }

    void statement()
    {
        const bool outermost = at_ == 0 || text_[at_ - 1] == '\n';
        const std::string name = dotted_name();
        if (name == "def" && outermost) {
            skip_blanks(false);
            function_ = dotted_name();
            variables_.clear();
        } else if (name == "return" && !function_.empty()) {
            skip_blanks(false);
            keep(function_, value());
        } else if (outermost && name != "def")
            function_.clear();
        if (!name.empty() && accept('=') && peek() != '=') {
            skip_blanks(false);
            assign(name, value(), outermost);
        }
        skip_statement();
    }

    void keep(const std::string& name, PythonValue made)
    {
        if (!made.call.empty() && made.json.is_object())
            out_.push_back({name, std::move(made.json)});
    }

    void assign(const std::string& name, PythonValue made, bool outermost)
    {
        const std::size_t dot = name.find('.');
        if (dot == std::string::npos) {
            (outermost ? globals_ : variables_)[name] = made;
            if (outermost)
                keep(name, std::move(made));
            return;
        }
        PythonValue* const changed = variable(name.substr(0, dot));
        if (changed == nullptr)
            return;
        Json* at = &changed->json;
        for (std::size_t from = dot + 1; from < name.size();) {
            const std::size_t end = std::min(name.find('.', from), name.size());
            if (!at->is_object())
                *at = Json::object();
            at = &(*at)[name.substr(from, end - from)];
            from = end + 1;
        }
        *at = with_call(std::move(made));
    }

    // What was called stays beside its values: FullAC.Config() has no others.
    static Json with_call(PythonValue made)
    {
        if (!made.call.empty() && made.json.is_object())
            made.json[called_name] = made.call;
        return std::move(made.json);
    }

    // To the end of the statement, or of the part of a list.
    void skip_statement()
    {
        const int outer = open_;
        while (at_ < text_.size()) {
            const char c = peek();
            if (c == '\'' || c == '"') {
                text();
                continue;
            }
            if (c == '#') {
                skip_blanks(false);
                continue;
            }
            if (open_ == outer &&
                (c == '\n' || (outer > 0 && (c == ',' || c == ')' || c == ']' || c == '}'))))
                break;
            open_ += c == '(' || c == '[' || c == '{'   ? 1
                     : c == ')' || c == ']' || c == '}' ? -1
                                                        : 0;
            step();
        }
        open_ = outer;
    }

    // A literal; what is more than one, such as a sum, is null.
    PythonValue value()
    {
        if (depth_ == deepest_call) {
            skip_statement();
            return {};
        }
        ++depth_;
        const int line = line_;
        PythonValue out = simple_value();
        --depth_;
        skip_blanks(false);
        const char end = peek();
        if (end != '\n' && end != '\0' &&
            (open_ == 0 || (end != ',' && end != ')' && end != ']' && end != '}')))
        {
            skip_statement();
            out = {};
        }
        out.json.set_line(line);
        return out;
    }

    PythonValue simple_value()
    {
        const char c = peek();
        if (c == '\'' || c == '"')
            return {Json(text()), ""};
        if (c == '[' || c == '(')
            return {list(), ""};
        if (c == '{')
            return {dictionary(), ""};
        if (c == '-' || std::isdigit(static_cast<unsigned char>(c)) != 0)
            return {number(), ""};
        const std::string name = dotted_name();
        if (name.empty()) {
            skip_statement();
            return {};
        }
        if (name == "True" || name == "False")
            return {Json(name == "True"), ""};
        if (peek() == '(')
            return call(name);
        if (peek() == '\'' || peek() == '"') { // r"as it is"; f"{put_in}" is not known
            const std::string letters = text();
            return name.find_first_of("fF") == std::string::npos ? PythonValue{Json(letters), ""}
                                                                 : PythonValue{};
        }
        const PythonValue* const known = variable(name);
        return known != nullptr && may_copy(known->json) ? *known : PythonValue{};
    }

    // Of the function that is being read, else of the file.
    PythonValue* variable(const std::string& name)
    {
        for (auto* const all : {&variables_, &globals_})
            if (const auto found = all->find(name); found != all->end())
                return &found->second;
        return nullptr;
    }

    bool may_copy(const Json& tree)
    {
        copied_ += copied_ > most_copied ? 0 : values_in(tree);
        return copied_ <= most_copied;
    }

    std::string text()
    {
        const char quote = peek();
        const std::string three(3, quote);
        const std::string end = text_.substr(at_).starts_with(three) ? three : three.substr(0, 1);
        at_ += end.size();
        std::string out;
        while (at_ < text_.size() && !text_.substr(at_).starts_with(end) &&
               (end.size() == 3 || peek() != '\n'))
        {
            if (peek() == '\\' && at_ + 1 < text_.size())
                step();
            out += peek();
            step();
        }
        at_ = std::min(at_ + end.size(), text_.size());
        return out;
    }

    Json number()
    {
        std::string digits;
        while (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '_' ||
               peek() == '.' || peek() == '-' ||
               (peek() == '+' && !digits.empty() && digits.back() == 'e'))
        {
            if (peek() != '_')
                digits += peek();
            ++at_;
        }
        if (const auto whole = to_number<std::int64_t>(digits))
            return Json(*whole);
        const auto real = to_number<double>(digits);
        return real ? Json(*real) : Json();
    }

    // Up to the bracket that closes what is open; `item` takes each part.
    template <class Item>
    void parts(char close, const Item& item)
    {
        step();
        ++open_;
        while (skip_blanks(), at_ < text_.size() && peek() != close) {
            const std::size_t before = at_;
            item();
            if (!accept(',') && at_ == before)
                step(); // a bracket that closes nothing
        }
        --open_;
        if (at_ < text_.size())
            step();
    }

    Json list()
    {
        Json out = Json::array();
        parts(peek() == '[' ? ']' : ')', [&] { out.push_back(with_call(value())); });
        return out;
    }

    Json dictionary()
    {
        Json out = Json::object();
        parts('}', [&] {
            const std::string key = peek() == '\'' || peek() == '"' ? text() : std::string();
            if (!key.empty() && accept(':')) {
                skip_blanks();
                out[key] = value().json;
            } else
                skip_statement();
        });
        return out;
    }

    PythonValue call(const std::string& name)
    {
        Json named = Json::object();
        Json others = Json::array();
        Json passed; // the settings that it is given first
        parts(')', [&] {
            const std::size_t from = at_;
            const int line = line_;
            const std::string key = dotted_name();
            if (!key.empty() && accept('=') && peek() != '=') {
                skip_blanks();
                named[key] = with_call(value());
            } else {
                at_ = from;
                line_ = line;
                PythonValue given = value();
                if (others.items().empty() && is_function(given.call) && given.json.is_object())
                    passed = given.json;
                others.push_back(std::move(given.json));
            }
        });
        const PythonSettings* const made = made_by(name);
        if (made != nullptr && may_copy(made->values))
            named = made->values;
        else if (is_function(name) && passed.is_object()) {
            named = std::move(passed);
            named[passed_through] = name;
        } else {
            if (is_function(name))
                named[made_elsewhere] = name;
            if (!others.items().empty())
                named["args"] = std::move(others);
        }
        return {std::move(named), name};
    }

    // Not a class, "FullAC.Config".
    static bool is_function(std::string_view name)
    {
        const std::string_view last = name.substr(name.rfind('.') + 1);
        const std::size_t letter = last.find_first_not_of('_');
        return letter != std::string_view::npos &&
               std::isupper(static_cast<unsigned char>(last[letter])) == 0;
    }

    // What a function of the file returns, wherever it stands.
    const PythonSettings* made_by(std::string_view name) const
    {
        for (const auto* list : {&out_, &known_})
            for (const PythonSettings& one : *list)
                if (one.name == name)
                    return &one;
        return nullptr;
    }

    std::string_view text_;
    const std::vector<PythonSettings>& known_;
    std::size_t at_ = 0;
    int line_ = 1;
    int open_ = 0; // brackets
    int depth_ = 0;
    std::size_t copied_ = 0;
    std::string function_;                         // being read
    std::map<std::string, PythonValue> variables_; // of that function
    std::map<std::string, PythonValue> globals_;
    std::vector<PythonSettings> out_;
};

} // namespace

std::vector<PythonSettings> python_settings(std::string_view text)
{
    // Once more for each function that another one above calls.
    constexpr int most_passes = 8;
    std::vector<PythonSettings> out;
    for (int pass = 0; pass < most_passes; ++pass) {
        std::vector<PythonSettings> now = PythonReader(text, out).read();
        const bool same = now == out;
        out = std::move(now);
        if (same)
            break;
    }
    return out;
}

} // namespace trainyard
