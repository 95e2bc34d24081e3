#include "sim/traces/execution/tensor_text.h"

#include "sim/base/words.h"

#include <optional>

namespace trainyard {
namespace {

// The place behind a text in quotes that begins at `at`.
std::size_t behind_quoted(std::string_view text, std::size_t at)
{
    const char quote = text[at];
    for (++at; at < text.size() && text[at] != quote; ++at)
        if (text[at] == '\\')
            ++at;
    return std::min(at + 1, text.size());
}

std::optional<TensorReference> tensor_of(std::string_view list)
{
    const std::vector<std::string_view> members = members_of(list);
    constexpr std::size_t parts = 6;
    if (members.size() != parts || members.back().empty() ||
        (members.back().front() != '\'' && members.back().front() != '"'))
        return std::nullopt;
    std::uint64_t numbers[parts - 1] = {};
    for (std::size_t i = 0; i + 1 < parts; ++i) {
        const std::optional<std::uint64_t> number = to_number<std::uint64_t>(members[i]);
        if (!number)
            return std::nullopt;
        numbers[i] = *number;
    }
    const std::string_view device = members.back().substr(1);
    if (device.size() <= 1) // an undefined tensor lies nowhere
        return std::nullopt;
    return TensorReference{numbers[0], numbers[1], numbers[3], numbers[4],
                           device.starts_with("cpu")};
}

} // namespace

std::vector<TensorReference> tensors_in(std::string_view values)
{
    std::vector<TensorReference> out;
    std::optional<std::size_t> open; // the innermost list that is still flat
    for (std::size_t i = 0; i < values.size();) {
        if (values[i] == '\'' || values[i] == '"') {
            i = behind_quoted(values, i);
            continue;
        }
        if (values[i] == '[') {
            open = i;
        } else if (values[i] == ']' && open) {
            if (const auto tensor = tensor_of(values.substr(*open, i + 1 - *open)))
                out.push_back(*tensor);
            open.reset();
        }
        ++i;
    }
    return out;
}

std::vector<std::string_view> members_of(std::string_view list)
{
    std::vector<std::string_view> out;
    list = trimmed(list);
    if (list.size() < 2 || list.front() != '[' || list.back() != ']')
        return out;
    list = trimmed(list.substr(1, list.size() - 2));
    std::size_t depth = 0;
    std::size_t begun = 0;
    for (std::size_t i = 0; i < list.size();) {
        const char c = list[i];
        if (c == '\'' || c == '"') {
            i = behind_quoted(list, i);
            continue;
        }
        if (c == '[' || c == '(')
            ++depth;
        else if ((c == ']' || c == ')') && depth > 0)
            --depth;
        else if (c == ',' && depth == 0) {
            out.push_back(trimmed(list.substr(begun, i - begun)));
            begun = i + 1;
        }
        ++i;
    }
    if (!list.empty())
        out.push_back(trimmed(list.substr(std::min(begun, list.size()))));
    return out;
}

std::vector<double> sizes_at(std::string_view shapes, std::size_t place)
{
    const std::vector<std::string_view> tensors = members_of(shapes);
    std::vector<double> out;
    if (place >= tensors.size())
        return out;
    for (const std::string_view word : members_of(tensors[place])) {
        const std::optional<std::uint64_t> size = to_number<std::uint64_t>(word);
        if (!size)
            return {};
        out.push_back(static_cast<double>(*size));
    }
    return out;
}

} // namespace trainyard
