#pragma once

// What a reader says beside its values: what it understood, what it had to assume, what it left
// out, and what makes the numbers doubtful.

#include "sim/base/json.h"

#include <string>
#include <vector>

namespace trainyard {

struct ImportNotes {
    std::vector<std::string> understood;
    std::vector<std::string> assumed;
    std::vector<std::string> ignored;
    std::vector<std::string> flagged;

    bool operator==(const ImportNotes&) const = default;
};

// Adds a note unless it stands there already; a list holds at most `most_notes`, then one that says
// that there were more.
inline constexpr std::size_t most_notes = 100;
void add_note(std::vector<std::string>& notes, std::string note);

void append(ImportNotes& notes, const ImportNotes& more);

// One note a line, each list under its name; empty lists are left out. Control characters are
// escaped.
std::string describe(const ImportNotes& notes);

Json to_json(const ImportNotes& notes);

// Why a file as a whole cannot be read.
Problems problem_with(const std::string& file, std::string message, std::string hint);

// Text of a file as it may be shown: control characters and bytes beyond ASCII become '?', at most
// `length` characters.
std::string printable(std::string_view text, std::size_t length = 80);

} // namespace trainyard
