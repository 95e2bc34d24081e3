#include "gui/widgets/dock_title.h"

#include "gui/widgets/flat_button.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/panel.h"

#include <QDockWidget>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>

namespace trainyard::gui {

namespace {

// Out of the window it lies over its middle, smaller than the window: what it was taken from is
// seen to be free.
void float_or_dock(QDockWidget& dock)
{
    dock.setFloating(!dock.isFloating());
    if (!dock.isFloating())
        return;
    const QWidget& window = *dock.parentWidget();
    dock.resize(dock.size().boundedTo(window.size() * 3 / 4));
    const QSize rest = (window.size() - dock.size()) / 2;
    dock.move(window.mapToGlobal(QPoint(rest.width(), rest.height())));
}

} // namespace

DockTitle::DockTitle(QDockWidget& dock, Panel* panel)
    : QWidget(&dock), dock_(dock), panel_(panel), row_(new QHBoxLayout(this))
{
    setObjectName(QStringLiteral("dock-title"));
    row_->setContentsMargins(8, 1, 2, 1);
    row_->setSpacing(2);
    auto* const name = new QLabel(dock.windowTitle());
    name->setFont(bold(name->font()));
    row_->addWidget(name);
    row_->addStretch(1);
    if (panel != nullptr) {
        add_view_button(tr("Table"), tr("Show %1 as a table (Ctrl+T)"), &DockTitle::tableWanted);
        add_view_button(tr("Export"), tr("Write %1 as PNG, SVG or CSV (Ctrl+E)"),
                        &DockTitle::exportWanted);
    }
    QToolButton* const floats =
        add_button(QStringLiteral("\u2750"), tr("Take %1 out of the window, or put it back"));
    connect(floats, &QToolButton::clicked, &dock, [&dock] { float_or_dock(dock); });
    QToolButton* const closes = add_button(QStringLiteral("\u00d7"), tr("Close %1 (Ctrl+W)"));
    connect(closes, &QToolButton::clicked, &dock, &QDockWidget::close);
}

void DockTitle::set_key(const QString& key)
{
    setToolTip(tr("%1 (%2)").arg(dock_.windowTitle(), key));
}

QToolButton* DockTitle::add_button(const QString& name, const QString& tip)
{
    QToolButton* const button = flat_button(name, tip.arg(dock_.windowTitle()));
    button->setFocusPolicy(Qt::StrongFocus);
    row_->addWidget(button);
    return button;
}

// A view of several charts asks which of them.
void DockTitle::add_view_button(const QString& name, const QString& tip, Signal signal)
{
    QToolButton* const button = add_button(name, tip);
    connect(button, &QToolButton::clicked, this, [this, button, signal] {
        const std::vector<Panel*> parts = panel_->parts();
        if (parts.size() == 1) {
            emit(this->*signal)(parts.front());
            return;
        }
        QMenu menu;
        for (Panel* const part : parts)
            menu.addAction(part->title(), this,
                           [this, part, signal] { emit(this->*signal)(part); });
        menu.exec(button->mapToGlobal(QPoint(0, button->height())));
    });
}

} // namespace trainyard::gui
