#pragma once

#include <cstdint>
#include <string_view>

namespace trainyard {

// Words of a vocabulary that the path of its tokenizer tells, in thousands as such names do:
// "utils/tokenizer_256k.model" has 256,000; or in full, where that is a multiple of 64:
// "bpe-49152". 0 where it tells none of 16 to 512 thousand.
std::int64_t vocabulary_named(std::string_view path);

} // namespace trainyard
