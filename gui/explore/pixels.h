#pragma once

// Pixels of pictures that many things are stamped into.

#include <QColor>

namespace trainyard::gui {

// `over` onto `under`, both premultiplied.
inline QRgb blended(QRgb over, QRgb under)
{
    const unsigned rest = 255U - static_cast<unsigned>(qAlpha(over));
    // Two channels at a time, x / 255 as (x + 128 + ((x + 128) >> 8)) >> 8.
    const auto scaled = [rest](QRgb pair) {
        const QRgb product = pair * rest + 0x00800080U;
        return ((product + ((product >> 8U) & 0x00ff00ffU)) >> 8U) & 0x00ff00ffU;
    };
    return over + scaled(under & 0x00ff00ffU) + (scaled((under >> 8U) & 0x00ff00ffU) << 8U);
}

} // namespace trainyard::gui
