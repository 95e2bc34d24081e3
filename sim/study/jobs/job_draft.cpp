#include "sim/study/jobs/job_draft.h"

#include "sim/base/spelling.h"
#include "sim/base/words.h"
#include "sim/study/jobs/parts_of_a_step.h"

#include <algorithm>

namespace trainyard {
namespace {

std::string at_line(const Origin& origin)
{
    return origin.line > 0 ? fmt::format("line {}: {}", origin.line, origin.setting)
                           : origin.setting;
}

} // namespace

std::optional<std::string_view> why_aside(std::span<const Aside> list, std::string_view name)
{
    for (const Aside& aside : list)
        if (any_word(aside.names, [&](std::string_view start) { return name.starts_with(start); }))
            return aside.why;
    return std::nullopt;
}

std::string JobDraft::pointer_of(std::string_view place)
{
    std::string out = "/" + std::string(place);
    std::replace(out.begin(), out.end(), '.', '/');
    return out;
}

void JobDraft::remember(std::string_view place, const Origin& origin, const Json& value)
{
    origins_[pointer_of(place)] = origin;
    const std::string text =
        value.is_string() ? value.as_string() : to_text(value, JsonStyle::compact);
    std::string note = fmt::format("{} -> {} {}", at_line(origin), place, text);
    places[note] = pointer_of(place);
    add_note(notes.understood, std::move(note));
}

void JobDraft::understand(const Origin& origin, std::string_view meaning)
{
    add_note(notes.understood, fmt::format("{} -> {}", at_line(origin), meaning));
}

void JobDraft::assume(const Origin& origin, std::string_view sentence)
{
    add_note(notes.assumed, fmt::format("{}: {}", at_line(origin), sentence));
}

void JobDraft::flag(const Origin& origin, std::string_view sentence)
{
    add_note(notes.flagged, fmt::format("{}: {}", at_line(origin), sentence));
}

void JobDraft::ignore(const Origin& origin, std::string_view why)
{
    add_note(notes.ignored, fmt::format("{}{}{}", at_line(origin), why.empty() ? "" : ": ", why));
}

void JobDraft::tell_unknown(const Origin& origin, std::string_view name, const SoughtNames& sought,
                            std::string_view why)
{
    const bool slip =
        !near_option(name, sought.missed).empty() || !near_slip(name, sought.found).empty();
    if (names_a_part_of_a_step(name) && !slip)
        flag(origin, fmt::format("{}; its name tells of a part of a step, which is modelled as "
                                 "without it",
                                 why));
    else
        ignore_unknown(origin, name, sought, why);
}

void JobDraft::ignore_unknown(const Origin& origin, std::string_view name,
                              const SoughtNames& sought, std::string_view why)
{
    if (notes.ignored.size() > most_notes)
        return;
    std::string near = near_option(name, sought.missed);
    std::string hint = fmt::format("did you mean {}?", near);
    if (near.empty()) {
        near = near_slip(name, sought.found);
        hint = fmt::format("did you mean {}, which is there too?", near);
    }
    if (near.empty())
        ignore(origin, why);
    else
        problems.push_back({file_, origin.line, "", fmt::format("{}: {}", origin.setting, why),
                            std::move(hint), Severity::warning});
}

void JobDraft::refuse(const Origin& origin, std::string message, std::string hint)
{
    if (!origin.setting.empty())
        message = origin.setting + ": " + message;
    problems.push_back(
        {file_, origin.line, "", std::move(message), std::move(hint), Severity::error});
}

void JobDraft::locate_origin(Diagnostic& problem) const
{
    std::string pointer = problem.pointer;
    while (!pointer.empty()) {
        if (const auto found = origins_.find(pointer); found != origins_.end()) {
            problem.file = file_;
            problem.line = found->second.line;
            problem.message =
                fmt::format("{}: {}", found->second.setting, std::move(problem.message));
            return;
        }
        pointer.erase(pointer.rfind('/'));
    }
    problem.file = file_;
    problem.line = 0;
}

} // namespace trainyard
