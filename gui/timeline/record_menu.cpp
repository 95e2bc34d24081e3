#include "gui/timeline/record_menu.h"

#include <QActionGroup>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QWidgetAction>
#include <set>

namespace trainyard::gui {

RecordMenu::RecordMenu(QWidget* parent)
    : QToolButton(parent), choices_(new QActionGroup(this)), ranks_(new QLineEdit)
{
    setAutoRaise(true);
    setPopupMode(QToolButton::InstantPopup);
    setToolTip(tr("Whose operations are recorded"));
    setAccessibleName(toolTip());
    auto* const menu = new QMenu(this);
    setMenu(menu);
    const std::array<std::pair<LanesOf, QString>, 4> choices{
        {{LanesOf::usual, tr("All ranks of small jobs, else one of each stage")},
         {LanesOf::stages, tr("One rank of each stage, and the critical one")},
         {LanesOf::dp_group, tr("The critical rank's data-parallel group")},
         {LanesOf::all, tr("All ranks, as far as two million operations go")}}};
    for (const auto& [of, text] : choices) {
        QAction* const action = menu->addAction(text);
        action->setCheckable(true);
        action->setData(static_cast<int>(of));
        choices_->addAction(action);
        connect(action, &QAction::triggered, this,
                [this, choice = LaneChoice{of}] { emit chosen(choice); });
    }
    ranks_->setPlaceholderText(tr("these ranks: 0-3, 8"));
    ranks_->setAccessibleName(tr("Ranks to record, as 0-3, 8"));
    ranks_->setClearButtonEnabled(true);
    auto* const typed = new QWidgetAction(menu);
    typed->setDefaultWidget(ranks_);
    menu->addAction(typed);
    ranks_->installEventFilter(this);
    connect(ranks_, &QLineEdit::textChanged, this, [this] {
        ranks_->setPalette(palette());
        ranks_->setToolTip({});
    });
    set_choice({});
    tell(nullptr);
}

// Return is the line's alone: the menu would take it for one of its entries.
bool RecordMenu::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == ranks_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Return || key == Qt::Key_Enter) {
            choose_ranks();
            return true;
        }
    }
    return QToolButton::eventFilter(watched, event);
}

void RecordMenu::choose_ranks()
{
    const auto ranks = parse_ranks(ranks_->text().toStdString());
    if (ranks) {
        menu()->close();
        emit chosen({LanesOf::ranks, *ranks});
        return;
    }
    QPalette wrong = palette();
    wrong.setColor(QPalette::Text, Qt::red);
    ranks_->setPalette(wrong);
    ranks_->setToolTip(tr("Ranks are numbers and ranges of numbers: 0-3, 8"));
}

void RecordMenu::set_choice(const LaneChoice& choice)
{
    choices_->setExclusionPolicy(QActionGroup::ExclusionPolicy::None);
    for (QAction* const action : choices_->actions())
        action->setChecked(action->data().toInt() == static_cast<int>(choice.of));
    choices_->setExclusionPolicy(QActionGroup::ExclusionPolicy::Exclusive);
}

void RecordMenu::tell(const TimelineModel* model)
{
    setEnabled(model != nullptr && !model->runs.empty());
    if (!isEnabled()) {
        setText(tr("no ranks recorded"));
        return;
    }
    std::set<RankId> ranks;
    for (const Track& track : model->data.tracks)
        if (track.kind == TrackKind::rank && track.run == 0)
            ranks.insert(track.rank);
    setText(tr("%L1 of %L2 ranks recorded")
                .arg(ranks.size())
                .arg(model->runs.front()->outcome->job.world()));
}

} // namespace trainyard::gui
