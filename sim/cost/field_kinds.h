#pragma once

// Ranges that constants of hardware and software have, and what a file must not leave out.

#include "sim/base/fields.h"

#include <utility>
#include <vector>

namespace trainyard {

// 0 to 1 of something.
FieldInfo share(std::string_view help);

// A time, a rate or a size; 0 where it does not apply.
FieldInfo not_negative(std::string_view help);

// What another value is multiplied by: 0.01 to 100.
FieldInfo factor(std::string_view help);

// Reports every quantity that is not positive as missing from `part`.
void need_positive(const Reader& reader, std::string_view part,
                   const std::vector<std::pair<const char*, double>>& quantities);

} // namespace trainyard
