#pragma once

// Slips in names, and names that are only begun.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// The candidate that the name of an option looks like a slip of: two letters too many or too few
// (one of a short name), one other letter, or up to half of its words left out
// ("--tensor-parallel-size"); or empty. Stricter than `did_you_mean`: for names that may well exist
// and only are not known here.
std::string near_option(std::string_view name, std::span<const std::string> candidates);

// The same without names whose words are left out.
std::string near_slip(std::string_view name, std::span<const std::string> candidates);

// Its letters and digits, in lower case: "H100-SXM5 80GB" and "h100_sxm5_80gb" are one name.
std::string plain_name(std::string_view name);

// Those of `candidates` that begin with `word` as plain names do, three letters or more: "llama3"
// begins "llama-3.1-8b".
std::vector<std::string> names_beginning(std::string_view word,
                                         std::span<const std::string> candidates);

} // namespace trainyard
