#include "calibrate/measure/backend/fitted.h"
#include "calibrate/measure/host_kernels/check_pattern.h"
#include "calibrate/measure/host_kernels/elements.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

constexpr std::size_t elements = 1000;

std::vector<std::byte> buffer(ElementType type)
{
    return std::vector<std::byte>(elements * static_cast<std::size_t>(element_bytes(type)));
}

std::vector<std::byte> filled(const CheckPattern& pattern, ElementType type, int contributor,
                              std::uint64_t first)
{
    std::vector<std::byte> memory = buffer(type);
    pattern.fill(memory, contributor, first);
    return memory;
}

} // namespace

TEST_CASE("sums of what ranks hold are exact in every type, in any order")
{
    const auto type = GENERATE(ElementType::float32, ElementType::float16, ElementType::bfloat16,
                               ElementType::uint8);
    // With 300 contributors not all of them can add to a bfloat16 or a byte.
    const int contributors = GENERATE(1, 2, 3, 8, 300);
    const CheckPattern pattern(type, 5, contributors);
    std::vector<std::byte> forward = filled(pattern, type, 0, 77);
    std::vector<std::byte> backward = filled(pattern, type, contributors - 1, 77);
    for (int i = 1; i < contributors; ++i) {
        const auto next = filled(pattern, type, i, 77);
        const auto previous = filled(pattern, type, contributors - 1 - i, 77);
        add_elements(type, forward.data(), forward.data(), next.data(), elements);
        add_elements(type, backward.data(), backward.data(), previous.data(), elements);
    }
    CHECK(pattern.wrong_sums(forward, 77) == 0);
    CHECK(forward == backward);

    forward[500] ^= std::byte{0x10};
    CHECK(pattern.wrong_sums(forward, 77) == 1);
    CHECK(pattern.wrong_sums(backward, 76) > static_cast<std::int64_t>(elements) / 4); // shifted
}

TEST_CASE("moved data are known by their place, their owner and their round")
{
    const auto type = GENERATE(ElementType::float32, ElementType::float16, ElementType::bfloat16,
                               ElementType::uint8);
    const CheckPattern pattern(type, 1);
    std::vector<std::byte> memory = filled(pattern, type, 3, 0);
    CHECK(pattern.wrong(memory, 3, 0) == 0);
    const auto most = static_cast<std::int64_t>(elements) * 98 / 100; // chance: 1 of 251 agrees
    CHECK(pattern.wrong(memory, 4, 0) > most);
    CHECK(pattern.wrong(memory, 3, 1) > most);
    CHECK(pattern.wrong(memory, 3, 1024) > most);
    CHECK(CheckPattern(type, 2).wrong(memory, 3, 0) > most);
    memory.back() ^= std::byte{1};
    CHECK(pattern.wrong(memory, 3, 0) == 1);
}

TEST_CASE("a size is fitted to whole elements, as many for every rank")
{
    const auto size = [](CollectiveKind kind, std::uint64_t bytes, int ranks) {
        const TimedWork work =
            fitted(CollectiveWork{.collective = kind, .size = Bytes(bytes)}, ranks);
        return std::get<CollectiveWork>(work).size.value();
    };
    using enum CollectiveKind;
    CHECK(size(all_reduce, 1003, 3) == 1000);
    CHECK(size(all_gather, 1003, 3) == 996); // 83 elements of 4 bytes for each of 3
    CHECK(size(reduce_scatter, 1024, 8) == 1024);
    CHECK(size(all_to_all, 5, 8) == 32); // at least one each
    CHECK(size(barrier, 100, 8) == 0);
    const BesideWork beside{
        CollectiveWork{.collective = all_gather, .size = Bytes(1003)}, {}, true, 2};
    CHECK(std::get<BesideWork>(fitted(beside, 3)).collective.size == Bytes(996));
    const ExchangeWork exchange{{{0, 1}}, Bytes(13)};
    CHECK(fitted(exchange, 3) == TimedWork(exchange));
}
