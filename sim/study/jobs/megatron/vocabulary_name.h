#pragma once

#include <cstdint>
#include <string_view>

namespace trainyard {

// Words of a vocabulary that the path of its tokenizer tells, in thousands as such names do:
// "utils/tokenizer_256k.model" has 256,000. 0 where it tells none of 16 to 512 thousand.
std::int64_t vocabulary_named(std::string_view path);

} // namespace trainyard
