// The window's menus and keys, and the ways between its views.

#include "gui/app/main_window.h"
#include "gui/app/start_page.h"
#include "gui/model/qt_text.h"
#include "gui/recorded/recorded_panel.h"
#include "gui/widgets/dock_title.h"
#include "gui/widgets/problems_button.h"
#include "gui/widgets/problems_view.h"
#include "gui/widgets/table_dialog.h"
#include "sim/base/build_info.h"

#include <QActionGroup>
#include <QApplication>
#include <QDockWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QToolBar>
#include <algorithm>

namespace trainyard::gui {

namespace {

bool takes_focus(const QWidget& widget)
{
    return (widget.focusPolicy() & Qt::TabFocus) != 0 && widget.isEnabled() && widget.isVisible();
}

// Where the focus was last in it, else where it wants it, else the first that takes it.
void focus_into(QWidget& place)
{
    QWidget* const last = place.focusWidget();
    QWidget* found = last != nullptr && takes_focus(*last) ? last : nullptr;
    if (QWidget* const proxy = place.focusProxy(); found == nullptr && proxy != nullptr)
        found = takes_focus(*proxy) ? proxy : nullptr;
    for (QWidget* one = &place; found == nullptr;) {
        if (takes_focus(*one) && (one == &place || place.isAncestorOf(one)))
            found = one;
        one = one->nextInFocusChain();
        if (one == &place)
            break;
    }
    if (found != nullptr)
        found->setFocus(Qt::TabFocusReason);
}

bool has_focus(const QWidget* place)
{
    const QWidget* const focus = QApplication::focusWidget();
    const QWidget* const dock = qobject_cast<QDockWidget*>(place->parentWidget());
    return focus != nullptr &&
           (focus == place || (dock != nullptr ? dock : place)->isAncestorOf(focus));
}

} // namespace

void MainWindow::make_menus()
{
    make_file_menu();
    QMenu* const edit = menuBar()->addMenu(tr("&Edit"));
    QAction* const undo = workspace_.document().undo_stack().createUndoAction(this, tr("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* const redo = workspace_.document().undo_stack().createRedoAction(this, tr("&Redo"));
    redo->setShortcut(QKeySequence::Redo);
    edit->addAction(undo);
    edit->addAction(redo);
    edit->addSeparator();
    edit->addAction(tr("&Cluster ..."), QKeySequence(tr("Ctrl+K")), this,
                    &MainWindow::edit_cluster);
    make_run_menu();
    make_view_menu();
    QMenu* const help = menuBar()->addMenu(tr("&Help"));
    help->addAction(tr("&Keys"), QKeySequence(Qt::Key_F1), this, &MainWindow::show_keys);
    help->addAction(tr("&About Trainyard"), this, &MainWindow::show_about);
}

void MainWindow::make_file_menu()
{
    QMenu* const file = menuBar()->addMenu(tr("&File"));
    file->addAction(tr("&New ..."), QKeySequence::New, this, &MainWindow::show_new);
    file->addAction(tr("&Open ..."), QKeySequence::Open, this, &MainWindow::ask_open);
    file->addAction(tr("Open a &folder of traces ..."), recorded_, &RecordedPanel::ask_folder);
    QMenu* const recent = file->addMenu(tr("Open &recent"));
    connect(file, &QMenu::aboutToShow, recent, [this, recent] {
        recent->clear();
        for (const QString& one : recent_)
            recent->addAction(QString(one).replace('&', QStringLiteral("&&")), this,
                              [this, one] { open_later(one.toStdString()); });
        recent->setEnabled(!recent->isEmpty());
    });
    QMenu* const shown = file->addMenu(tr("Open e&xample"));
    for (const Example& example : examples())
        shown->addAction(example.title, this,
                         [this, one = example.file] { open_later(one.toStdString()); });
    file->addAction(tr("&Save scenario"), QKeySequence::Save, this, &MainWindow::save_scenario);
    file->addAction(tr("Save scenario &as ..."), QKeySequence(tr("Ctrl+Shift+S")), this,
                    &MainWindow::save_scenario_as);
    file->addAction(tr("Save s&ession ..."), QKeySequence(tr("Ctrl+Alt+S")), this,
                    &MainWindow::ask_save_session);
    file->addSeparator();
    file->addAction(tr("&Export view ..."), QKeySequence(tr("Ctrl+E")), this,
                    [this] { ask_export(*front_part()); });
    file->addSeparator();
    file->addAction(tr("&Quit"), QKeySequence(tr("Ctrl+Q")), this, &QWidget::close);
}

void MainWindow::make_run_menu()
{
    QMenu* const run = menuBar()->addMenu(tr("&Run"));
    run->addAction(tr("&Simulate again"), QKeySequence(Qt::Key_F5), &workspace_,
                   &Workspace::simulate_again);
    cancel_ =
        run->addAction(tr("&Cancel"), QKeySequence(Qt::Key_Escape), this, &MainWindow::cancel);
    cancel_->setEnabled(false);
    run->addSeparator();
    QAction* const pin = run->addAction(tr("&Pin as baseline"), QKeySequence(tr("Ctrl+B")),
                                        &workspace_, &Workspace::pin_baseline);
    QAction* const forget =
        run->addAction(tr("&Forget the baseline"), QKeySequence(tr("Ctrl+Shift+B")), &workspace_,
                       &Workspace::clear_baseline);
    const auto follow = [this, pin, forget] {
        pin->setEnabled(workspace_.run() != nullptr);
        forget->setEnabled(workspace_.baseline() != nullptr);
    };
    connect(&workspace_, &Workspace::runChanged, this, follow);
    connect(&workspace_, &Workspace::baselineChanged, this, follow);
    follow();
    run->addSeparator();
    run->addAction(tr("P&rice ..."), this, &MainWindow::ask_price);
}

void MainWindow::make_view_menu()
{
    QMenu* const view = menuBar()->addMenu(tr("&View"));
    int number = 0;
    for (const QString& key : dock_order()) {
        QDockWidget* const dock = docks_.at(key);
        const QKeySequence keys(QStringLiteral("Ctrl+%1").arg(++number));
        view->addAction(dock->windowTitle(), keys, this, [this, key, dock] {
            show_panel(key);
            focus_into(*dock->widget());
        });
        static_cast<DockTitle*>(dock->titleBarWidget())->set_key(keys.toString());
    }
    view->addAction(tr("&Next place"), QKeySequence(Qt::Key_F6), this, [this] { walk_places(1); });
    view->addAction(tr("&Previous place"), QKeySequence(tr("Shift+F6")), this,
                    [this] { walk_places(-1); });
    view->addAction(tr("&Close view"), QKeySequence(tr("Ctrl+W")), this, &MainWindow::close_view);
    view->addAction(tr("&Reset the layout"), this, &MainWindow::reset_layout);
    view->addSeparator();
    view->addAction(tr("Show as &table"), QKeySequence(tr("Ctrl+T")), this,
                    [this] { show_table(*front_part()); });
    view->addSeparator();
    auto* const themes = new QActionGroup(this);
    const auto add_theme = [&](const QString& name, std::optional<Theme> theme) {
        QAction* const action = view->addAction(name, this, [this, theme] { set_theme(theme); });
        action->setCheckable(true);
        themes->addAction(action);
        connect(view, &QMenu::aboutToShow, action,
                [this, action, theme] { action->setChecked(theme == theme_); });
    };
    add_theme(tr("&Light"), Theme::light);
    add_theme(tr("&Dark"), Theme::dark);
    add_theme(tr("As the des&ktop"), std::nullopt);
}

// As their keys count them.
std::vector<QString> MainWindow::dock_order() const
{
    std::vector<QString> keys;
    for (const Panel* const one : panels_)
        keys.push_back(one->key());
    keys.push_back(QStringLiteral("problems"));
    keys.push_back(QStringLiteral("origin"));
    return keys;
}

std::vector<QWidget*> MainWindow::places_in_sight() const
{
    std::vector<QWidget*> places;
    if (start_->isVisible())
        places.push_back(start_);
    for (const QString& key : dock_order()) {
        const QDockWidget* const dock = docks_.at(key);
        if (dock->isVisible() && !dock->visibleRegion().isEmpty())
            places.push_back(dock->widget());
    }
    if (headline_->isVisible())
        places.push_back(headline_);
    places.push_back(problems_button_);
    return places;
}

void MainWindow::walk_places(int by)
{
    const std::vector<QWidget*> places = places_in_sight();
    const auto count = static_cast<std::ptrdiff_t>(places.size());
    const auto now = std::find_if(places.begin(), places.end(), has_focus);
    const std::ptrdiff_t next = now == places.end() ? 0 : now - places.begin() + by + count;
    focus_into(*places[static_cast<std::size_t>(next % count)]);
}

// That with the focus, else one in sight: a view behind another's tab that still has it is not
// meant.
void MainWindow::close_view()
{
    QDockWidget* const problems = docks_.at(QStringLiteral("problems"));
    if (has_focus(problems->widget()))
        problems->close();
    else if (const Panel* const front = front_panel(); front->in_sight())
        docks_.at(front->key())->close();
}

void MainWindow::show_about()
{
    QMessageBox::about(
        this, tr("About Trainyard"),
        tr("<p><b>Trainyard %1</b></p><p>A discrete-event simulator and capacity planner for "
           "distributed training of deep networks.</p><p>This window is free software under the "
           "GPL, version 3 or later, as QCustomPlot is, which draws its charts; it uses Qt %2 "
           "under the LGPL.</p>")
            .arg(text_of(version()), QString::fromUtf8(qVersion())));
}

void MainWindow::show_keys()
{
    TableData keys{{tr("Where"), tr("Keys"), tr("What")}, {}};
    for (const QAction* const menu : menuBar()->actions())
        for (const QAction* const action : menu->menu()->actions())
            if (!action->shortcut().isEmpty())
                keys.rows.push_back({menu->text().remove('&'),
                                     action->shortcut().toString(QKeySequence::NativeText),
                                     action->text().remove('&').remove(QStringLiteral(" ..."))});
    for (const Panel* const one : panels_)
        for (const KeyHelp& help : one->key_help())
            keys.rows.push_back({one->title(), help.keys, help.what});
    auto* const dialog = new TableDialog(tr("Keys"), std::move(keys), this);
    dialog->setWindowTitle(tr("Keys"));
    dialog->show();
}

} // namespace trainyard::gui
