#include "calibrate/import/notes.h"

#include <algorithm>

namespace trainyard {
namespace {

Json list_of(const std::vector<std::string>& notes)
{
    Json out = Json::array();
    for (const std::string& note : notes)
        out.push_back(note);
    return out;
}

} // namespace

void add_note(std::vector<std::string>& notes, std::string note)
{
    if (notes.size() > most_notes || std::find(notes.begin(), notes.end(), note) != notes.end())
        return;
    notes.push_back(notes.size() < most_notes ? std::move(note) : "and more of the kind");
}

void append(ImportNotes& notes, const ImportNotes& more)
{
    for (const auto list : {&ImportNotes::understood, &ImportNotes::assumed, &ImportNotes::ignored,
                            &ImportNotes::flagged})
        for (const std::string& note : more.*list)
            add_note(notes.*list, note);
}

std::string describe(const ImportNotes& notes)
{
    std::string out;
    const auto add = [&out](std::string_view title, const std::vector<std::string>& list) {
        if (list.empty())
            return;
        out += title;
        out += '\n';
        for (const std::string& note : list)
            out += "  " + printable(note, 1000) + '\n';
    };
    add("understood", notes.understood);
    add("assumed", notes.assumed);
    add("ignored", notes.ignored);
    add("flagged", notes.flagged);
    return out;
}

Json to_json(const ImportNotes& notes)
{
    Json out = Json::object();
    out["understood"] = list_of(notes.understood);
    out["assumed"] = list_of(notes.assumed);
    out["ignored"] = list_of(notes.ignored);
    out["flagged"] = list_of(notes.flagged);
    return out;
}

Problems problem_with(const std::string& file, std::string message, std::string hint)
{
    return {{file, 0, "", std::move(message), std::move(hint), Severity::error}};
}

std::string printable(std::string_view text, std::size_t length)
{
    std::string out;
    for (const char c : text.substr(0, length))
        out += c >= ' ' && c <= '~' ? c : '?';
    if (text.size() > length)
        out += "...";
    return out;
}

} // namespace trainyard
