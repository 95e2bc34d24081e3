#pragma once

// Values of ops as execution traces write them: "[[12, 7, 0, 64, 4, 'cuda:0'], 0.1, [1, 1]]".

#include <cstdint>
#include <string_view>
#include <vector>

namespace trainyard {

// A tensor among the values: [id, storage, offset, elements, bytes of one, device].
struct TensorReference {
    std::uint64_t id = 0;
    std::uint64_t storage = 0;
    std::uint64_t elements = 0;
    std::uint64_t element_bytes = 0;
    bool on_host = false;

    double bytes() const
    {
        return static_cast<double>(elements) * static_cast<double>(element_bytes);
    }
    bool operator==(const TensorReference&) const = default;
};

// Of all depths, in order.
std::vector<TensorReference> tensors_in(std::string_view values);

// The members of a list, without the blanks around; empty where it is no list.
std::vector<std::string_view> members_of(std::string_view list);

// The sizes of the tensor at `place` of "[[8, 512], [512, 64]]"; empty where it has none.
std::vector<double> sizes_at(std::string_view shapes, std::size_t place);

} // namespace trainyard
