#include "sim/study/jobs/megatron/vocabulary_name.h"

#include <cctype>
#include <charconv>

namespace trainyard {

std::int64_t vocabulary_named(std::string_view path)
{
    const auto is_part = [path](std::size_t at) {
        return at < path.size() && std::isalnum(static_cast<unsigned char>(path[at])) != 0;
    };
    for (std::size_t k = path.size(); k > 0; --k) { // the last name is the file's own
        const std::size_t letter = k - 1;
        std::size_t first = letter;
        while (first > 0 && std::isdigit(static_cast<unsigned char>(path[first - 1])) != 0)
            --first;
        if (path[letter] != 'k' || is_part(letter + 1) || (first > 0 && is_part(first - 1)))
            continue;
        std::int64_t thousands = 0;
        std::from_chars(path.data() + first, path.data() + letter, thousands);
        if (thousands >= 16 && thousands <= 512)
            return thousands * 1000;
    }
    return 0;
}

} // namespace trainyard
