#pragma once

// Messages in the wire format of protocol buffers, field by field.

#include <cstdint>
#include <optional>
#include <string_view>

namespace trainyard {

struct WireField {
    std::uint32_t number = 0;
    std::uint64_t value = 0; // of a number
    std::string_view bytes;  // of a text, a message, a packed list
    bool has_bytes = false;
};

class WireReader {
public:
    explicit WireReader(std::string_view bytes) : rest_(bytes) {}

    // The next field; nothing at the end, or where the bytes are no message.
    std::optional<WireField> next();
    std::optional<std::uint64_t> varint();
    bool ended() const { return rest_.empty(); }
    bool damaged() const { return damaged_; }

private:
    std::optional<std::uint64_t> fixed(std::size_t size);

    std::string_view rest_;
    bool damaged_ = false;
};

} // namespace trainyard
