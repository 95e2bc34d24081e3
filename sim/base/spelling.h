#pragma once

// Slips in the names of options.

#include <span>
#include <string>
#include <string_view>

namespace trainyard {

// The candidate that the name of an option looks like a slip of: two letters too many or too few,
// one other letter, or up to half of its words left out ("--tensor-parallel-size"); or empty.
// Stricter than `did_you_mean`: for names that may well exist and only are not known here.
std::string near_option(std::string_view name, std::span<const std::string> candidates);

} // namespace trainyard
