#pragma once

#include "sim/report/targets.h"

#include <string>
#include <string_view>

namespace trainyard {

enum class Colour { none, ansi };

// Text in terminal colours, or as it is.
class Paint {
public:
    explicit Paint(Colour colour) : on_(colour == Colour::ansi) {}

    std::string bold(std::string_view text) const { return wrap("1", text); }
    std::string dim(std::string_view text) const { return wrap("2", text); }
    std::string good(std::string_view text) const { return wrap("32", text); }
    std::string fair(std::string_view text) const { return wrap("33", text); }
    std::string bad(std::string_view text) const { return wrap("31", text); }
    std::string alarm(std::string_view text) const { return wrap("1;31", text); }

    // Length of the colour code of these that `text` starts with; 0: none.
    static std::size_t code_length(std::string_view text)
    {
        for (const std::string_view code :
             {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[1;31m"})
            if (text.starts_with(code))
                return code.size();
        return 0;
    }

    std::string verdict(Verdict verdict) const
    {
        switch (verdict) {
        case Verdict::good:
            return good(to_word(verdict));
        case Verdict::fair:
            return fair(to_word(verdict));
        case Verdict::bad:
            break;
        }
        return bad(to_word(verdict));
    }

private:
    std::string wrap(std::string_view code, std::string_view text) const
    {
        if (!on_ || text.empty())
            return std::string(text);
        return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
    }

    bool on_;
};

} // namespace trainyard
