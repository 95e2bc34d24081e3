#include "gui/widgets/plain_table.h"

#include <QHeaderView>

namespace trainyard::gui {

QTableView* plain_table(const QString& accessible_name)
{
    auto* const view = new QTableView;
    view->setAccessibleName(accessible_name);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setTabKeyNavigation(false);
    view->setAlternatingRowColors(true);
    view->setWordWrap(false);
    view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    view->verticalHeader()->hide();
    view->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    view->verticalHeader()->setDefaultSectionSize(view->fontMetrics().height() + 6);
    // Bold letters of a chosen row's columns would not fit.
    view->horizontalHeader()->setHighlightSections(false);
    return view;
}

} // namespace trainyard::gui
