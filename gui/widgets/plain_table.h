#pragma once

#include <QTableView>

namespace trainyard::gui {

// A view of rows that are chosen whole: dense, sortable by its model, left by Tab.
QTableView* plain_table(const QString& accessible_name);

} // namespace trainyard::gui
