#include "gui/explore/line_cloud.h"

#include "gui/explore/pixels.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr int bins = 256; // ends on an axis that are told apart
constexpr std::size_t shades = 16;

double opacity_of(std::size_t lines)
{
    constexpr std::size_t few = 60;
    constexpr std::size_t many = 3000;
    return lines <= few ? 0.9 : lines <= many ? 0.55 : 0.3;
}

} // namespace

void LineCloud::set_frame(const QSize& pixels, std::vector<int> columns)
{
    if (picture_.size() == pixels && columns == columns_)
        return;
    columns_ = std::move(columns);
    picture_ = QImage(pixels.expandedTo({1, 1}), QImage::Format_ARGB32_Premultiplied);
    forget();
}

void LineCloud::set_colours(std::vector<QColor> colours)
{
    if (colours == colours_)
        return;
    colours_ = std::move(colours);
    forget();
}

void LineCloud::begin(std::size_t count)
{
    begun_ = true;
    drawn_ = 0;
    constexpr std::size_t growth = 4;
    most_ = std::max<std::size_t>(count * growth, 16);
    constexpr std::size_t smooth_up_to = 6000;
    sparse_ = count <= smooth_up_to;
    picture_.fill(Qt::transparent);
    seen_.assign(columns_.size() * bins * bins, 0);
    inks_.clear();
    for (QColor colour : colours_) {
        std::vector<QRgb> ink;
        for (std::size_t shade = 0; shade <= shades; ++shade) {
            colour.setAlphaF(static_cast<float>(opacity_of(count) * static_cast<double>(shade) /
                                                static_cast<double>(shades)));
            ink.push_back(qPremultiply(colour.rgba()));
        }
        inks_.push_back(std::move(ink));
    }
}

bool LineCloud::go_on(const Lines& lines, std::chrono::microseconds budget)
{
    // As there are more the single one is fainter.
    if (!begun_ || drawn_ > lines.count ||
        (lines.count > most_ && opacity_of(lines.count) < opacity_of(most_ / 4)))
        begin(lines.count);
    bits_ = reinterpret_cast<QRgb*>(picture_.bits());
    stride_ = picture_.bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb));
    const auto until = std::chrono::steady_clock::now() + budget;
    constexpr std::size_t between_looks = 256;
    while (drawn_ < lines.count) {
        const std::size_t last = std::min(lines.count, drawn_ + between_looks);
        for (; drawn_ < last; ++drawn_)
            draw(lines, drawn_);
        if (std::chrono::steady_clock::now() > until)
            break;
    }
    return drawn_ == lines.count;
}

int LineCloud::bin(double row) const
{
    return std::clamp(static_cast<int>(row / picture_.height() * bins), 0, bins - 1);
}

void LineCloud::draw(const Lines& lines, std::size_t line)
{
    const std::uint8_t style = lines.style(line);
    if (style >= inks_.size())
        return;
    const double height = picture_.height() - 1;
    const std::uint32_t flag = 1U << style;
    float before = columns_.empty() ? 0 : lines.place(0, line);
    for (std::size_t gap = 0; gap + 1 < columns_.size(); ++gap) {
        const float here = before;
        before = lines.place(gap + 1, line);
        if (std::isnan(here) || std::isnan(before))
            continue;
        const double from = (1 - here) * height;
        const double to = (1 - before) * height;
        std::uint32_t& seen = seen_[(gap * bins + static_cast<std::size_t>(bin(from))) * bins +
                                    static_cast<std::size_t>(bin(to))];
        if (!sparse_ && (seen & flag) != 0)
            continue; // it would look the same
        seen |= flag;
        stroke(gap, from, to, style);
    }
}

void LineCloud::put(int x, double y, const std::vector<QRgb>& ink)
{
    const int row = static_cast<int>(std::floor(y));
    const auto below =
        static_cast<std::size_t>(std::lround((y - row) * static_cast<double>(shades)));
    const auto pixel = [&](int at, QRgb colour) {
        if (at < 0 || at >= picture_.height() || x < 0 || x >= picture_.width())
            return;
        QRgb& under = bits_[at * stride_ + x];
        under = blended(colour, under);
    };
    if (!sparse_) {
        pixel(row, ink[shades]);
        return;
    }
    pixel(row, ink[shades - below]);
    pixel(row + 1, ink[below]);
}

void LineCloud::stroke(std::size_t gap, double from, double to, std::uint8_t style)
{
    const std::vector<QRgb>& ink = inks_[style];
    const int left = columns_[gap];
    const int right = columns_[gap + 1];
    const double slope = (to - from) / std::max(1, right - left);
    if (std::abs(slope) <= 1) {
        for (int x = left; x < right; ++x)
            put(x, from + (x - left) * slope, ink);
        return;
    }
    // Steep: a pixel for each row, so that the line has no gaps.
    const int first = static_cast<int>(std::min(from, to));
    const int last = static_cast<int>(std::max(from, to));
    for (int y = first; y <= last; ++y)
        put(left + static_cast<int>((y - from) / slope), y, ink);
}

} // namespace trainyard::gui
