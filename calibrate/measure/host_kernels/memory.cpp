#include "calibrate/measure/host_kernels/memory.h"

#include "calibrate/measure/host_kernels/elements.h"

#include <cstring>

namespace trainyard {

std::uint64_t read_memory(std::span<const std::byte> memory)
{
    constexpr std::size_t lanes = 8; // independent sums: the additions never wait for one another
    std::uint64_t sums[lanes] = {};
    const std::byte* at = memory.data();
    std::size_t left = memory.size();
    for (; left >= sizeof(sums); at += sizeof(sums), left -= sizeof(sums)) {
        std::uint64_t words[lanes];
        std::memcpy(words, at, sizeof(words));
        for (std::size_t lane = 0; lane < lanes; ++lane)
            sums[lane] += words[lane];
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t lane : sums)
        sum += lane;
    while (left > 0) {
        const std::size_t here = left < sizeof(sum) ? left : sizeof(sum);
        std::uint64_t word = 0;
        std::memcpy(&word, at, here);
        sum += word;
        at += here;
        left -= here;
    }
    return sum;
}

void write_memory(std::span<std::byte> memory, std::byte value)
{
    std::memset(memory.data(), std::to_integer<int>(value), memory.size());
}

void copy_memory(std::span<const std::byte> from, std::span<std::byte> to)
{
    std::memcpy(to.data(), from.data(), from.size());
}

void add_memory(std::span<const std::byte> from, std::span<std::byte> to)
{
    add_elements(ElementType::float32, to.data(), to.data(), from.data(),
                 from.size() / sizeof(float));
}

} // namespace trainyard
