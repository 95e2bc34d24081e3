#include "sim/traces/execution/wire_reader.h"

namespace trainyard {

std::optional<std::uint64_t> WireReader::varint()
{
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (rest_.empty())
            break;
        const auto byte = static_cast<unsigned char>(rest_.front());
        rest_.remove_prefix(1);
        value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
        if (byte < 0x80)
            return value;
    }
    damaged_ = true;
    return std::nullopt;
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t size)
{
    if (rest_.size() < size) {
        damaged_ = true;
        return std::nullopt;
    }
    rest_.remove_prefix(size);
    return 0; // no field that is read has this form
}

std::optional<WireField> WireReader::next()
{
    if (rest_.empty() || damaged_)
        return std::nullopt;
    const std::optional<std::uint64_t> tag = varint();
    if (!tag || *tag >> 3U == 0 || *tag >> 3U > 0x1fffffff) {
        damaged_ = true;
        return std::nullopt;
    }
    WireField field;
    field.number = static_cast<std::uint32_t>(*tag >> 3U);
    std::optional<std::uint64_t> value;
    switch (*tag & 7U) {
    case 0:
    case 2:
        value = varint();
        break;
    case 1:
        value = fixed(8);
        break;
    case 5:
        value = fixed(4);
        break;
    default:
        damaged_ = true;
    }
    if (!value)
        return std::nullopt;
    field.value = *value;
    if ((*tag & 7U) == 2) {
        if (*value > rest_.size()) {
            damaged_ = true;
            return std::nullopt;
        }
        field.has_bytes = true;
        field.bytes = rest_.substr(0, static_cast<std::size_t>(*value));
        rest_.remove_prefix(field.bytes.size());
    }
    return field;
}

} // namespace trainyard
