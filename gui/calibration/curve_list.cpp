#include "gui/calibration/curve_list.h"

#include "calibrate/import/pair_matrix.h"
#include "gui/widgets/labels.h"

namespace trainyard::gui {

namespace {

// Of a row's index: its section + 1; sections have 0.
quintptr id_of(const QModelIndex& section)
{
    return static_cast<quintptr>(section.row()) + 1;
}

QVariant curve_text(const FittedCurve& curve, int column)
{
    const CurveStudy& study = curve.study;
    switch (column) {
    case CurveList::name_column: {
        const QString details = details_of(study);
        QString name = QString::fromStdString(std::string(to_name(study.configuration.collective)));
        if (curve.origin == Origin::job)
            name += QStringLiteral(" (%1)").arg(QString::fromStdString(curve.table));
        return details.isEmpty() ? name : QStringLiteral("%1, %2").arg(name, details);
    }
    case CurveList::ranks_column:
        return study.configuration.ranks;
    case CurveList::error_column: {
        const std::optional<double> error = error_of(study);
        return error ? QStringLiteral("%1 %").arg(100 * *error, 0, 'f', 1) : QStringLiteral("–");
    }
    default:
        return study.sizes.empty() ? QVariant(QStringLiteral("–"))
                                   : QVariant(static_cast<int>(study.sizes.size()));
    }
}

QVariant matrix_text(const JudgedMatrix& matrix, int column)
{
    const auto slow = static_cast<int>(matrix.judged.verdicts.slow.size());
    switch (column) {
    case CurveList::name_column:
        return QString::fromStdString(matrix.matrix.test);
    case CurveList::ranks_column:
        return static_cast<int>(matrix.matrix.values.size());
    case CurveList::error_column:
        return slow > 0 ? CurveList::tr("%1 slow").arg(slow) : QString();
    default:
        return {};
    }
}

QString curve_tip(const FittedCurve& curve)
{
    return QStringLiteral("%1\n%2\n%3")
        .arg(name_of(curve.study), details_of(curve.study),
             QString::fromStdString(curve.study.table.source));
}

} // namespace

void CurveList::set_fitted(std::shared_ptr<const Fitted> fitted)
{
    beginResetModel();
    Section measured{tr("Measured"), {}};
    Section growing{tr("Being measured"), {}};
    Section job{tr("The scenario's job"), {}};
    Section profile{fitted->state.run
                        ? tr("Its profile: %1")
                              .arg(QString::fromStdString(fitted->state.run->cost->profile().name))
                        : QString(),
                    {}};
    Section matrices{tr("Pair matrices"), {}};
    for (const auto& curve : fitted->curves)
        (curve->origin == Origin::measured  ? measured
         : curve->origin == Origin::growing ? growing
         : curve->origin == Origin::job     ? job
                                            : profile)
            .entries.push_back({curve, nullptr});
    for (const auto& matrix : fitted->matrices)
        matrices.entries.push_back({nullptr, matrix});
    sections_.clear();
    for (Section* section : {&growing, &measured, &matrices, &job, &profile})
        if (!section->entries.empty())
            sections_.push_back(std::move(*section));
    endResetModel();
}

CurveChoice CurveList::at(const QModelIndex& index) const
{
    if (!index.isValid() || index.internalId() == 0)
        return {};
    return sections_[index.internalId() - 1].entries[static_cast<std::size_t>(index.row())];
}

QModelIndex CurveList::index_of(const CurveChoice& choice) const
{
    for (std::size_t s = 0; s < sections_.size(); ++s)
        for (std::size_t row = 0; row < sections_[s].entries.size(); ++row) {
            const CurveChoice& one = sections_[s].entries[row];
            if ((choice.curve && one.curve && one.curve->is_same(*choice.curve)) ||
                (choice.matrix && one.matrix && one.matrix->matrix == choice.matrix->matrix))
                return createIndex(static_cast<int>(row), 0, s + 1);
        }
    return sections_.empty() ? QModelIndex() : createIndex(0, 0, quintptr{1});
}

QModelIndex CurveList::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(row, column, parent.isValid() ? id_of(parent) : 0);
}

QModelIndex CurveList::parent(const QModelIndex& index) const
{
    if (!index.isValid() || index.internalId() == 0)
        return {};
    return createIndex(static_cast<int>(index.internalId() - 1), 0, quintptr{0});
}

int CurveList::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid())
        return static_cast<int>(sections_.size());
    if (parent.internalId() != 0 || parent.column() != 0)
        return 0;
    return static_cast<int>(sections_[static_cast<std::size_t>(parent.row())].entries.size());
}

int CurveList::columnCount(const QModelIndex&) const
{
    return 4;
}

QVariant CurveList::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    if (role == Qt::TextAlignmentRole && index.column() != name_column)
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (index.internalId() == 0) {
        const Section& section = sections_[static_cast<std::size_t>(index.row())];
        if (role == Qt::DisplayRole && index.column() == name_column)
            return section.title;
        return role == Qt::FontRole ? QVariant(bold({})) : QVariant();
    }
    const CurveChoice choice = at(index);
    if (role == Qt::DisplayRole)
        return choice.curve ? curve_text(*choice.curve, index.column())
                            : matrix_text(*choice.matrix, index.column());
    if (role == Qt::ToolTipRole)
        return choice.curve ? curve_tip(*choice.curve)
                            : QString::fromStdString(describe(choice.matrix->matrix));
    return {};
}

QVariant CurveList::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::DisplayRole)
        return section == name_column    ? tr("curve")
               : section == ranks_column ? tr("ranks")
               : section == error_column ? tr("error")
                                         : tr("sizes");
    if (role == Qt::ToolTipRole)
        return section == error_column
                   ? tr("median of the errors at sizes left out; of a profile without points the "
                        "mean that it states")
                   : QString();
    return {};
}

Qt::ItemFlags CurveList::flags(const QModelIndex& index) const
{
    if (!index.isValid())
        return {};
    return index.internalId() == 0 ? Qt::ItemIsEnabled : Qt::ItemIsEnabled | Qt::ItemIsSelectable;
}

} // namespace trainyard::gui
