#pragma once

// The rows of the form that are looked for, and on demand only those that the scenario gives.

#include <QSortFilterProxyModel>

namespace trainyard::gui {

class FormFilter : public QSortFilterProxyModel {
    Q_OBJECT

public:
    explicit FormFilter(QObject* parent = nullptr);

    void set_only_given(bool only);
    // What is given may have changed.
    void follow();

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    bool only_given_ = false;
};

} // namespace trainyard::gui
