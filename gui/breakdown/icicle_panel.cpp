#include "gui/breakdown/icicle_panel.h"

#include "gui/timeline/colours.h"
#include "gui/timeline/run_timeline.h"
#include "gui/widgets/theme.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/study/problems.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double full_change = 0.2; // of a part's time before, from which on its colour is full
constexpr double margin = 6;        // pixels around the picture
// Of the picture's height, by level: what is narrow is high, for names that run downwards.
constexpr std::array<double, icicle_levels> level_tops{0, 0.1, 0.2, 0.5};
constexpr std::array<double, icicle_levels> level_heights{0.1, 0.1, 0.3, 0.5};

QString level_text(IcicleLevel level)
{
    switch (level) {
    case IcicleLevel::model:
        return IciclePanel::tr("model");
    case IcicleLevel::stage:
        return IciclePanel::tr("stage");
    case IcicleLevel::layer:
        return IciclePanel::tr("layer");
    case IcicleLevel::op:
        break;
    }
    return IciclePanel::tr("op");
}

QString signed_time(Seconds change)
{
    const QString size = text_of(to_display(Seconds(std::abs(change.value()))));
    return (change.value() < 0 ? QStringLiteral("−") : QStringLiteral("+")) + size;
}

} // namespace

IciclePanel::IciclePanel(Workspace& workspace, QWidget* parent)
    : ChartPanel(QStringLiteral("breakdown-layers"), tr("Layers and ops"), parent),
      workspace_(workspace),
      of_(new QComboBox),
      colour_(new QComboBox)
{
    of_->addItems({tr("critical rank"), tr("mean of all ranks")});
    of_->setAccessibleName(tr("Whose time it is"));
    colour_->addItems({tr("colour: kind of time"), tr("colour: change to the baseline")});
    colour_->setAccessibleName(tr("What the colours say"));
    tools().insertWidget(2, of_);
    tools().insertWidget(3, colour_);
    chart().xAxis->setVisible(false);
    chart().yAxis->setVisible(false);
    chart().plotLayout()->clear();
    new PaintItem(&chart(), [this](QCPPainter& painter) { paint_parts(painter); });
    connect(of_, &QComboBox::currentIndexChanged, this, &IciclePanel::follow);
    connect(colour_, &QComboBox::currentIndexChanged, this, &IciclePanel::follow);
    connect(colour_, &QComboBox::currentIndexChanged, &chart(),
            [this] { chart().replot(QCustomPlot::rpQueuedReplot); });
    connect(&workspace_, &Workspace::recordedChanged, this, &IciclePanel::follow);
    connect(&workspace_, &Workspace::runChanged, this, &IciclePanel::follow);
    connect(&workspace_, &Workspace::baselineChanged, this, &IciclePanel::follow);
    connect(this, &Panel::sightChanged, this, &IciclePanel::follow);
    connect(&task_, &BackgroundTask::busyChanged, this, &Panel::busyChanged);
    connect(&task_, &BackgroundTask::failed, this, [this](const QString& why) {
        parts_.clear();
        find_shown();
        set_message(why);
    });
    follow();
}

bool IciclePanel::shows_change() const
{
    return colour_->currentIndex() == 1;
}

void IciclePanel::follow()
{
    const std::shared_ptr<const RunView>& run = workspace_.recorded();
    if (run == nullptr) {
        set_message(tr("The time of stages, layers and ops is shown here as soon as a scenario is "
                       "open and has been simulated."));
        return;
    }
    set_stale(!workspace_.current() && !workspace_.live().busy());
    const auto baseline = shows_change() ? workspace_.baseline() : nullptr;
    const auto of = static_cast<IcicleOf>(of_->currentIndex());
    if (in_sight())
        request(run, baseline, of);
}

void IciclePanel::request(const std::shared_ptr<const RunView>& run,
                          const std::shared_ptr<const RunView>& baseline, IcicleOf of)
{
    if (run == run_ && baseline == baseline_ && of == asked_of_)
        return;
    run_ = run;
    baseline_ = baseline;
    asked_of_ = of;
    task_.start([this, run, baseline, of, &session = workspace_.live().session()](
                    const WorkControl& work) -> BackgroundTask::Answer {
        std::vector<IciclePart> parts = make_icicle(*run->outcome, of);
        if (baseline)
            compare(parts,
                    make_icicle(*recorded_outcome(*baseline, run->lanes, session, work), of));
        return [this, run, parts = std::move(parts)] { take(run, parts); };
    });
}

void IciclePanel::take(const std::shared_ptr<const RunView>& run, std::vector<IciclePart> parts)
{
    const std::string focused = focus_ < parts_.size() && focus_ > 0 ? path_of(parts_, focus_) : "";
    parts_ = std::move(parts);
    focus_ = 0;
    for (std::uint32_t i = 1; i < parts_.size() && !focused.empty(); ++i)
        if (path_of(parts_, i) == focused)
            focus_ = i;
    set_message(!parts_.empty() || !run ? QString()
                                        : tr("No operation of the critical rank was recorded: "
                                             "choose the mean of all ranks."));
    find_shown();
}

