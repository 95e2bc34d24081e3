#include "gui/timeline/row_cells.h"
#include "gui/timeline/scene.h"
#include "sim/base/parallel.h"

#include <QFontMetrics>
#include <algorithm>
#include <cmath>
#include <utility>

namespace trainyard::gui {

namespace {

constexpr double wide = 6; // pixels from which a slice is drawn by itself, with its hatch
constexpr int height_for_text = 12;
constexpr double faded = 0.72; // towards the background, of what a search leaves out

struct DrawnSlice {
    QRectF rect;
    TimeKind kind;
    std::uint32_t name;
};

class RowPainter {
public:
    RowPainter(QPainter& painter, const Scene& scene, const SceneFrame& frame, PaintCache& cache)
        : painter_(&painter),
          scene_(scene),
          data_(scene.model->data),
          frame_(frame),
          scale_(frame.scale(scene.range)),
          cache_(cache),
          pixels_(painter.device()->devicePixelRatioF()),
          fades_(scene.matches != nullptr && !scene.matches->slices.empty()),
          held_(scene.layout->held_height(frame.body.height())),
          colours_(cell_colours(scene.colours, fades_ ? faded : 0))
    {}

    void paint()
    {
        painter_->save();
        painter_->setClipRect(frame_.body);
        lines_ = lines_in_sight(scene_, frame_).all();
        cache_.rows.fill(*scene_.model, scene_.range, cells_of(frame_, pixels_), lines_);
        paint_image();
        painter_->drawImage(frame_.body.topLeft(), cache_.image);
        painter_->restore();
    }

private:
    // What is drawn over the cells.
    void draw_over()
    {
        for (const Line& line : lines_)
            find_wide(line);
        draw_grid();
        draw_wide();
        if (fades_)
            draw_matches();
        draw_edge();
    }

    // Kept as long as nothing of it changes.
    void paint_image()
    {
        PaintedRows wanted{
            scene_.model, cache_.rows.state(),       scene_.range, lines_, scene_.scroll, held_,
            colours_,     scene_.colours.text.rgb(), scene_.font};
        // What is found may be something else each time.
        if (!start_image() && wanted == cache_.painted && !fades_)
            return;
        cache_.painted = std::move(wanted);
        paint_cells();
        QPainter over(&cache_.image);
        over.translate(-frame_.body.topLeft());
        over.setClipRect(frame_.body);
        over.setFont(scene_.font);
        QPainter* const outer = std::exchange(painter_, &over);
        draw_over();
        painter_ = outer;
    }

    // Every pixel is written once.
    void paint_cells()
    {
        constexpr std::size_t pixels_per_thread = 131'072; // fewer are done before one has begun
        struct Band {
            std::uint32_t track;
            int top;
            int bottom;
        };
        std::vector<Band> bands;
        int done = 0;
        for (const Line& line : lines_) {
            const int top = std::max(done, image_row(top_of(line)));
            const int bottom = std::max(top, image_row(bottom_of(line)));
            clear_rows(done, top);
            bands.push_back({line.track, top, bottom});
            done = bottom;
        }
        clear_rows(done, cache_.image.height());
        const std::ptrdiff_t stride =
            cache_.image.bytesPerLine() / static_cast<std::ptrdiff_t>(sizeof(QRgb));
        auto* const pixels = reinterpret_cast<QRgb*>(cache_.image.bits());
        const std::size_t threads =
            static_cast<std::size_t>(cache_.image.width() * done) / pixels_per_thread;
        for_each_index(bands.size(),
                       static_cast<int>(std::min<std::size_t>(
                           threads, static_cast<std::size_t>(usable_threads()))),
                       [&](std::size_t i) {
                           const Band& band = bands[i];
                           paint_stacks(cache_.rows.of(band.track), colours_,
                                        pixels + band.top * stride, stride, band.bottom - band.top);
                       });
    }

    void clear_rows(int from, int to)
    {
        for (int y = from; y < to; ++y) {
            auto* const row = reinterpret_cast<QRgb*>(cache_.image.scanLine(y));
            std::fill(row, row + cache_.image.width(), colours_.back());
        }
    }

