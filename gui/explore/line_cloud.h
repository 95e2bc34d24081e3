#pragma once

// Many broken lines across upright axes, stamped into a picture: between two axes each way from
// here to there once in each colour, whatever the number of lines. Made in slices of time, so that
// a window answers meanwhile.

#include <QColor>
#include <QImage>
#include <QPointF>
#include <chrono>
#include <functional>
#include <vector>

namespace trainyard::gui {

class LineCloud {
public:
    // What is drawn: how many lines, where each crosses an axis (0 below to 1 above; NaN: nowhere),
    // and which of the colours it has.
    struct Lines {
        std::size_t count = 0;
        std::function<float(std::size_t axis, std::size_t line)> place;
        std::function<std::uint8_t(std::size_t line)> style; // below 32
    };

    // A picture of that many pixels, axes at those columns; nothing is drawn yet. Of the same all
    // as before nothing changes.
    void set_frame(const QSize& pixels, std::vector<int> columns);
    void set_colours(std::vector<QColor> colours);
    // All is made anew.
    void forget() { begun_ = false; }

    // Draws those that are not drawn yet, for about that long. True once all are.
    bool go_on(const Lines& lines, std::chrono::microseconds budget);
    bool go_on(const Lines& lines) { return go_on(lines, std::chrono::hours(1)); }
    const QImage& picture() const { return picture_; }
    std::size_t drawn() const { return drawn_; }

private:
    void begin(std::size_t count);
    void draw(const Lines& lines, std::size_t line);
    void stroke(std::size_t gap, double from, double to, std::uint8_t style);
    void put(int x, double y, const std::vector<QRgb>& ink);
    int bin(double row) const;

    std::vector<int> columns_;
    std::vector<QColor> colours_;
    QImage picture_;
    std::vector<std::vector<QRgb>> inks_; // by style: of a sixteenth of a pixel, two, ... all of it
    std::vector<std::uint32_t> seen_;     // by gap and ends: styles that went there
    QRgb* bits_ = nullptr;                // of the picture, while lines are drawn
    qsizetype stride_ = 0;
    std::size_t drawn_ = 0;
    bool begun_ = false;
    bool sparse_ = false;
    std::size_t most_ = 0; // lines that the opacity is right for
};

} // namespace trainyard::gui