QRectF IciclePanel::area() const
{
    const double scale = shows_change() ? fontMetrics().height() * 1.6 : 0;
    return QRectF(margin, margin, std::max(1.0, width_ - 2 * margin),
                  std::max(1.0, height_ - 2 * margin - scale));
}

void IciclePanel::fit(const QSize& size)
{
    width_ = size.width();
    height_ = size.height();
    find_shown();
}

void IciclePanel::find_shown()
{
    mark(std::nullopt);
    shown_parts_.clear();
    const QRectF place = area();
    if (!parts_.empty() && parts_[focus_].length.value() > 0) {
        const double pixel = parts_[focus_].length.value() / std::max(1.0, place.width());
        for (std::uint32_t up = focus_; up != no_part; up = parts_[up].parent)
            shown_parts_.insert(shown_parts_.begin(), up);
        for (std::uint32_t i = focus_ + 1; i < parts_[focus_].end; ++i)
            if (parts_[i].length.value() >= pixel)
                shown_parts_.push_back(i);
    }
    chart().replot(QCustomPlot::rpQueuedReplot);
}

// What holds the focus is as wide as that.
QRectF IciclePanel::bounds_of(std::size_t item) const
{
    const QRectF all = area();
    const std::uint32_t index = shown_parts_[item];
    const IciclePart& part = parts_[index];
    const IciclePart& focus = parts_[focus_];
    const auto level = static_cast<std::size_t>(part.level);
    const double row = all.height() * level_heights[level];
    const double top = all.top() + all.height() * level_tops[level];
    if (index <= focus_)
        return {all.left(), top, all.width(), row};
    const double scale = all.width() / focus.length.value();
    return {all.left() + (part.from - focus.from).value() * scale, top, part.length.value() * scale,
            row};
}

QColor IciclePanel::change_colour(const IciclePart& part) const
{
    const QColor ground = palette().color(QPalette::AlternateBase);
    if (!part.before)
        return ground;
    const double before = part.before->value();
    const double change = before > 0                ? (part.length.value() - before) / before
                          : part.length.value() > 0 ? 1
                                                    : 0;
    const SignColours signs = sign_colours(palette());
    const QColor full = change < 0 ? signs.better : signs.worse;
    const double share = std::min(1.0, std::abs(change) / full_change);
    return QColor::fromRgbF(
        static_cast<float>(ground.redF() + (full.redF() - ground.redF()) * share),
        static_cast<float>(ground.greenF() + (full.greenF() - ground.greenF()) * share),
        static_cast<float>(ground.blueF() + (full.blueF() - ground.blueF()) * share));
}

void IciclePanel::paint_part(QCPPainter& painter, std::size_t item) const
{
    const IciclePart& part = parts_[shown_parts_[item]];
    const QRectF box = bounds_of(item).adjusted(0, 0, 0, -1);
    QColor ground = mixed(palette().color(QPalette::Base), palette().color(QPalette::Text),
                          0.08 + 0.05 * static_cast<double>(part.level));
    bool hatched = false;
    painter.setPen(box.width() > 4 ? QPen(palette().color(QPalette::Base), 1) : QPen(Qt::NoPen));
    if (shows_change()) {
        ground = change_colour(part);
        painter.setBrush(ground);
    } else if (part.kind) {
        ground = colour_of(fill_of(*part.kind), palette());
        hatched = fill_of(*part.kind).hatch != Hatch::none;
        painter.setBrush(brush_of(fill_of(*part.kind), palette()));
    } else
        painter.setBrush(ground);
    painter.drawRect(box);
    painter.setBrush(hatched ? QBrush(ground) : QBrush(Qt::NoBrush));
    paint_name(painter, part, box, ink_on(ground));
}

// Where it fits, downwards in what is higher than wide; the brush is what it stands on.
void IciclePanel::paint_name(QCPPainter& painter, const IciclePart& part, const QRectF& box,
                             const QColor& ink) const
{
    const QFontMetrics metrics(font());
    const bool down =
        box.height() > 2 * box.width() && box.width() < 12 * metrics.averageCharWidth();
    const double room = (down ? box.height() : box.width()) - 8;
    if ((down ? box.width() : box.height()) < metrics.height() ||
        room < 4 * metrics.averageCharWidth())
        return;
    QString text = text_of(part.name);
    const QString with_time = QStringLiteral("%1  %2").arg(text, text_of(to_display(part.length)));
    if (metrics.horizontalAdvance(with_time) <= room)
        text = with_time;
    text = metrics.elidedText(text, Qt::ElideRight, static_cast<int>(room));
    painter.save();
    painter.translate(box.center());
    if (down)
        painter.rotate(-90);
    QRectF plate(0, 0, metrics.horizontalAdvance(text) + 4, metrics.height());
    plate.moveCenter({0, 0});
    if (painter.brush().style() != Qt::NoBrush) { // hatches eat thin strokes
        painter.setPen(Qt::NoPen);
        painter.drawRect(plate);
    }
    painter.setPen(ink);
    painter.drawText(plate, Qt::AlignCenter | Qt::TextSingleLine, text);
    painter.restore();
}

