#include "gui/widgets/progress_strip.h"

#include "gui/widgets/boxes.h"

#include <QLabel>
#include <QProgressBar>
#include <QTimer>
#include <QToolButton>

namespace trainyard::gui {

namespace {

constexpr int shown_after_ms = 300;

}

ProgressStrip::ProgressStrip(QWidget* parent)
    : QWidget(parent), stage_(new QLabel), bar_(new QProgressBar), timer_(new QTimer(this))
{
    bar_->setTextVisible(false);
    bar_->setMaximumHeight(fontMetrics().height());
    auto* const cancel = new QToolButton;
    cancel->setText(tr("Cancel"));
    cancel->setToolTip(tr("Cancel (Esc)"));
    in_a_row(this, {stage_, {bar_, 1}, cancel}, {.margins = {4, 0, 4, 0}});
    connect(cancel, &QToolButton::clicked, this, &ProgressStrip::cancelled);
    timer_->setSingleShot(true);
    timer_->setInterval(shown_after_ms);
    connect(timer_, &QTimer::timeout, this, &QWidget::show);
    hide();
}

void ProgressStrip::begin(const QString& stage)
{
    set(stage, 0, 0);
    if (!isVisible() && !timer_->isActive())
        timer_->start();
}

void ProgressStrip::set(const QString& stage, double done, double total)
{
    stage_->setText(stage);
    bar_->setRange(0, total > 0 ? 1000 : 0);
    if (total > 0)
        bar_->setValue(static_cast<int>(1000 * done / total));
}

void ProgressStrip::end()
{
    timer_->stop();
    hide();
}

} // namespace trainyard::gui
