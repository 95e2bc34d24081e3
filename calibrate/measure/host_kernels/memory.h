#pragma once

// Traffic of the memory of one core, of a known size. A buffer larger than the caches makes it the
// memory's.

#include <cstddef>
#include <cstdint>
#include <span>

namespace trainyard {

// The sum of all bytes' words, so that every one must be read; a rest of less than a word counts as
// one.
std::uint64_t read_memory(std::span<const std::byte> memory);

// `value` into every byte.
void write_memory(std::span<std::byte> memory, std::byte value);

// Reads and writes as many bytes as `from` has. Requires that `to` has as many, elsewhere.
void copy_memory(std::span<const std::byte> from, std::span<std::byte> to);

// Adds float32 values to as many, as optimizers and sums of gradients do. What is left of a value
// at the end stays. Requires that `to` has as many bytes, elsewhere, and that both begin where a
// float may lie.
void add_memory(std::span<const std::byte> from, std::span<std::byte> to);

} // namespace trainyard
