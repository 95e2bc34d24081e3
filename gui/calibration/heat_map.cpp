#include "gui/calibration/heat_map.h"

#include "sim/base/units.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

// The scale spans at least this share of its most: pairs that differ by what nobody would judge
// look alike.
constexpr double least_scale = 0.2;

double unit_of(PairQuantity quantity)
{
    return quantity == PairQuantity::bandwidth ? 1e9 : 1e-6;
}

OrderedPair pair_of(const MatrixCell& cell)
{
    return {cell.row, cell.column};
}

} // namespace

HeatMap::HeatMap(std::shared_ptr<const JudgedMatrix> matrix) : matrix_(std::move(matrix))
{
    const auto& values = matrix_->matrix.values;
    rows_ = static_cast<int>(values.size());
    for (const auto& row : values)
        columns_ = std::max(columns_, static_cast<int>(row.size()));
    bool any = false;
    for (int row = 0; row < rows_; ++row)
        for (int column = 0; column < columns_; ++column) {
            const MatrixCell cell{row, column};
            const auto one = value(cell);
            if (!one || is_self(cell))
                continue;
            least_ = any ? std::min(least_, *one) : *one;
            most_ = any ? std::max(most_, *one) : *one;
            any = true;
        }
    least_ = std::min(least_, (1 - least_scale) * most_);
    for (const SlowVerdict& verdict : matrix_->judged.verdicts.slow)
        for (const OrderedPair& pair : verdict.pairs)
            slow_.emplace(pair, verdict.share);
}

std::optional<double> HeatMap::value(const MatrixCell& cell) const
{
    const auto& values = matrix_->matrix.values;
    if (cell.row < 0 || cell.row >= rows_ || cell.column < 0)
        return std::nullopt;
    const auto& row = values[static_cast<std::size_t>(cell.row)];
    const auto column = static_cast<std::size_t>(cell.column);
    if (column >= row.size() || !row[column])
        return std::nullopt;
    return *row[column] / unit_of(matrix_->matrix.quantity);
}

QString HeatMap::unit() const
{
    return matrix_->matrix.quantity == PairQuantity::bandwidth ? QStringLiteral("GB/s")
                                                               : QStringLiteral("us");
}

bool HeatMap::is_slow(const MatrixCell& cell) const
{
    return slow_.contains(pair_of(cell));
}

bool HeatMap::is_self(const MatrixCell& cell) const
{
    return cell.row == cell.column && matrix_->matrix.rows == "GPU" && rows_ > 1;
}

QString HeatMap::row_name(int row) const
{
    return QStringLiteral("%1 %2").arg(QString::fromStdString(matrix_->matrix.rows)).arg(row);
}

QString HeatMap::facts(const MatrixCell& cell) const
{
    QString out = QStringLiteral("%1 → GPU %2: ").arg(row_name(cell.row)).arg(cell.column);
    const auto one = value(cell);
    if (!one)
        return out + QStringLiteral("not measured");
    out += QStringLiteral("%1 %2").arg(*one, 0, 'g', 4).arg(unit());
    if (is_self(cell))
        out += QStringLiteral(", within one GPU");
    if (const auto slow = slow_.find(pair_of(cell)); slow != slow_.end())
        out += QStringLiteral(", slow: part of what is %1 % below the others of its kind")
                   .arg(100 * (1 - slow->second), 0, 'f', 0);
    return out;
}

QStringList HeatMap::findings() const
{
    QStringList out;
    for (const SlowVerdict& verdict : matrix_->judged.verdicts.slow)
        out << QStringLiteral("%1: %2 (%3)")
                   .arg(QString::fromStdString(verdict.what),
                        QString::fromStdString(shortfall_text(verdict)),
                        QString::fromStdString(verdict.evidence));
    if (!matrix_->judged.not_judged.empty())
        out << QString::fromStdString(matrix_->judged.not_judged);
    else if (out.isEmpty())
        out << QStringLiteral("no slow link: every pair is within 10 % of its kind, or within the "
                              "scatter of it");
    return out;
}

TableData HeatMap::table() const
{
    TableData out;
    out.columns = {"from", "to", QStringLiteral("measured [%1]").arg(unit()), "verdict"};
    for (int row = 0; row < rows_; ++row)
        for (int column = 0; column < columns_; ++column) {
            const MatrixCell cell{row, column};
            const auto one = value(cell);
            if (!one)
                continue;
            const auto slow = slow_.find(pair_of(cell));
            out.rows.push_back({row_name(row), QStringLiteral("GPU %1").arg(column),
                                QString::number(*one, 'g', 5),
                                slow == slow_.end()
                                    ? (is_self(cell) ? QStringLiteral("within one GPU") : QString())
                                    : QStringLiteral("slow, %1 % below the others of its kind")
                                          .arg(100 * (1 - slow->second), 0, 'f', 0)});
        }
    return out;
}

double HeatMap::share(double value) const
{
    return most_ > least_ ? std::clamp((value - least_) / (most_ - least_), 0.0, 1.0) : 1.0;
}

QRectF HeatMap::rect_of(const MatrixCell& cell, const QRectF& area) const
{
    const double width = area.width() / std::max(1, columns_);
    const double height = area.height() / std::max(1, rows_);
    return {area.left() + cell.column * width, area.top() + cell.row * height, width, height};
}

std::optional<MatrixCell> HeatMap::cell_at(const QPointF& position, const QRectF& area) const
{
    if (!area.contains(position) || rows_ == 0 || columns_ == 0)
        return std::nullopt;
    const MatrixCell cell{
        std::min(rows_ - 1, static_cast<int>((position.y() - area.top()) / area.height() * rows_)),
        std::min(columns_ - 1,
                 static_cast<int>((position.x() - area.left()) / area.width() * columns_))};
    return cell;
}

} // namespace trainyard::gui
