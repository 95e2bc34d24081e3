#include "sim/report/text/paste.h"

#include "sim/base/quoted.h"

namespace trainyard {

std::string setting_text(const Override& change)
{
    return shell_word(change.field + "=" + change.value);
}

std::string paste_text(std::span<const Override> changes)
{
    std::string out;
    for (const Override& change : changes)
        out += (out.empty() ? "--set " : " --set ") + setting_text(change);
    return out;
}

Json json_value(const std::string& text)
{
    Checked<Json> parsed = parse_json(text, "value");
    return parsed ? std::move(*parsed) : Json(text);
}

} // namespace trainyard
