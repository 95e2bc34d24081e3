#include "gui/tests/clicks.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QMenu>
#include <QMenuBar>
#include <QScrollArea>
#include <QTabBar>
#include <QTest>
#include <vector>

namespace trainyard::gui::test {

namespace {

bool fail_at(const QString& why, const Clicks::Place& at)
{
    QTest::qFail(qPrintable(why), at.file_name(), static_cast<int>(at.line()));
    return false;
}

QString as_read(QString text)
{
    return text.remove('&').remove(QStringLiteral("...")).trimmed();
}

// Where a user could click now: a modal dialog keeps everything else away.
std::vector<QWidget*> reachable_windows()
{
    if (QWidget* const modal = QApplication::activeModalWidget())
        return {modal};
    std::vector<QWidget*> out;
    for (QWidget* const window : QApplication::topLevelWidgets())
        if (window->isVisible())
            out.push_back(window);
    return out;
}

QString named(const QWidget& widget)
{
    const QString name =
        widget.objectName().isEmpty() ? widget.accessibleName() : widget.objectName();
    return QStringLiteral("%1 \"%2\"").arg(widget.metaObject()->className(), name);
}

// A user scrolls to what lies outside of a scroll area's view.
void scroll_to(QWidget& widget)
{
    for (QWidget* parent = widget.parentWidget(); parent != nullptr;
         parent = parent->parentWidget())
        if (auto* const area = qobject_cast<QScrollArea*>(parent))
            area->ensureWidgetVisible(&widget);
}

bool can_be_used(QWidget* widget, const Clicks::Place& at)
{
    if (widget == nullptr)
        return fail_at(QStringLiteral("there is no such widget"), at);
    if (!widget->isVisible())
        return fail_at(named(*widget) + QStringLiteral(" is not visible"), at);
    if (!widget->isEnabled())
        return fail_at(named(*widget) + QStringLiteral(" is disabled"), at);
    const QWidget* const modal = QApplication::activeModalWidget();
    if (modal != nullptr && modal != widget && !modal->isAncestorOf(widget))
        return fail_at(named(*widget) + QStringLiteral(" is behind a dialog"), at);
    scroll_to(*widget);
    if (widget->visibleRegion().isEmpty())
        return fail_at(named(*widget) + QStringLiteral(" is covered, or out of sight"), at);
    return true;
}

// The row that reads so, or else the only one that begins so; -1 and a failure: none.
int row_of(const QAbstractItemModel& model, const QString& text, const Clicks::Place& at)
{
    std::vector<int> beginning;
    QStringList all;
    for (int row = 0; row < model.rowCount(); ++row) {
        const QString shown = model.index(row, 0).data(Qt::DisplayRole).toString();
        all << shown;
        if (shown == text)
            return row;
        if (shown.startsWith(text))
            beginning.push_back(row);
    }
    if (beginning.size() == 1)
        return beginning.front();
    fail_at(QStringLiteral("%1 lines read \"%2\" among: %3")
                .arg(beginning.size())
                .arg(text, all.join(QStringLiteral(" | "))),
            at);
    return -1;
}

QAction* action_in(const QList<QAction*>& actions, const QString& text)
{
    for (QAction* const action : actions)
        if (as_read(action->text()) == as_read(text))
            return action;
    return nullptr;
}

bool click_row(QAbstractItemView& view, int row, const Clicks::Place& at)
{
    const QModelIndex index = view.model()->index(row, 0, view.rootIndex());
    if ((index.flags() & Qt::ItemIsEnabled) == 0)
        return fail_at(QStringLiteral("\"%1\" is disabled").arg(index.data().toString()), at);
    view.scrollTo(index);
    const QRect seen = view.visualRect(index).intersected(view.viewport()->rect());
    if (seen.isEmpty())
        return fail_at(QStringLiteral("\"%1\" is out of sight").arg(index.data().toString()), at);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, seen.center());
    return true;
}

} // namespace

