#include "sim/cost/field_kinds.h"

#include "sim/base/reader.h"

#include <fmt/core.h>

namespace trainyard {

FieldInfo share(std::string_view help)
{
    return {.help = help, .min = 0, .max = 1};
}

FieldInfo not_negative(std::string_view help)
{
    return {.help = help, .min = 0};
}

FieldInfo factor(std::string_view help)
{
    return {.help = help, .min = 0.01, .max = 100};
}

void need_positive(const Reader& reader, std::string_view part,
                   const std::vector<std::pair<const char*, double>>& quantities)
{
    for (const auto& [name, value] : quantities)
        if (!(value > 0))
            reader.error(fmt::format("\"{}\" is missing from {}", name, part));
}

} // namespace trainyard
