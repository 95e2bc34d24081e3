#pragma once

// Fitted curves and judged matrices as a tree of sections, to choose one.

#include "gui/calibration/fitted.h"

#include <QAbstractItemModel>

namespace trainyard::gui {

// One of the two; both null: none.
struct CurveChoice {
    std::shared_ptr<const FittedCurve> curve;
    std::shared_ptr<const JudgedMatrix> matrix;
};

class CurveList : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Column { name_column, ranks_column, error_column, count_column };

    using QAbstractItemModel::QAbstractItemModel;

    // Sections: measured curves, pair matrices, those of the scenario's job and of its profile;
    // none that is empty.
    void set_fitted(std::shared_ptr<const Fitted> fitted);

    CurveChoice at(const QModelIndex& index) const;
    // Of the same curve or matrix, fitted again or not; else the first.
    QModelIndex index_of(const CurveChoice& choice) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    struct Section {
        QString title;
        std::vector<CurveChoice> entries;
    };

    std::vector<Section> sections_;
};

} // namespace trainyard::gui