    int image_row(double y) const
    {
        return std::clamp(static_cast<int>(std::lround((y - frame_.body.top()) * pixels_)), 0,
                          cache_.image.height());
    }

    // Whether it is another than before.
    bool start_image()
    {
        const QSize size(static_cast<int>(cells_of(frame_, pixels_)),
                         static_cast<int>(std::lround(frame_.body.height() * pixels_)));
        const bool other = cache_.image.size() != size;
        if (other)
            cache_.image = QImage(size, QImage::Format_RGB32);
        cache_.image.setDevicePixelRatio(pixels_);
        return other;
    }

    // Lines touch where they are too low for a gap.
    double gap_of(const Line& line) const { return line.height >= 6 ? 1 : 0; }

    // Not below the lines that stay.
    double top_of(const Line& line) const
    {
        const int top = gui::top_of(scene_, frame_, line);
        return line.y < held_ ? top + gap_of(line)
                              : std::max(top + gap_of(line), double(frame_.body.top() + held_));
    }
    double bottom_of(const Line& line) const
    {
        return std::max(top_of(line),
                        gui::top_of(scene_, frame_, line) + line.height - gap_of(line));
    }

    void find_wide(const Line& line)
    {
        const std::uint32_t row = data_.tracks[line.track].row;
        if (row == nothing || line.height < 6 || bottom_of(line) <= top_of(line))
            return;
        cache_.wide.clear();
        find_wide_slices(data_, data_.rows[row], scale_, cache_.rows.of(line.track), wide,
                         cache_.wide);
        for (const std::uint32_t slice : cache_.wide) {
            const double left =
                std::max(scale_.x_of(data_.slices.start[slice]), frame_.body.left() - 2.0);
            const double right =
                std::min(scale_.x_of(data_.slices.end[slice]), frame_.body.right() + 2.0);
            if (right - left >= wide)
                drawn_.push_back(
                    {QRectF(left, top_of(line), right - left, bottom_of(line) - top_of(line)),
                     data_.slices.kind[slice], data_.slices.name[slice]});
        }
    }

    void draw_grid()
    {
        const AxisTicks ticks = ticks_of(scale_, data_.origin, 90);
        QColor colour = scene_.colours.text;
        colour.setAlphaF(0.13F);
        painter_->setPen(QPen(colour, 1));
        for (SimTime at = ticks.first; at <= scene_.range.to; at += ticks.step) {
            const int x = static_cast<int>(std::lround(scale_.x_of(at)));
            painter_->drawLine(x, frame_.body.top(), x, frame_.body.bottom());
        }
    }

    // Kind by kind: changing the brush is what costs.
    void draw_wide()
    {
        if (!fades_)
            draw_hatches();
        std::vector<QLineF> borders;
        borders.reserve(drawn_.size());
        for (const DrawnSlice& slice : drawn_)
            borders.emplace_back(slice.rect.topLeft(), slice.rect.bottomLeft());
        QColor border = scene_.colours.background;
        border.setAlphaF(0.8F);
        painter_->setPen(QPen(border, 1));
        painter_->drawLines(borders.data(), static_cast<int>(borders.size()));
        if (scene_.layout->line_height() >= height_for_text && !fades_)
            draw_names();
    }

    void draw_hatches()
    {
        std::array<std::vector<QRectF>, time_kind_count> rects;
        for (const DrawnSlice& slice : drawn_)
            rects[static_cast<std::size_t>(slice.kind)].push_back(slice.rect);
        painter_->setPen(Qt::NoPen);
        for (std::size_t k = 0; k < time_kind_count; ++k) {
            const QBrush& hatch = scene_.colours.kinds[k].hatch;
            if (rects[k].empty() || hatch.style() == Qt::NoBrush)
                continue;
            painter_->setBrush(hatch);
            painter_->drawRects(rects[k].data(), static_cast<int>(rects[k].size()));
        }
    }

