// The row of tools of TimelinePanel.

#include "gui/model/qt_text.h"
#include "gui/timeline/counter_feed.h"
#include "gui/timeline/record_menu.h"
#include "gui/timeline/timeline_panel.h"
#include "gui/timeline/timeline_search.h"
#include "gui/widgets/flat_button.h"

#include <QCheckBox>
#include <QLabel>
#include <QLayout>
#include <QMenu>
#include <QToolBar>

namespace trainyard::gui {

void TimelinePanel::make_tools(QLayout* layout)
{
    auto* const tools = new QToolBar;
    tools->setMinimumWidth(300); // where it is narrow, the last ones go into a menu
    recorded_ = new RecordMenu;
    path_ = new QCheckBox(tr("Critical path"));
    path_->setChecked(true);
    path_->setToolTip(tr("The chain of operations that makes the step as long as it is (P)"));
    auto* const messages = new QCheckBox(tr("Messages"));
    messages->setChecked(true);
    messages->setToolTip(tr("Arrows from sends to receives, where they can be told apart"));
    compare_ = new QCheckBox(tr("Beside the baseline"));
    compare_->setToolTip(tr("Each rank of this run (A) above the same of the pinned baseline (B)"));
    auto* const open = flat_button(tr("Unfold"), tr("Show every stream"));
    auto* const close = flat_button(tr("Fold"), tr("Show ranks and nodes only"));
    auto* const fit = flat_button(tr("Fit"), tr("Show all of the step (F)"));
    auto* const fit_lines = flat_button(tr("Fit lines"), tr("All lines in sight (Shift+F)"));
    tools->addWidget(search_);
    auto* const gap = new QWidget;
    gap->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    tools->addWidget(gap);
    for (QWidget* widget : {static_cast<QWidget*>(recorded_), make_lanes_menu(),
                            make_counters_menu(), static_cast<QWidget*>(path_),
                            static_cast<QWidget*>(messages), static_cast<QWidget*>(compare_),
                            static_cast<QWidget*>(open), static_cast<QWidget*>(close),
                            static_cast<QWidget*>(fit_lines), static_cast<QWidget*>(fit)})
        tools->addWidget(widget);
    layout->addWidget(tools);

    connect(recorded_, &RecordMenu::chosen, &workspace_, [this](const LaneChoice& choice) {
        recorded_->set_choice(choice);
        workspace_.set_lanes(choice);
    });
    connect(path_, &QCheckBox::toggled, canvas_, &TimelineCanvas::setPathShown);
    connect(canvas_, &TimelineCanvas::pathShownChanged, path_, &QCheckBox::setChecked);
    connect(messages, &QCheckBox::toggled, canvas_, &TimelineCanvas::setMessagesShown);
    connect(compare_, &QCheckBox::toggled, this, &TimelinePanel::follow_run);
    connect(open, &QToolButton::clicked, canvas_, &TimelineCanvas::openAll);
    connect(close, &QToolButton::clicked, canvas_, &TimelineCanvas::closeAll);
    connect(fit, &QToolButton::clicked, canvas_, &TimelineCanvas::fitAll);
    connect(fit_lines, &QToolButton::clicked, canvas_, &TimelineCanvas::fitHeight);
}

LaneState TimelinePanel::lanes() const
{
    return {canvas_->order(), canvas_->marks(), workspace_.lanes()};
}

void TimelinePanel::restore(const LaneState& lanes)
{
    canvas_->setOrder(lanes.order);
    canvas_->set_marks(lanes.marks);
    recorded_->set_choice(lanes.recorded);
    workspace_.set_lanes(lanes.recorded);
}

namespace {

QToolButton* menu_button(const QString& text, const QString& tip)
{
    QToolButton* const button = flat_button(text, tip);
    button->setPopupMode(QToolButton::InstantPopup);
    button->setMenu(new QMenu(button));
    return button;
}

} // namespace

QWidget* TimelinePanel::make_lanes_menu()
{
    QToolButton* const button =
        menu_button(tr("Lanes"), tr("Order of the ranks (O), and lanes that are hidden (H)"));
    QMenu* const menu = button->menu();
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        canvas_->add_order_actions(*menu);
        menu->addSeparator();
        menu->addAction(tr("Show what is hidden (%L1)").arg(canvas_->tracks().hidden_count()),
                        canvas_, &TimelineCanvas::showHidden);
    });
    return button;
}

QWidget* TimelinePanel::make_counters_menu()
{
    QToolButton* const button = menu_button(tr("Counters"), tr("What is counted below the lanes"));
    for (const CounterKind kind : counter_kinds) {
        QAction* const action = button->menu()->addAction(text_of(title_of(kind)));
        action->setCheckable(true);
        action->setChecked(counters_->shows(kind));
        connect(action, &QAction::toggled, this,
                [this, kind](bool shown) { counters_->show(kind, shown); });
    }
    return button;
}

} // namespace trainyard::gui
