#pragma once

#include "gui/model/document.h"
#include "gui/model/form.h"

namespace trainyard::gui::test {

/// What a field of the document holds, as it is edited.
inline std::string text_at(const Document& document, const std::string& field)
{
    const Json* const found = document.find(field);
    return found != nullptr ? edit_text(*found) : "absent";
}

} // namespace trainyard::gui::test
