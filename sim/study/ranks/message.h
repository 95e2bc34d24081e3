#pragma once

// Values as bytes, for processes of the same program.

#include "sim/study/search/points.h"

#include <string>
#include <type_traits>

namespace trainyard {

class MessageWriter {
public:
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void put(const T& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
    void put(const std::string& text);
    void put(const LayoutChoice& choice);
    void put(const LargeLayout& layout);
    void put(const PossibleLayout& layout);
    void put(const PossibleLayouts& found);
    void put(const PointFacts& facts);
    template <class T>
    void put(const std::optional<T>& value)
    {
        put(value.has_value());
        if (value)
            put(*value);
    }

    std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

// Requires what the writer put, in its order.
class MessageReader {
public:
    explicit MessageReader(std::string bytes) : bytes_(std::move(bytes)) {}

    template <class T>
    T get();

private:
    template <class T>
    T raw()
    {
        T value{};
        bytes_.copy(reinterpret_cast<char*>(&value), sizeof value, at_);
        at_ += sizeof value;
        return value;
    }
    template <class T>
    std::optional<T> optional()
    {
        return raw<bool>() ? std::optional<T>(get<T>()) : std::nullopt;
    }

    std::string bytes_;
    std::size_t at_ = 0;
};

template <class T>
T MessageReader::get()
{
    static_assert(std::is_trivially_copyable_v<T>);
    return raw<T>();
}
template <>
std::string MessageReader::get<std::string>();
template <>
LayoutChoice MessageReader::get<LayoutChoice>();
template <>
LargeLayout MessageReader::get<LargeLayout>();
template <>
PossibleLayout MessageReader::get<PossibleLayout>();
template <>
PossibleLayouts MessageReader::get<PossibleLayouts>();
template <>
PointFacts MessageReader::get<PointFacts>();
template <>
std::optional<PointFacts> MessageReader::get<std::optional<PointFacts>>();

} // namespace trainyard
