#include "sim/study/jobs/megatron/vocabulary_name.h"

#include <cctype>
#include <charconv>

namespace trainyard {

std::int64_t vocabulary_named(std::string_view path)
{
    constexpr std::int64_t fewest = 16'000;
    constexpr std::int64_t most = 512'000;
    const auto is_part = [path](std::size_t at) {
        return at < path.size() && std::isalnum(static_cast<unsigned char>(path[at])) != 0;
    };
    for (std::size_t k = path.size(); k > 0; --k) { // the last name is the file's own
        const std::size_t last = k - 1;
        const bool in_thousands = path[last] == 'k';
        const std::size_t end = in_thousands ? last : k; // of the digits
        std::size_t first = end;
        while (first > 0 && std::isdigit(static_cast<unsigned char>(path[first - 1])) != 0)
            --first;
        if (first == end || is_part(k) || (first > 0 && is_part(first - 1)))
            continue;
        std::int64_t number = 0;
        std::from_chars(path.data() + first, path.data() + end, number);
        const std::int64_t words = in_thousands && number <= most ? number * 1000 : number;
        if (words >= fewest && words <= most && (in_thousands || words % 64 == 0))
            return words;
    }
    return 0;
}

} // namespace trainyard
