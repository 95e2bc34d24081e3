#include "sim/base/file_format.h"

#include <fmt/core.h>

namespace trainyard {

bool same_kind(std::string_view format, std::string_view other)
{
    return format.substr(0, format.find('/')) == other.substr(0, other.find('/'));
}

bool expect_format(const Reader& object, std::string_view expected)
{
    if (object.node().find("format") == nullptr)
        return true;
    const Reader at = object.member("format");
    if (at.node().is_string() && at.node().as_string() == expected)
        return true;
    const std::string found =
        at.node().is_string() ? at.node().as_string() : to_text(at.node(), JsonStyle::compact);
    at.error(same_kind(found, expected)
                 ? fmt::format("format \"{}\" is of another version", found)
                 : fmt::format("format \"{}\" is another kind of file", found),
             fmt::format("this program reads \"{}\" here", expected));
    return false;
}

} // namespace trainyard
