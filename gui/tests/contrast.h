#pragma once

// How well colours can be told from each other, as WCAG 2 has it.

#include <QColor>
#include <algorithm>
#include <cmath>

namespace trainyard::gui::test {

// From 0 for black to 1 for white.
inline double luminance(const QColor& colour)
{
    const auto linear = [](double part) {
        return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
           0.0722 * linear(colour.blueF());
}

// From 1 for the same to 21 for black on white.
inline double contrast(const QColor& one, const QColor& other)
{
    const double a = luminance(one) + 0.05;
    const double b = luminance(other) + 0.05;
    return std::max(a, b) / std::min(a, b);
}

} // namespace trainyard::gui::test
