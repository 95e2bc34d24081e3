#include "gui/explore/importance_panel.h"

#include "gui/widgets/boxes.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/theme.h"

#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QTimer>
#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr int after_ms = 300; // while a sweep runs
constexpr int bar_gap = 8;
constexpr int note_lines = 2;

// Rows of bars, from the top on.
struct BarRows {
    BarRows(const Importance& of, const QSize& size, const QFontMetrics& letters)
        : line(letters.height())
    {
        for (const ImportanceBar& bar : of.bars)
            names = std::max(names, letters.horizontalAdvance(bar.name));
        left = names + 2 * bar_gap;
        right = std::max(left + 40, size.width() - letters.averageCharWidth() * 44);
        top = (1 + note_lines) * line + bar_gap;
        const int room = size.height() - top - 2 * line;
        const int count = std::max<int>(1, static_cast<int>(of.bars.size()));
        height = std::clamp(room / count, line + 4, 3 * line);
    }
    QRect row(std::size_t bar, int width) const
    {
        return {0, top + static_cast<int>(bar) * height, width, height};
    }

    int line;
    int names = 0;
    int left = 0;
    int right = 0;
    int top = 0;
    int height = 0;
};

void paint_bars(QPainter& painter, const Importance& of, const QSize& size,
                std::optional<std::size_t> chosen, const QPalette& palette)
{
    const QFontMetrics letters(painter.font(), painter.device());
    const BarRows rows(of, size, letters);
    const SignColours signs = sign_colours(palette);
    const QColor ink = palette.color(QPalette::Text);
    painter.setPen(ink);
    painter.drawText(QRect(bar_gap, 2, size.width() - 2 * bar_gap, rows.line), Qt::AlignLeft,
                     of.title());
    painter.setPen(signs.quiet);
    painter.drawText(
        QRect(bar_gap, 2 + rows.line, size.width() - 2 * bar_gap, note_lines * rows.line),
        Qt::AlignLeft | Qt::TextWordWrap, of.note);
    for (std::size_t i = 0; i < of.bars.size(); ++i) {
        const ImportanceBar& bar = of.bars[i];
        const QRect row = rows.row(i, size.width());
        if (chosen == i) {
            QColor back = palette.color(QPalette::Highlight);
            back.setAlphaF(0.2F);
            painter.fillRect(row, back);
        }
        painter.setPen(ink);
        painter.drawText(QRect(bar_gap, row.top(), rows.names, row.height()),
                         Qt::AlignRight | Qt::AlignVCenter, bar.name);
        const int wide = static_cast<int>((rows.right - rows.left) * bar.share);
        const int thick = std::min(row.height() - 4, 2 * rows.line);
        const QRect body(rows.left, row.center().y() - thick / 2, std::max(1, wide), thick);
        // What several fields decide together is hatched: no bar leads there.
        painter.fillRect(body, bar.key.isEmpty() ? QBrush(signs.quiet, Qt::BDiagPattern)
                                                 : QBrush(series_colour(0)));
        constexpr double percent = 100;
        QString text = QStringLiteral("%1 %").arg(percent * bar.share, 0, 'f', 1);
        if (!bar.best.isEmpty())
            text += QStringLiteral("  ") + bar.best;
        const QRect beside(body.right() + bar_gap, row.top(), size.width() - body.right() - bar_gap,
                           row.height());
        painter.setPen(ink);
        painter.drawText(beside, Qt::AlignLeft | Qt::AlignVCenter,
                         letters.elidedText(text, Qt::ElideRight, beside.width()));
    }
    painter.setPen(signs.quiet);
    const int bottom = rows.top + static_cast<int>(of.bars.size()) * rows.height;
    painter.drawLine(rows.left, rows.top, rows.left, bottom);
}

} // namespace

class ImportancePanel::Picture : public QWidget {
public:
    explicit Picture(ImportancePanel& panel) : panel_(panel)
    {
        setFocusPolicy(Qt::StrongFocus);
        setMinimumSize(200, 120);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.fillRect(rect(), palette().base());
        if (panel_.found_)
            paint_bars(painter, *panel_.found_, size(), hasFocus() ? panel_.chosen_ : std::nullopt,
                       palette());
    }

private:
    ImportancePanel& panel_;
};

ImportancePanel::ImportancePanel(const PointStore& store, QWidget* parent)
    : Panel(parent),
      store_(store),
      metric_(new ElidedComboBox),
      picture_(new Picture(*this)),
      later_(new QTimer(this))
{
    auto* const label = new QLabel(tr("explain"));
    label->setBuddy(metric_);
    metric_->setAccessibleName(tr("figure that is explained"));
    metric_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    metric_->setMinimumContentsLength(16);
    auto* const row = in_a_row({label, metric_, room(1)});
    in_a_column(this, {row, {picture_, 1}}, {.spacing = 2});
    setFocusProxy(picture_);
    picture_->setAccessibleName(title());
    picture_->installEventFilter(this);
    later_->setSingleShot(true);
    later_->setInterval(after_ms);
    connect(later_, &QTimer::timeout, this, &ImportancePanel::ask);
    connect(metric_, &QComboBox::currentIndexChanged, this, [this] {
        if (filling_)
            return;
        choice_ = metric_->currentData().toString();
        ask();
    });
    connect(&task_, &BackgroundTask::busyChanged, this, &Panel::busyChanged);
}

