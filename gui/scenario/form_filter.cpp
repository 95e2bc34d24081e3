#include "gui/scenario/form_filter.h"

#include "gui/scenario/form_model.h"

namespace trainyard::gui {

FormFilter::FormFilter(QObject* parent) : QSortFilterProxyModel(parent)
{
    setRecursiveFilteringEnabled(true);
    setFilterCaseSensitivity(Qt::CaseInsensitive);
    setFilterRole(FormModel::search_role);
}

void FormFilter::set_only_given(bool only)
{
    if (only == only_given_)
        return;
    only_given_ = only;
    invalidateFilter();
}

void FormFilter::follow()
{
    if (only_given_)
        invalidateFilter();
}

bool FormFilter::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    return QSortFilterProxyModel::filterAcceptsRow(row, parent) &&
           (!only_given_ ||
            sourceModel()->index(row, 0, parent).data(FormModel::given_role).toBool());
}

} // namespace trainyard::gui
