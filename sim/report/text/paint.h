#pragma once

#include "sim/report/targets.h"

#include <string>
#include <string_view>

namespace trainyard {

enum class Colour { none, ansi };

// The colour that a text starts with, as `Paint` wrote it.
struct PaintCode {
    std::size_t length = 0;    // bytes of the text; 0: it starts with none
    std::string_view sequence; // what a terminal is sent after its escape character
};

// Text in terminal colours, or as it is. Colours are marked with a number that this run drew: what
// names and files of others may hold is never taken for one of them, and is sent to no terminal.
class Paint {
public:
    explicit Paint(Colour colour) : on_(colour == Colour::ansi) {}

    std::string bold(std::string_view text) const { return wrap("1", text); }
    std::string dim(std::string_view text) const { return wrap("2", text); }
    std::string good(std::string_view text) const { return wrap("32", text); }
    std::string fair(std::string_view text) const { return wrap("33", text); }
    std::string bad(std::string_view text) const { return wrap("31", text); }
    std::string alarm(std::string_view text) const { return wrap("1;31", text); }

    static PaintCode code_at(std::string_view text);

    // Ends a colour.
    static std::string plain();

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
        return marked(code) + std::string(text) + plain();
    }

    static std::string marked(std::string_view code);

    bool on_;
};

} // namespace trainyard
