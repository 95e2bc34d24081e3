#include "gui/timeline/stacks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace trainyard::gui {

namespace {

constexpr std::uint32_t least_seen =
    76;                               // parts of full_bucket of a pixel, where hardly anything is
constexpr std::uint32_t rounding = 5; // parts that a full cell may lack

// Blue, green and red, each times parts of full_bucket, in one number that is added and multiplied
// as a whole; so are differences, as long as no sum is below zero or above what a field holds.
using Mixture = std::uint64_t;
constexpr int field = 16;                // bits
constexpr Mixture half = 0x7f'007f'007f; // of full_bucket, for rounding

constexpr Mixture mixture_of(QRgb colour, int bits = field)
{
    return (colour & 0xff) | Mixture{colour >> 8 & 0xff} << bits |
           Mixture{colour >> 16 & 0xff} << 2 * bits;
}

// So many columns are made at a time.
constexpr std::size_t together = 4;
using Mixtures = std::array<Mixture, together>;

// Of mixtures of full_bucket parts, and half.
inline void put(const Mixtures& mixtures, QRgb* pixels, std::size_t count)
{
    const auto sums = std::bit_cast<std::array<std::uint16_t, 4 * together>>(mixtures);
    std::array<std::uint8_t, 4 * together> bytes;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto times_257 = static_cast<std::uint16_t>(sums[i] + (sums[i] >> 8)); // over 256
        bytes[i] = static_cast<std::uint8_t>(times_257 >> 8);
    }
    auto out = std::bit_cast<std::array<QRgb, together>>(bytes);
    for (QRgb& pixel : out)
        pixel |= 0xff000000U;
    if (count == together)
        std::memcpy(pixels, out.data(), sizeof out);
    else
        std::copy_n(out.begin(), count, pixels);
}

// A cell's shares; not whether it is covered.
using Words = std::array<std::uint64_t, sizeof(Bucket) / 8>;
static_assert(std::endian::native == std::endian::little);

Words shares_of(const Bucket& cell)
{
    Words words = std::bit_cast<Words>(cell);
    words[1] &= ~std::uint64_t{0} >> 8;
    return words;
}

