#pragma once

// Text quoted for the formats that programs write.

#include <string>
#include <string_view>

namespace trainyard {

// A field of a CSV line (RFC 4180): quoted when it holds a comma, a quote or a line break.
std::string csv_field(std::string_view text);

// A word as a shell reads it back: quoted where it has to be.
std::string shell_word(std::string_view text);

} // namespace trainyard