ImportancePanel::~ImportancePanel() = default;

bool ImportancePanel::busy() const
{
    return task_.busy() || (later_->isActive() && isVisible());
}

void ImportancePanel::restart(std::vector<Metric> metrics)
{
    metrics_ = std::move(metrics);
    found_.reset();
    task_.cancel();
    fill_choices();
    follow();
    picture_->update();
}

void ImportancePanel::set_choice(const QString& key)
{
    choice_ = key;
    fill_choices();
    if (!metrics_.empty())
        follow();
}

void ImportancePanel::fill_choices()
{
    filling_ = true;
    metric_->clear();
    for (const Metric& metric : metrics_)
        if (!metric.axis)
            metric_->addItem(metric.title, metric.key);
    if (!metrics_.empty()) {
        const int at = metric_->findData(choice_.isEmpty() ? best_metric(metrics_).key : choice_);
        metric_->setCurrentIndex(std::max(0, at));
    }
    filling_ = false;
}

void ImportancePanel::follow()
{
    if (!isVisible())
        missed_ = true;
    else if (!later_->isActive())
        later_->start();
}

void ImportancePanel::showEvent(QShowEvent* event)
{
    Panel::showEvent(event);
    if (missed_)
        ask();
}

void ImportancePanel::ask()
{
    missed_ = false;
    const Metric* const metric = find_metric(metrics_, metric_->currentData().toString());
    if (metric == nullptr || store_.size() == 0)
        return;
    auto question =
        std::make_shared<const ImportanceQuestion>(importance_question(store_, *metric));
    task_.start([this, question](const WorkControl&) -> BackgroundTask::Answer {
        auto found = std::make_shared<const Importance>(importance_of(*question));
        return [this, found] {
            found_ = found;
            choose(chosen_);
            emit this->found();
        };
    });
}

void ImportancePanel::choose(std::optional<std::size_t> bar)
{
    chosen_ = found_ && bar && *bar < found_->bars.size() ? bar : std::nullopt;
    if (chosen_) {
        const ImportanceBar& one = found_->bars[*chosen_];
        constexpr double percent = 100;
        picture_->setAccessibleDescription(QStringLiteral("%1: %2 %, %3")
                                               .arg(one.name)
                                               .arg(percent * one.share, 0, 'f', 1)
                                               .arg(one.best));
    }
    picture_->update();
}

QRect ImportancePanel::place_of(std::size_t bar) const
{
    return BarRows(*found_, picture_->size(), picture_->fontMetrics()).row(bar, picture_->width());
}

void ImportancePanel::follow_axis(std::size_t bar)
{
    choose(bar);
    if (chosen_ && !found_->bars[*chosen_].key.isEmpty())
        emit axisWanted(found_->bars[*chosen_].key);
}

bool ImportancePanel::take_key(int key)
{
    if (!found_ || found_->bars.empty())
        return false;
    const std::size_t last = found_->bars.size() - 1;
    switch (key) {
    case Qt::Key_Down:
        choose(chosen_ ? std::min(last, *chosen_ + 1) : 0);
        return true;
    case Qt::Key_Up:
        choose(chosen_ && *chosen_ > 0 ? *chosen_ - 1 : 0);
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (chosen_)
            follow_axis(*chosen_);
        return true;
    default:
        return false;
    }
}

bool ImportancePanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == picture_ && event->type() == QEvent::KeyPress)
        return take_key(static_cast<QKeyEvent*>(event)->key());
    if (watched == picture_ && event->type() == QEvent::MouseButtonRelease && found_)
        for (std::size_t bar = 0; bar < found_->bars.size(); ++bar)
            if (place_of(bar).contains(static_cast<QMouseEvent*>(event)->pos())) {
                follow_axis(bar);
                return true;
            }
    return Panel::eventFilter(watched, event);
}

// For pictures and tables, also where it was never in sight.
std::shared_ptr<const Importance> ImportancePanel::now() const
{
    const Metric* const metric = find_metric(metrics_, metric_->currentData().toString());
    if ((found_ && !missed_) || metric == nullptr || store_.size() == 0)
        return found_;
    return std::make_shared<const Importance>(importance_of(importance_question(store_, *metric)));
}

TableData ImportancePanel::table() const
{
    const auto found = now();
    return found ? found->table() : TableData{};
}

void ImportancePanel::paint_to(QPainter& painter, const QSize& size)
{
    if (const auto found = now()) {
        painter.save();
        painter.fillRect(QRect(QPoint(), size), palette().base());
        painter.setFont(font());
        paint_bars(painter, *found, size, {}, palette());
        painter.restore();
    } else
        paint_message(painter, size, tr("Nothing is swept yet."), palette());
}

} // namespace trainyard::gui
