#pragma once

#include "sim/base/json.h"

namespace trainyard {

// A member of an object that is written as a list of them.
inline Json::Member member(std::string_view key, Json value)
{
    return {std::string(key), std::move(value)};
}

} // namespace trainyard
