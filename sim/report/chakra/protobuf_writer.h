#pragma once

// Messages in the wire format of protocol buffers, as far as Chakra's traces use it.

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trainyard {

class ProtobufWriter {
public:
    void number(std::uint32_t field, std::uint64_t value)
    {
        tag(field, 0);
        varint(value);
    }

    void text(std::uint32_t field, std::string_view value)
    {
        tag(field, 2);
        delimited(value);
    }

    void message(std::uint32_t field, const ProtobufWriter& inner) { text(field, inner.bytes_); }

    // A repeated number, packed.
    void numbers(std::uint32_t field, std::span<const std::uint64_t> values)
    {
        if (values.empty())
            return;
        ProtobufWriter inner;
        for (const std::uint64_t value : values)
            inner.varint(value);
        message(field, inner);
    }

    // Appends the message to a stream of them, its size before it.
    void append_to(std::string& stream) const
    {
        ProtobufWriter size;
        size.varint(bytes_.size());
        stream += size.bytes_;
        stream += bytes_;
    }

private:
    void tag(std::uint32_t field, std::uint32_t wire) { varint(field << 3U | wire); }

    void varint(std::uint64_t value)
    {
        for (; value >= 0x80; value >>= 7U)
            bytes_ += std::bit_cast<char>(static_cast<std::uint8_t>(value | 0x80U));
        bytes_ += std::bit_cast<char>(static_cast<std::uint8_t>(value));
    }

    void delimited(std::string_view value)
    {
        varint(value.size());
        bytes_ += value;
    }

    std::string bytes_;
};

} // namespace trainyard
