// Layers in a sequence of kernels, told by what repeats.

#include "sim/traces/repeated_passes.h"
#include "tests/catch.h"

#include <string_view>

using namespace trainyard;
using Catch::Matchers::WithinAbs;

namespace {

// A letter a kernel of 1 us; a bar begins another stretch.
std::vector<PassKernel> kernels_of(std::string_view letters)
{
    std::vector<PassKernel> out;
    std::uint32_t stretch = 0;
    for (const char letter : letters) {
        const auto kind = static_cast<std::uint32_t>(letter);
        if (letter == '|')
            ++stretch;
        else
            out.push_back({kind, kind, 1e-6, stretch});
    }
    return out;
}

std::vector<bool> ends_of(int micro_batches, int layers)
{
    std::vector<bool> out;
    for (int i = 0; i < micro_batches * layers; ++i)
        out.push_back(i % layers == layers - 1);
    return out;
}

// The letters of each pass.
std::vector<std::string> letters_of(const std::vector<PassKernel>& kernels,
                                    const FoundPasses& found)
{
    std::vector<std::string> out;
    for (const KernelPass& pass : found.passes) {
        out.emplace_back();
        for (std::size_t i = pass.first; i < pass.behind; ++i)
            out.back() += static_cast<char>(kernels[i].kind);
    }
    return out;
}

} // namespace

TEST_CASE("a layer is what repeats, from the kernel that is like no other's of its layer on")
{
    // e: embedding; n: norms, two a layer and one before the head; h, l: head and loss.
    const auto kernels = kernels_of("enqanmdnqanmdnqanmdnhl");
    const FoundPasses found = find_passes(kernels, ends_of(1, 3));
    CHECK(letters_of(kernels, found) == std::vector<std::string>{"nqanmd", "nqanmd", "nqanmd"});
    CHECK_THAT(found.alike, WithinAbs(1, 1e-12));
}

TEST_CASE("micro-batches end where their stretch does, and behind the last layer's kernels")
{
    const auto apart = kernels_of("enqandnqandnh|enqandnqandnh");
    CHECK(letters_of(apart, find_passes(apart, ends_of(2, 2))) ==
          std::vector<std::string>(4, "nqand"));
    // A stage of a pipeline that warms up: an embedding between micro-batches, nothing else.
    const auto behind = kernels_of("enqandnqandenqandnqand");
    CHECK(letters_of(behind, find_passes(behind, ends_of(2, 2))) ==
          std::vector<std::string>(4, "nqand"));
}

TEST_CASE("layers that run a kernel more or less are layers yet")
{
    const auto kernels = kernels_of("eqxandqxxandqxxyandqxandh");
    const FoundPasses found = find_passes(kernels, ends_of(1, 4));
    CHECK(letters_of(kernels, found) ==
          std::vector<std::string>{"qxand", "qxxand", "qxxyand", "qxand"});
}

TEST_CASE("what runs twice in a layer is no layer")
{
    const auto kernels = kernels_of("enqnqmnqnqmh");
    CHECK(letters_of(kernels, find_passes(kernels, ends_of(1, 2))) ==
          std::vector<std::string>(2, "nqnqm"));
    CHECK(likely_passes(kernels) == 4); // by time, where nothing says how many are sought
}

TEST_CASE("layers of kernels that all run twice or more are told by what follows what")
{
    const auto kernels = kernels_of("eaaammmaaammmaaammmh");
    CHECK(letters_of(kernels, find_passes(kernels, ends_of(1, 3))) ==
          std::vector<std::string>(3, "aaammm"));
}

TEST_CASE("passes that run other things are no layers")
{
    CHECK(find_passes(kernels_of("eqabcdqfghiqjklm"), ends_of(1, 3)).passes.empty());
}

TEST_CASE("kernels that do not repeat as often have no layers")
{
    const auto kernels = kernels_of("eqandqandqandh");
    CHECK(find_passes(kernels, ends_of(1, 5)).passes.empty());
    CHECK(find_passes({}, ends_of(1, 2)).passes.empty());
    CHECK(likely_passes(kernels) == 3);
    CHECK(likely_passes(kernels_of("abcdefgh")) == 0);
}
