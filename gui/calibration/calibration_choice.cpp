// Which of its curves and matrices the CalibrationPanel shows.

#include "gui/calibration/calibration_panel.h"

#include <QAction>
#include <QStackedWidget>
#include <QTreeView>
#include <algorithm>

namespace trainyard::gui {

namespace {

// What files brought that were opened since, or a run that began to measure.
CurveChoice first_new(const Fitted& before, const Fitted& after)
{
    if (!before.state.growing && after.state.growing)
        for (const auto& curve : after.curves)
            if (curve->origin == Origin::growing)
                return {curve, nullptr};
    if (before.state.measured == after.state.measured)
        return {};
    for (const auto& curve : after.curves)
        if (curve->origin == Origin::measured && find(before, *curve) == nullptr)
            return {curve, nullptr};
    for (const auto& matrix : after.matrices)
        if (std::none_of(before.matrices.begin(), before.matrices.end(),
                         [&](const auto& one) { return one->matrix == matrix->matrix; }))
            return {nullptr, matrix};
    return {};
}

} // namespace

void CalibrationPanel::follow_fits()
{
    const CurveChoice fresh = first_new(*shown_, *calibration_.fitted());
    const CurveChoice wanted = fresh.curve || fresh.matrix ? fresh : chosen_;
    const CurvePanel::Curves beside =
        wanted.curve == chosen_.curve ? curves_beside() : CurvePanel::Curves{};
    shown_ = calibration_.fitted();
    model_->set_fitted(shown_);
    list_->expandAll();
    for (int section = 0; section < model_->rowCount(); ++section)
        list_->setFirstColumnSpanned(section, {}, true);
    const QModelIndex now = model_->index_of(wanted);
    list_->setCurrentIndex(now);
    for (const auto& curve : beside)
        if (const QModelIndex index = model_->index_of({curve, nullptr});
            index.isValid() && model_->at(index).curve && model_->at(index).curve->is_same(*curve))
            list_->selectionModel()->select(index, QItemSelectionModel::Select |
                                                       QItemSelectionModel::Rows);
    if (!now.isValid())
        follow_choice();
    follow_tools();
}

void CalibrationPanel::follow_choice()
{
    chosen_ = model_->at(list_->currentIndex());
    if (chosen_.matrix)
        matrix_->set_matrix(chosen_.matrix);
    else
        curve_->set_curve(chosen_.curve, curves_beside());
    if (!chosen_.matrix && calibration_.fitted()->matrices.empty())
        matrix_->set_matrix(nullptr);
    log_shown_->setChecked(false); // a curve was asked for
    follow_stack();
    follow_tools();
}

void CalibrationPanel::follow_stack()
{
    QWidget* const chosen = chosen_.matrix ? static_cast<QWidget*>(matrix_) : curve_;
    stack_->setCurrentWidget(log_shown_->isChecked() ? static_cast<QWidget*>(log_) : chosen);
}

// Chosen with the current one, in the list's order.
CurvePanel::Curves CalibrationPanel::curves_beside() const
{
    CurvePanel::Curves out;
    for (const QModelIndex& index : list_->selectionModel()->selectedRows())
        if (const CurveChoice choice = model_->at(index);
            choice.curve && choice.curve != chosen_.curve)
            out.push_back(choice.curve);
    return out;
}

void CalibrationPanel::choose_alike()
{
    if (!chosen_.curve)
        return;
    const QModelIndex now = list_->currentIndex();
    QItemSelection all;
    for (int row = 0; row < model_->rowCount(now.parent()); ++row) {
        const QModelIndex index = model_->index(row, 0, now.parent());
        const CurveChoice choice = model_->at(index);
        if (choice.curve && choice.curve->study.configuration.collective ==
                                chosen_.curve->study.configuration.collective)
            all.select(index, index);
    }
    list_->selectionModel()->select(all, QItemSelectionModel::ClearAndSelect |
                                             QItemSelectionModel::Rows);
}

} // namespace trainyard::gui