std::uint32_t busy_of(const Words& shares)
{
    constexpr std::uint64_t every_second = 0x00ff'00ff'00ff'00ff;
    std::uint64_t sums = 0; // of four places in each 16 bits
    for (const std::uint64_t word : shares)
        sums += (word & every_second) + (word >> 8 & every_second);
    return static_cast<std::uint32_t>(sums * 0x0001'0001'0001'0001 >> 48);
}

// Those that occur, the first of the legend first.
template <class Visit>
void for_each_kind(const Words& shares, const Visit& visit)
{
    for (std::size_t word = 0; word < shares.size(); ++word)
        for (std::uint64_t left = shares[word]; left != 0;) {
            const int at = std::countr_zero(left) & ~7;
            const std::uint64_t share = left >> at & 0xff;
            left ^= share << at;
            visit(8 * word + static_cast<std::size_t>(at) / 8, static_cast<std::uint32_t>(share));
        }
}

// Shares that add up to `from` as ones that add up to `to` at most.
Words scaled(const Words& shares, std::uint32_t to, std::uint32_t from)
{
    Words out{};
    for_each_kind(shares, [&](std::size_t kind, std::uint32_t share) {
        out[kind / 8] |= std::uint64_t{share * to / from} << kind % 8 * 8;
    });
    return out;
}

// A column is the sum of what changes along it: where a kind's part ends the next colour takes the
// place of its own, there in parts of a pixel and above as a whole. Where in a pixel that is, no
// branch hangs on.
class StackPainter {
public:
    StackPainter(const CellColours& colours, std::ptrdiff_t stride, int rows)
        : stride_(stride),
          rows_(static_cast<std::uint32_t>(rows)),
          changes_(static_cast<std::size_t>(rows) + 2)
    {
        std::ranges::transform(colours, mixtures_.begin(),
                               [](QRgb colour) { return mixture_of(colour); });
        for (std::uint32_t share = 0; share < places_.size(); ++share)
            places_[share] = place_of(share * rows_);
        for (std::uint32_t parts = 0; parts < seen_.size(); ++parts)
            seen_[parts] = place_of(parts);
    }

    void paint(std::span<const Bucket> cells, QRgb* lowest)
    {
        for (std::size_t i = 0; i < cells.size(); ++i)
            add(shares_of(cells[i]), i);
        Mixtures sums;
        sums.fill(half);
        for (std::uint32_t row = 0; row < rows_; ++row, lowest -= stride_) {
            for (std::size_t i = 0; i < together; ++i)
                sums[i] += changes_[row][i];
            changes_[row] = {};
            put(sums, lowest, cells.size());
        }
        changes_[rows_] = changes_[rows_ + 1] = {};
    }

private:
    // Where a colour begins: a pixel, and the parts of it above and below.
    struct Place {
        std::uint32_t row = 0;
        std::uint16_t above = 0;
        std::uint16_t below = 0;
    };

    Place place_of(std::uint32_t parts) const
    {
        const std::uint32_t at = std::min(parts, rows_ * full_bucket);
        const auto below = static_cast<std::uint16_t>(at % full_bucket);
        return {at / full_bucket, static_cast<std::uint16_t>(full_bucket - below), below};
    }

    void add(Words cell, std::size_t column)
    {
        const std::uint32_t busy = busy_of(cell);
        const Place* places = places_.data();
        if (busy * rows_ < least_seen) { // what is there is seen
            cell = scaled(cell, least_seen, busy);
            places = seen_.data();
        }
        std::uint32_t done = 0;
        Mixture colour = 0;
        const auto turn = [&](Mixture to) {
            const Place place = places[done];
            Mixture* const change = changes_[place.row].data() + column;
            change[0] += (to - colour) * place.above;
            change[together] += (to - colour) * place.below;
            colour = to;
        };
        for_each_kind(cell, [&](std::size_t kind, std::uint32_t share) {
            turn(mixtures_[kind]);
            done += share;
        });
        // What is full has no gap.
        if (busy + rounding <= full_bucket)
            turn(mixtures_.back());
    }

    std::ptrdiff_t stride_;
    std::uint32_t rows_;
    std::array<Mixture, time_kind_count + 1> mixtures_{};
    std::array<Place, 2 * full_bucket> places_{}; // by the shares below; rounding adds to them
    std::array<Place, least_seen + 1> seen_{};    // by parts of a pixel
    std::vector<Mixtures> changes_;               // by pixel, the lowest first
};

// The mean colours of cells.
class MeanColours {
public:
    explicit MeanColours(const CellColours& colours)
    {
        const Mixture nothing = mixture_of(colours.back());
        for (std::size_t k = 0; k < time_kind_count; ++k) {
            more_[k] = mixture_of(colours[k]) - nothing + one_busy;
            wide_[k] = mixture_of(colours[k], wide);
        }
        nothing_ = colours.back();
        idle_ = nothing * full_bucket + half + one_busy / 2;
    }

    // Without a branch that hangs on what they are, but for few.
    void paint(std::span<const Bucket> cells, QRgb* pixels) const
    {
        Mixtures sums{};
        for (std::size_t i = 0; i < cells.size(); ++i)
            sums[i] = sum_of(cells[i]);
        put(sums, pixels, cells.size());
        for (std::size_t i = 0; i < cells.size(); ++i)
            if (const auto busy = static_cast<int>(sums[i] / one_busy);
                busy != 0 && (busy < least || busy > full))
                pixels[i] = apart(shares_of(cells[i]), busy);
    }

private:
    static constexpr int least = least_seen;
    static constexpr int full = full_bucket;
    // Above the channels, which take from it or add to it where a cell is more than full.
    static constexpr Mixture one_busy = Mixture{128} << 3 * field;
    static constexpr int wide = 21; // bits of a field for more than a full cell

    Mixture sum_of(const Bucket& cell) const
    {
        return [&]<std::size_t... k>(std::index_sequence<k...>)
        { // a loop would count
            return (idle_ + ... + (cell.shares[k] * more_[k]));
        }
        (std::make_index_sequence<time_kind_count>());
    }

    // Of a cell in which hardly anything is, or to which rounding added.
    QRgb apart(const Words& cell, int busy) const
    {
        Mixture sum = 0;
        for_each_kind(cell, [&](std::size_t k, std::uint32_t share) { sum += share * wide_[k]; });
        QRgb out = 0xff000000U;
        for (int channel = 0; channel < 3; ++channel) {
            const int nothing = static_cast<int>(nothing_ >> 8 * channel & 0xff);
            int off = static_cast<int>(sum >> wide * channel & 0xfffff) - busy * nothing;
            if (busy < least)
                off = off * least / busy;
            const int level = (off + nothing * full + full / 2) * 257 >> 16;
            out |= static_cast<QRgb>(std::clamp(level, 0, 255)) << 8 * channel;
        }
        return out;
    }

    std::array<Mixture, time_kind_count> more_{}; // than nothing
    std::array<Mixture, time_kind_count> wide_{}; // colours
    Mixture idle_ = 0;                            // a cell of nothing
    QRgb nothing_ = 0;
};

// Columns of `rows` pixels; those of cells like the one before them are its copies.
template <class Painter>
void paint_columns(std::span<const Bucket> cells, Painter&& painter, QRgb* uppermost,
                   std::ptrdiff_t stride, int rows)
{
    QRgb* const lowest = uppermost + (rows - 1) * stride;
    for (std::size_t i = 0; i < cells.size(); i += together) {
        const auto now = cells.subspan(i, std::min(together, cells.size() - i));
        const auto same = [&](const Bucket& cell) {
            return shares_of(cell) == shares_of(*(&cell - 1));
        };
        if (i > 0 && std::ranges::all_of(now, same))
            for (QRgb* at = uppermost + i; at <= lowest + i; at += stride)
                std::fill_n(at, now.size(), at[-1]);
        else
            painter.paint(now, lowest + i);
    }
}

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
    if (rows >= least_stack)
        paint_columns(cells, StackPainter(colours, stride, rows), uppermost, stride, rows);
    else if (rows > 0) {
        paint_columns(cells, MeanColours(colours), uppermost, stride, 1);
        for (int row = 1; row < rows; ++row)
            std::memcpy(uppermost + row * stride, uppermost, cells.size() * sizeof(QRgb));
    }
}

} // namespace trainyard::gui
