#include "calibrate/fit/table_text.h"

namespace trainyard {
namespace {

// Of the list that opens at `begin`: where it ends, if nothing in it is a list or an object; else
// `begin`.
std::size_t end_of_flat_list(const std::string& text, std::size_t begin)
{
    bool in_string = false;
    for (std::size_t i = begin + 1; i < text.size(); ++i) {
        if (in_string) {
            if (text[i] == '\\')
                ++i;
            else if (text[i] == '"')
                in_string = false;
            continue;
        }
        if (text[i] == '"')
            in_string = true;
        else if (text[i] == ']')
            return i;
        else if (text[i] == '[' || text[i] == '{')
            return begin;
    }
    return begin;
}

// Line breaks and indentation as one blank, none after the bracket and before the other.
void add_on_one_line(std::string& out, std::string_view list)
{
    bool in_string = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const char letter = list[i];
        if (!in_string && (letter == '\n' || letter == ' ')) {
            const bool at_edge = out.back() == '[' || out.back() == ' ';
            if (!at_edge && list.find_first_not_of(" \n", i) != list.size() - 1)
                out += ' ';
            continue;
        }
        if (letter == '"' && (!in_string || list[i - 1] != '\\'))
            in_string = !in_string;
        out += letter;
    }
}

} // namespace

std::string table_text(const Json& json)
{
    const std::string pretty = to_text(json);
    std::string out;
    bool in_string = false;
    for (std::size_t i = 0; i < pretty.size(); ++i) {
        if (pretty[i] == '"' && (!in_string || pretty[i - 1] != '\\'))
            in_string = !in_string;
        const std::size_t end = !in_string && pretty[i] == '[' ? end_of_flat_list(pretty, i) : i;
        if (end == i) {
            out += pretty[i];
            continue;
        }
        add_on_one_line(out, std::string_view(pretty).substr(i, end - i + 1));
        i = end;
    }
    return out + "\n";
}

} // namespace trainyard
