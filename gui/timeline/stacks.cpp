#include "gui/timeline/stacks.h"

#include <bit>
#include <cstring>

namespace trainyard::gui {

namespace {

constexpr std::uint32_t least_seen =
    76;                               // parts of full_bucket of a pixel, where hardly anything is
constexpr std::uint32_t rounding = 5; // parts that a full cell may lack

// Red, green and blue of colours, each times its parts of full_bucket.
struct Mixture {
    std::uint32_t red = 0;
    std::uint32_t green = 0;
    std::uint32_t blue = 0;

    void add(QRgb colour, std::uint32_t parts)
    {
        red += parts * (colour >> 16 & 0xff);
        green += parts * (colour >> 8 & 0xff);
        blue += parts * (colour & 0xff);
    }
    QRgb colour() const
    {
        const auto mean = [](std::uint32_t sum) { return (sum + 127) * 257 >> 16; };
        return 0xff000000U | mean(red) << 16 | mean(green) << 8 | mean(blue);
    }
};

class StackPainter {
public:
    StackPainter(const CellColours& colours, std::ptrdiff_t stride, int rows)
        : colours_(colours), stride_(stride), rows_(static_cast<std::uint32_t>(rows))
    {}

    void paint(const Bucket& cell, QRgb* lowest)
    {
        at_ = lowest;
        left_ = rows_ * full_bucket;
        const std::uint32_t busy = cell.busy();
        const bool hardly = busy * rows_ < least_seen; // what is there is seen
        std::size_t last = time_kind_count;
        // Kinds that occur, the first of the legend first.
        Words words = std::bit_cast<Words>(cell);
        words[1] &= ~std::uint64_t{0} >> 8; // not whether it is covered
        for (std::size_t word = 0; word < words.size(); ++word)
            while (words[word] != 0) {
                const int at = std::countr_zero(words[word]) & ~7;
                const std::uint32_t share = words[word] >> at & 0xff;
                words[word] &= ~(std::uint64_t{0xff} << at);
                last = 8 * word + static_cast<std::size_t>(at / 8);
                stack(colours_[last], hardly ? share * least_seen / busy : share * rows_);
            }
        // What is full has no gap.
        stack(colours_[busy + rounding > full_bucket ? last : time_kind_count], left_);
    }

private:
    using Words = std::array<std::uint64_t, sizeof(Bucket) / 8>;
    static_assert(std::endian::native == std::endian::little);

    void stack(QRgb colour, std::uint32_t parts)
    {
        parts = std::min(parts, left_);
        left_ -= parts;
        if (open_ > 0) {
            const std::uint32_t taken = std::min(parts, open_);
            mixture_.add(colour, taken);
            parts -= taken;
            open_ -= taken;
            if (open_ == 0)
                put(mixture_.colour());
        }
        for (; parts >= full_bucket; parts -= full_bucket)
            put(colour);
        if (parts > 0) {
            mixture_ = {};
            mixture_.add(colour, parts);
            open_ = full_bucket - parts;
        }
    }

    void put(QRgb colour)
    {
        *at_ = colour;
        at_ -= stride_;
    }

    const CellColours& colours_;
    std::ptrdiff_t stride_;
    std::uint32_t rows_;
    QRgb* at_ = nullptr;
    std::uint32_t left_ = 0; // parts of the column
    std::uint32_t open_ = 0; // ... of the pixel that has begun
    Mixture mixture_;
};

// The mean colours of cells, without a branch that hangs on what they are.
class MeanColours {
public:
    explicit MeanColours(const CellColours& colours)
    {
        for (std::size_t channel = 0; channel < off_.size(); ++channel) {
            const auto level = [&](QRgb colour) {
                return static_cast<std::int16_t>(colour >> 8 * channel & 0xff);
            };
            nothing_[channel] = level(colours.back());
            for (std::size_t k = 0; k < time_kind_count; ++k)
                off_[channel][k] = static_cast<std::int16_t>(level(colours[k]) - nothing_[channel]);
        }
        std::fill_n(each_.begin(), time_kind_count, std::int16_t{1});
    }

    QRgb of(const Bucket& cell) const
    {
        const auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof(Bucket)>>(cell);
        Parts parts;
        for (std::size_t k = 0; k < parts.size(); ++k)
            parts[k] = bytes[k];
        const int busy = sum(parts, each_);
        const bool hardly = busy > 0 && busy < static_cast<int>(least_seen);
        QRgb out = 0xff000000U;
        for (std::size_t channel = 0; channel < off_.size(); ++channel) {
            int off = sum(parts, off_[channel]);
            if (hardly)
                off = off * static_cast<int>(least_seen) / busy;
            const int mean = (off + nothing_[channel] * int{full_bucket} + 127) * 257 >> 16;
            out |= static_cast<QRgb>(std::clamp(mean, 0, 255)) << 8 * channel;
        }
        return out;
    }

private:
    using Parts = std::array<std::int16_t, sizeof(Bucket)>; // by kind; of `covered` nothing counts

    static int sum(const Parts& a, const Parts& b)
    {
        int out = 0;
        for (std::size_t k = 0; k < a.size(); ++k)
            out += a[k] * b[k];
        return out;
    }

    std::array<Parts, 3> off_{}; // blue, green and red from what is nothing's
    std::array<std::int16_t, 3> nothing_{};
    Parts each_{};
};

} // namespace

CellColours cell_colours(const TimelineColours& colours, double faded)
{
    CellColours out{};
    for (std::size_t k = 0; k < time_kind_count; ++k)
        out[k] = mixed(colours.kinds[k].fill, colours.background, faded).rgb();
    out.back() = colours.background.rgb();
    return out;
}

void paint_stacks(std::span<const Bucket> cells, const CellColours& colours, QRgb* uppermost,
                  std::ptrdiff_t stride, int rows)
{
    if (rows <= 0)
        return;
    if (rows < least_stack) {
        const MeanColours means(colours);
        for (std::size_t i = 0; i < cells.size(); ++i)
            uppermost[i] = means.of(cells[i]);
        for (int row = 1; row < rows; ++row)
            std::memcpy(uppermost + row * stride, uppermost, cells.size() * sizeof(QRgb));
        return;
    }
    QRgb* const lowest = uppermost + (rows - 1) * stride;
    StackPainter painter(colours, stride, rows);
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (i == 0 || cells[i].shares != cells[i - 1].shares)
            painter.paint(cells[i], lowest + i);
        else
            for (QRgb* at = uppermost + i; at <= lowest + i; at += stride)
                *at = at[-1];
}

} // namespace trainyard::gui