    void draw_names()
    {
        QFont font = scene_.font;
        font.setPixelSize(std::clamp(scene_.layout->line_height() - 6, 8, 12));
        painter_->setFont(font);
        if (cache_.model != scene_.model || cache_.font != font) {
            cache_.names.assign(data_.names.size(), QStaticText());
            cache_.model = scene_.model;
            cache_.font = font;
        }
        std::stable_sort(drawn_.begin(), drawn_.end(),
                         [](const DrawnSlice& a, const DrawnSlice& b) { return a.kind < b.kind; });
        for (const DrawnSlice& slice : drawn_)
            draw_name(slice);
        painter_->setFont(scene_.font);
    }

    // Where the whole name fits; on a plain ground, since hatches eat thin strokes.
    void draw_name(const DrawnSlice& slice)
    {
        if (slice.rect.width() < 22 || slice.rect.height() < height_for_text - 2)
            return;
        QStaticText& name = cache_.names[slice.name];
        if (name.text().isEmpty()) {
            name.setText(QString::fromStdString(data_.names[slice.name]));
            name.setTextFormat(Qt::PlainText);
            name.prepare(QTransform(), cache_.font);
        }
        const double left = std::max(slice.rect.left(), static_cast<double>(frame_.body.left()));
        const double right = std::min(slice.rect.right(), static_cast<double>(frame_.body.right()));
        const QSizeF size = name.size();
        if (size.width() + 8 > right - left)
            return;
        const KindPaint& paint = scene_.colours.of(slice.kind);
        const QPointF at((left + right - size.width()) / 2,
                         slice.rect.center().y() - size.height() / 2);
        if (paint.hatch.style() != Qt::NoBrush)
            painter_->fillRect(QRectF(at, size).adjusted(-2, 1, 2, -1), paint.fill);
        painter_->setPen(paint.ink);
        painter_->drawStaticText(at, name);
    }

    // Below the lines that stay.
    void draw_edge()
    {
        if (held_ == 0)
            return;
        painter_->setPen(QPen(scene_.colours.quiet_text, 1));
        const int y = frame_.body.top() + held_ - 1;
        painter_->drawLine(frame_.body.left(), y, frame_.body.right(), y);
    }

    // One per pixel at most.
    void draw_matches()
    {
        for (const Line& line : lines_)
            if (const std::uint32_t row = data_.tracks[line.track].row; row != nothing)
                draw_matches_of(line, scene_.matches->of(row));
    }

    void draw_matches_of(const Line& line, std::span<const std::uint32_t> matches)
    {
        const SimTime pixel = std::max(SimTime(1), scale_.time_of(1));
        SimTime from = scene_.range.from;
        auto at = matches.begin();
        while (from < scene_.range.to) {
            at = std::partition_point(at, matches.end(), [&](std::uint32_t slice) {
                return data_.slices.end[slice] <= from;
            });
            if (at == matches.end() || data_.slices.start[*at] >= scene_.range.to)
                return;
            const double left = scale_.x_of(std::max(data_.slices.start[*at], scene_.range.from));
            const double right = scale_.x_of(std::min(data_.slices.end[*at], scene_.range.to));
            painter_->fillRect(QRectF(left, top_of(line), std::max(right - left, 2.0),
                                      bottom_of(line) - top_of(line)),
                               scene_.colours.of(data_.slices.kind[*at]).fill);
            from = std::max(data_.slices.end[*at], from + pixel);
        }
    }

    QPainter* painter_;
    const Scene& scene_;
    const TimelineData& data_;
    const SceneFrame& frame_;
    TimeScale scale_;
    PaintCache& cache_;
    double pixels_;
    bool fades_;
    int held_; // height of the lines that stay
    CellColours colours_;
    std::vector<Line> lines_;
    std::vector<DrawnSlice> drawn_;
};

} // namespace

void paint_rows(QPainter& painter, const Scene& scene, const SceneFrame& frame, PaintCache& cache)
{
    RowPainter(painter, scene, frame, cache).paint();
}

} // namespace trainyard::gui