bool Clicks::click(const QString& text, Place at)
{
    std::vector<QAbstractButton*> found;
    QAbstractButton* hidden = nullptr;
    for (const QWidget* const window : reachable_windows())
        for (QAbstractButton* const button : window->findChildren<QAbstractButton*>()) {
            if (as_read(button->text()) != as_read(text) ||
                (button->window() != window && button->window()->isVisible()))
                continue;
            if (button->isVisible())
                found.push_back(button);
            else
                hidden = button;
        }
    if (found.size() > 1)
        return fail_at(QStringLiteral("%1 buttons say \"%2\"").arg(found.size()).arg(text), at);
    if (found.empty() && hidden == nullptr)
        return fail_at(QStringLiteral("no button says \"%1\"").arg(text), at);
    return click(found.empty() ? hidden : found.front(), at);
}

bool Clicks::click(QWidget* widget, Place at)
{
    if (!can_be_used(widget, at))
        return false;
    ++count_;
    QTest::mouseClick(widget, Qt::LeftButton, {}, widget->visibleRegion().boundingRect().center());
    return true;
}

bool Clicks::menu(const QString& menu, const QString& entry, Place at)
{
    for (QWidget* const window : reachable_windows()) {
        auto* const bar = window->findChild<QMenuBar*>();
        QAction* const head = bar != nullptr ? action_in(bar->actions(), menu) : nullptr;
        if (head == nullptr)
            continue;
        QTest::mouseClick(bar, Qt::LeftButton, {}, bar->actionGeometry(head).center());
        QAction* const action = action_in(head->menu()->actions(), entry);
        if (action == nullptr || !action->isEnabled()) {
            head->menu()->close();
            return fail_at(QStringLiteral("\"%1\" is %2 the menu \"%3\"")
                               .arg(entry,
                                    action == nullptr ? QStringLiteral("not in")
                                                      : QStringLiteral("disabled in"),
                                    menu),
                           at);
        }
        count_ += 2;
        QTest::mouseClick(head->menu(), Qt::LeftButton, {},
                          head->menu()->actionGeometry(action).center());
        return true;
    }
    return fail_at(QStringLiteral("no menu says \"%1\"").arg(menu), at);
}

bool Clicks::tab(const QString& title, Place at)
{
    std::vector<std::pair<QTabBar*, int>> found;
    for (const QWidget* const window : reachable_windows())
        for (QTabBar* const bar : window->findChildren<QTabBar*>())
            for (int i = 0; bar->isVisible() && i < bar->count(); ++i)
                if (as_read(bar->tabText(i)) == as_read(title) && bar->isTabVisible(i))
                    found.emplace_back(bar, i);
    if (found.size() != 1)
        return fail_at(QStringLiteral("%1 tabs say \"%2\"").arg(found.size()).arg(title), at);
    const auto [bar, index] = found.front();
    if (!can_be_used(bar, at))
        return false;
    ++count_;
    QTest::mouseClick(bar, Qt::LeftButton, {}, bar->tabRect(index).center());
    return true;
}

bool Clicks::choose(QComboBox* box, const QString& text, Place at)
{
    if (!can_be_used(box, at))
        return false;
    const int row = row_of(*box->model(), text, at);
    if (row < 0)
        return false;
    ++count_;
    box->setFocus(Qt::MouseFocusReason);
    box->showPopup();
    if (!click_row(*box->view(), row, at))
        return false;
    if (box->currentIndex() != row)
        return fail_at(named(*box) + QStringLiteral(" did not take \"%1\"").arg(text), at);
    return true;
}

bool Clicks::pick(QAbstractItemView* view, const QString& text, Place at)
{
    if (!can_be_used(view, at))
        return false;
    const int row = row_of(*view->model(), text, at);
    ++count_;
    return row >= 0 && click_row(*view, row, at);
}

bool Clicks::type(QWidget* field, const QString& text, Place at)
{
    if (!can_be_used(field, at))
        return false;
    ++count_;
    QTest::mouseClick(field, Qt::LeftButton);
    QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
    if (text.isEmpty())
        QTest::keyClick(field, Qt::Key_Delete);
    else
        QTest::keyClicks(field, text);
    QTest::keyClick(field, Qt::Key_Tab);
    return true;
}

} // namespace trainyard::gui::test
