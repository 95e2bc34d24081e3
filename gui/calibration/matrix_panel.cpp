#include "gui/calibration/matrix_panel.h"

#include "gui/widgets/boxes.h"
#include "gui/widgets/theme.h"

#include <QHelpEvent>
#include <QLabel>
#include <QPainter>
#include <QToolTip>

namespace trainyard::gui {

namespace {

constexpr int most_findings = 8;

QString no_matrix_text()
{
    return MatrixPanel::tr("No pair matrix is open: open the output of nvbandwidth or "
                           "p2pBandwidthLatencyTest.");
}

QString findings_text(const HeatMap& map)
{
    QStringList lines = map.findings();
    const auto more = lines.size() - most_findings;
    if (more > 0) {
        lines = lines.mid(0, most_findings);
        lines << MatrixPanel::tr("and %1 more: in the table").arg(more);
    }
    return lines.join('\n');
}

} // namespace

HeatMapView::HeatMapView(QWidget* parent) : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(200, 160);
    setAccessibleName(tr("bandwidth of each pair"));
}

void HeatMapView::set_map(std::optional<HeatMap> map)
{
    map_ = std::move(map);
    mark_.reset();
    update();
    emit markChanged();
}

void HeatMapView::set_mark(std::optional<MatrixCell> mark)
{
    if (mark == mark_)
        return;
    mark_ = mark;
    update();
    emit markChanged();
}

bool HeatMapView::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip && map_) {
        const auto* const help = static_cast<QHelpEvent*>(event);
        const auto cell = map_->cell_at(help->pos(), map_->area(size(), font()));
        if (cell)
            QToolTip::showText(help->globalPos(), map_->facts(*cell), this);
        else
            QToolTip::hideText();
        return true;
    }
    if (event->type() == QEvent::ShortcutOverride && mark_ &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape)
        event->accept();
    return QWidget::event(event);
}

void HeatMapView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    if (map_)
        map_->paint(painter, size(), palette(), mark_);
    else
        painter.fillRect(rect(), palette().base());
}

void HeatMapView::keyPressEvent(QKeyEvent* event)
{
    if (!map_) {
        QWidget::keyPressEvent(event);
        return;
    }
    MatrixCell cell = mark_.value_or(MatrixCell{});
    switch (event->key()) {
    case Qt::Key_Left:
        cell.column -= mark_ ? 1 : 0;
        break;
    case Qt::Key_Right:
        cell.column += mark_ ? 1 : 0;
        break;
    case Qt::Key_Up:
        cell.row -= mark_ ? 1 : 0;
        break;
    case Qt::Key_Down:
        cell.row += mark_ ? 1 : 0;
        break;
    case Qt::Key_Home:
        cell.column = 0;
        break;
    case Qt::Key_End:
        cell.column = map_->columns() - 1;
        break;
    case Qt::Key_Escape:
        set_mark(std::nullopt);
        return;
    default:
        QWidget::keyPressEvent(event);
        return;
    }
    cell.row = std::clamp(cell.row, 0, map_->rows() - 1);
    cell.column = std::clamp(cell.column, 0, map_->columns() - 1);
    set_mark(cell);
}

void HeatMapView::mousePressEvent(QMouseEvent* event)
{
    if (map_)
        set_mark(map_->cell_at(event->position(), map_->area(size(), font())));
}

MatrixPanel::MatrixPanel(QWidget* parent)
    : Panel(parent), view_(new HeatMapView), findings_(new QLabel)
{
    findings_->setWordWrap(true);
    findings_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    findings_->setAccessibleName(tr("slow links"));
    findings_->setMargin(4);
    in_a_column(this, {{view_, 1}, findings_}, {.spacing = 2});
    connect(view_, &HeatMapView::markChanged, this, &MatrixPanel::tell);
    tell();
}

void MatrixPanel::set_matrix(std::shared_ptr<const JudgedMatrix> matrix)
{
    view_->set_map(matrix ? std::optional<HeatMap>(std::move(matrix)) : std::nullopt);
}

void MatrixPanel::tell()
{
    const std::optional<HeatMap>& map = view_->map();
    if (!map)
        findings_->setText(no_matrix_text());
    else
        findings_->setText(view_->mark() ? map->facts(*view_->mark()) : findings_text(*map));
}

void MatrixPanel::paint_to(QPainter& painter, const QSize& size)
{
    const std::optional<HeatMap>& map = view_->map();
    if (!map) {
        paint_message(painter, size, no_matrix_text(), palette());
        return;
    }
    painter.fillRect(QRect(QPoint(), size), palette().base());
    const QString words = findings_text(*map);
    const QRect all = QRect(QPoint(), size).adjusted(10, 6, -10, -6);
    const int height =
        painter.fontMetrics().boundingRect(all, Qt::TextWordWrap, words).height() + 8;
    map->paint(painter, {size.width(), size.height() - height}, palette(), std::nullopt);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(all.adjusted(0, all.height() - height, 0, 0),
                     Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop, words);
}

TableData MatrixPanel::table() const
{
    return view_->map() ? view_->map()->table()
                        : TableData{{"from", "to", "measured [GB/s]", "verdict"}, {}};
}

} // namespace trainyard::gui
