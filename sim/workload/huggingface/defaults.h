#pragma once

// What a family's configs leave out. A model that is a part of another's config is written there
// by what differs from its family's defaults only.

#include <cstdint>
#include <span>
#include <string_view>

namespace trainyard {

struct HfDefault {
    std::string_view key;
    std::int64_t value;
};

// Empty where the family is not known, or its parts say everything.
std::span<const HfDefault> hf_defaults(std::string_view model_type);

} // namespace trainyard
