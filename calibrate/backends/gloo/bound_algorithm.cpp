#include "calibrate/backends/gloo/bound_algorithm.h"

#include "calibrate/measure/host_kernels/elements.h"

#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/reduce_scatter.h>

namespace trainyard {
namespace {

// A type of its own for each, as Gloo wants.
struct Float16 {
    std::uint16_t bits;
};
struct Bfloat16 {
    std::uint16_t bits;
};

template <ElementType type, class T>
void add_to(T* sum, const T* other, std::size_t count)
{
    add_elements(type, sum, sum, other, count);
}

template <ElementType type, class T>
std::unique_ptr<gloo::Algorithm> make(const CollectiveWork& work, const std::string& algorithm,
                                      const std::shared_ptr<gloo::Context>& context,
                                      std::span<std::byte> memory)
{
    static const gloo::ReductionFunction<T> sum(gloo::CUSTOM, &add_to<type, T>);
    const std::vector<T*> pointers{reinterpret_cast<T*>(memory.data())};
    const int count = static_cast<int>(memory.size() / sizeof(T));
    if (work.collective == CollectiveKind::reduce_scatter)
        return std::make_unique<gloo::ReduceScatterHalvingDoubling<T>>(
            context, pointers, count,
            std::vector<int>(static_cast<std::size_t>(context->size), count / context->size), &sum);
    if (algorithm == "halving_doubling")
        return std::make_unique<gloo::AllreduceHalvingDoubling<T>>(context, pointers, count, &sum);
    return std::make_unique<gloo::AllreduceRingChunked<T>>(context, pointers, count, &sum);
}

} // namespace

bool is_bound(const CollectiveWork& work, const std::string& algorithm)
{
    return work.collective == CollectiveKind::reduce_scatter ||
           (work.collective == CollectiveKind::all_reduce &&
            (algorithm == "halving_doubling" || algorithm == "ring_chunked"));
}

std::unique_ptr<gloo::Algorithm> bound_algorithm(const CollectiveWork& work,
                                                 const std::string& algorithm,
                                                 const std::shared_ptr<gloo::Context>& context,
                                                 std::span<std::byte> memory)
{
    switch (work.type) {
    case ElementType::float32:
        return make<ElementType::float32, float>(work, algorithm, context, memory);
    case ElementType::float16:
        return make<ElementType::float16, Float16>(work, algorithm, context, memory);
    case ElementType::bfloat16:
        return make<ElementType::bfloat16, Bfloat16>(work, algorithm, context, memory);
    case ElementType::uint8:
        return make<ElementType::uint8, std::uint8_t>(work, algorithm, context, memory);
    case ElementType::float8_e4m3:
        break;
    }
    return nullptr;
}

} // namespace trainyard
