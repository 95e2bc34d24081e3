#pragma once

// What every fuzz target shares: the bytes as text, and laws that must hold of what was read.

#include "sim/base/json.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace trainyard::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size)
{
    return {reinterpret_cast<const char*>(data), size};
}

// Ends the run, as a finding, where a law does not hold.
inline void require(bool holds, const char* law)
{
    if (holds)
        return;
    std::fprintf(stderr, "law broken: %s\n", law);
    std::abort();
}

inline std::optional<Json> json_of(const std::uint8_t* data, std::size_t size)
{
    Checked<Json> json = parse_json(text_of(data, size), "fuzz.json");
    return json ? std::optional(std::move(*json)) : std::nullopt;
}

} // namespace trainyard::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
