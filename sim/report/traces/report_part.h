#pragma once

#include "sim/report/text/table.h"

namespace trainyard {

// A table with what there is to say of it: the first row is its heads. Empty where it has no other.
struct ReportPart {
    TextTable table;
    std::vector<std::string> notes = {};

    bool empty() const { return table.rows().size() < 2; }

    // For a terminal; nothing where it is empty.
    std::string text(std::size_t width) const
    {
        if (empty())
            return {};
        std::string out = table.text_within(width);
        for (const std::string& note : notes)
            out += hung("  ", note, width);
        return out;
    }
};

} // namespace trainyard
