#include "sim/report/text/paint.h"

#include <fmt/core.h>

#include <cstdint>
#include <random>

namespace trainyard {
namespace {

std::string drawn_mark()
{
    std::random_device device;
    const std::uint64_t high = device();
    return fmt::format("\x1b{:016x}", high << 32U | device());
}

// What stands before the codes of this run.
const std::string& mark()
{
    static const std::string mark = drawn_mark();
    return mark;
}

} // namespace

PaintCode Paint::code_at(std::string_view text)
{
    if (!text.starts_with(mark()))
        return {};
    const std::size_t end = text.find('m', mark().size()) + 1;
    return {end, text.substr(mark().size(), end - mark().size())};
}

std::string Paint::plain()
{
    return marked("0");
}

std::string Paint::marked(std::string_view code)
{
    return fmt::format("{}[{}m", mark(), code);
}

} // namespace trainyard