// What the colours of changes stand for.
void IciclePanel::paint_scale(QCPPainter& painter) const
{
    const QRectF all = area();
    const QRectF line(all.left(), all.bottom() + 2, all.width(), fontMetrics().height() * 1.5);
    const SignColours signs = sign_colours(palette());
    double x = line.left();
    const auto entry = [&](const QColor& colour, const QString& text) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(colour);
        painter.drawRect(QRectF(x, line.center().y() - 5, 20, 10));
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(QRectF(x + 26, line.top(), line.right() - x - 26, line.height()),
                         Qt::AlignVCenter | Qt::AlignLeft, text);
        x += 26 + fontMetrics().horizontalAdvance(text) + 16;
    };
    if (baseline_ == nullptr) {
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft,
                         tr("There is no baseline to compare with: pin one."));
        return;
    }
    entry(signs.better, tr("− shorter by %1 % or more").arg(full_change * 100));
    entry(palette().color(QPalette::AlternateBase), tr("as long, or not in the baseline"));
    entry(signs.worse, tr("+ longer by %1 % or more").arg(full_change * 100));
}

void IciclePanel::paint_parts(QCPPainter& painter) const
{
    painter.setFont(font());
    painter.setAntialiasing(false);
    for (std::size_t i = 0; i < shown_parts_.size(); ++i)
        paint_part(painter, i);
    if (shows_change())
        paint_scale(painter);
}

QString IciclePanel::tip_of(std::size_t item) const
{
    const std::uint32_t index = shown_parts_[item];
    const IciclePart& part = parts_[index];
    QString tip = QStringLiteral("<b>%1</b><br>").arg(escaped(path_of(parts_, index)));
    tip += tr("%1, %2 of the step")
               .arg(text_of(to_display(part.length)),
                    text_of(percent(part.length / parts_[0].length)));
    if (part.before)
        tip += tr("<br>%1 to the baseline's %2")
                   .arg(signed_time(part.length - *part.before), text_of(to_display(*part.before)));
    return tip;
}

void IciclePanel::zoom_to(std::uint32_t part)
{
    if (part >= parts_.size() || part == focus_)
        return;
    focus_ = part;
    find_shown();
}

// What fills the width already leads back out of it.
void IciclePanel::choose(std::size_t item)
{
    const std::uint32_t part = shown_parts_[item];
    if (part == focus_)
        go_back();
    else
        zoom_to(part);
}

void IciclePanel::go_back()
{
    if (focus_ != 0)
        zoom_to(parts_[focus_].parent);
}

bool IciclePanel::press(int key)
{
    if (key != Qt::Key_Backspace || focus_ == 0)
        return false;
    go_back();
    return true;
}

// Left and right: one by one; up: what it is in; down: its longest part in sight.
std::size_t IciclePanel::neighbour(std::size_t item, int key) const
{
    if (key == Qt::Key_Left || key == Qt::Key_Right)
        return ChartPanel::neighbour(item, key);
    std::size_t best = item;
    for (std::size_t i = 0; i < shown_parts_.size(); ++i) {
        const IciclePart& other = parts_[shown_parts_[i]];
        if (key == Qt::Key_Up && shown_parts_[i] == parts_[shown_parts_[item]].parent)
            best = i;
        if (key == Qt::Key_Down && other.parent == shown_parts_[item] &&
            (best == item || other.length > parts_[shown_parts_[best]].length))
            best = i;
    }
    return best;
}

void IciclePanel::cancel()
{
    if (task_.cancel())
        run_.reset();
}

TableData IciclePanel::table() const
{
    TableData out;
    out.columns = {tr("Part"),      tr("Level"),         tr("Time [ms]"),
                   tr("Share [%]"), tr("Baseline [ms]"), tr("Change [ms]")};
    const auto number = [](double value) { return QString::number(value, 'g', 9); };
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const IciclePart& part = parts_[i];
        QStringList row{text_of(path_of(parts_, i)), level_text(part.level),
                        number(part.length.value() * 1e3),
                        number(part.length / parts_[0].length * 100)};
        if (part.before)
            row << number(part.before->value() * 1e3)
                << number((part.length - *part.before).value() * 1e3);
        else
            row << QString() << QString();
        out.rows.push_back(row);
    }
    return out;
}

} // namespace trainyard::gui
