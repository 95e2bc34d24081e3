#pragma once

// Index types that cannot be mixed up: a rank is not a lane, a link not a group.

#include <compare>
#include <cstdint>
#include <functional>

namespace trainyard {

template <class Tag, class Rep = std::uint32_t>
struct Id {
    Rep value = none_value;

    static constexpr Rep none_value = static_cast<Rep>(~Rep{0});
    static constexpr Id none() { return Id{}; }

    constexpr bool valid() const { return value != none_value; }
    friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

template <class IdType>
constexpr IdType make_id(std::size_t index)
{
    return IdType{static_cast<decltype(IdType::value)>(index)};
}

// Numbers that are never negative, as containers count.
constexpr std::size_t to_size(int value)
{
    return static_cast<std::size_t>(value);
}

using DeviceId = Id<struct DeviceTag>; // one GPU (or CPU socket) of a topology
using NodeId = Id<struct NodeTag>;     // one server or tray
using DomainId =
    Id<struct DomainTag>;          // devices joined by NVLink (or the node, where there is none)
using LinkId = Id<struct LinkTag>; // one direction of one link
using RankId = Id<struct RankTag>; // one member of the job

} // namespace trainyard

template <class Tag, class Rep>
struct std::hash<trainyard::Id<Tag, Rep>> {
    std::size_t operator()(const trainyard::Id<Tag, Rep>& id) const noexcept
    {
        return std::hash<Rep>{}(id.value);
    }
};
