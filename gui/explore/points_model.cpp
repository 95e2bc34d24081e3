#include "gui/explore/points_model.h"

#include "gui/model/qt_text.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"

#include <QApplication>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

PointsModel::PointsModel(const PointStore& store, const Marks& marks, QObject* parent)
    : QAbstractTableModel(parent), store_(store), marks_(marks)
{}

void PointsModel::take_columns(std::vector<Metric> metrics)
{
    columns_ = std::move(metrics);
    // What was chosen stands before what came of it.
    std::ranges::stable_partition(columns_, [](const Metric& one) { return one.axis.has_value(); });
}

void PointsModel::sort_best_first()
{
    const Metric& best = best_metric(columns_);
    sort_column_ = static_cast<int>(&best - columns_.data());
    order_ = best.better == Better::higher ? Qt::DescendingOrder : Qt::AscendingOrder;
}

void PointsModel::restart(std::vector<Metric> metrics)
{
    beginResetModel();
    take_columns(std::move(metrics));
    filter_ = RowFilter();
    on_front_.clear();
    rows_.clear();
    keys_.clear();
    followed_ = 0;
    sort_best_first();
    fill_keys(0);
    rows_ = all_wanted(0);
    std::ranges::sort(rows_, [this](std::uint32_t a, std::uint32_t b) { return before(a, b); });
    endResetModel();
}

void PointsModel::set_metrics(std::vector<Metric> metrics)
{
    if (columns_.empty())
        return restart(std::move(metrics));
    beginResetModel();
    const bool by_reason = sort_column_ == reason_column();
    const QString sorted =
        by_reason ? QString() : columns_[static_cast<std::size_t>(sort_column_)].key;
    take_columns(std::move(metrics));
    const auto same = std::ranges::find(columns_, sorted, &Metric::key);
    if (by_reason)
        sort_column_ = reason_column();
    else if (same != columns_.end())
        sort_column_ = static_cast<int>(same - columns_.begin());
    else
        sort_best_first();
    fill_keys(0);
    rows_ = all_wanted(0);
    std::ranges::sort(rows_, [this](std::uint32_t a, std::uint32_t b) { return before(a, b); });
    endResetModel();
}

// What is not known goes last, whichever way it is sorted; equals as the grid has them.
bool PointsModel::before(std::uint32_t a, std::uint32_t b) const
{
    const double x = key(a);
    const double y = key(b);
    if (std::isnan(x) != std::isnan(y))
        return std::isnan(y);
    if (x != y && !std::isnan(x))
        return order_ == Qt::AscendingOrder ? x < y : x > y;
    if (a == PointStore::guest || b == PointStore::guest)
        return a == PointStore::guest && a != b;
    return store_.index(a) < store_.index(b);
}

double PointsModel::key_of(std::uint32_t point) const
{
    if (sort_column_ == reason_column())
        return store_.feasible(point) || point == PointStore::guest ? no_number
                                                                    : store_.kind(point);
    if (sort_column_ < 0 || sort_column_ > reason_column())
        return 0;
    const Metric& metric = columns_[static_cast<std::size_t>(sort_column_)];
    return store_.feasible(point) || metric.axis ? value_of(store_, point, metric) : no_number;
}

void PointsModel::fill_keys(std::uint32_t from)
{
    keys_.resize(store_.size());
    for (std::uint32_t point = from; point < store_.size(); ++point)
        keys_[point] = key_of(point);
    if (shows_guest())
        guest_key_ = key_of(PointStore::guest);
}

bool PointsModel::wanted(std::uint32_t point) const
{
    if (shown_ == Shown::possible && !store_.feasible(point))
        return false;
    if (shown_ == Shown::marked && !marks_.marked(point))
        return false;
    if (shown_ == Shown::front && !(point < on_front_.size() && on_front_[point]))
        return false;
    return filter_.empty() || filter_.accepts(store_, point);
}

std::vector<std::uint32_t> PointsModel::all_wanted(std::uint32_t from)
{
    filter_.prepare(store_);
    std::vector<std::uint32_t> out;
    for (std::uint32_t point = from; point < store_.size(); ++point)
        if (wanted(point))
            out.push_back(point);
    if (from == 0 && shows_guest())
        out.push_back(PointStore::guest);
    followed_ = store_.size();
    return out;
}

void PointsModel::follow()
{
    if (followed_ == store_.size())
        return;
    fill_keys(followed_);
    std::vector<std::uint32_t> fresh = all_wanted(followed_);
    if (fresh.empty())
        return;
    const auto less = [this](std::uint32_t a, std::uint32_t b) { return before(a, b); };
    std::ranges::sort(fresh, less);
    std::vector<std::uint32_t> merged;
    merged.reserve(rows_.size() + fresh.size());
    std::ranges::merge(rows_, fresh, std::back_inserter(merged), less);
    // Rows can be inserted at one place only: at the end, then all find theirs.
    const int count = static_cast<int>(rows_.size());
    beginInsertRows({}, count, count + static_cast<int>(fresh.size()) - 1);
    rows_.insert(rows_.end(), fresh.begin(), fresh.end());
    endInsertRows();
    reorder(std::move(merged));
}

void PointsModel::reorder(std::vector<std::uint32_t> rows)
{
    emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const QModelIndexList kept = persistentIndexList();
    std::vector<int> place;
    if (!kept.isEmpty()) {
        place.assign(store_.size() + std::size_t{1}, -1); // the guest's is the last
        for (std::size_t row = 0; row < rows.size(); ++row)
            place[std::min(rows[row], store_.size())] = static_cast<int>(row);
    }
    QModelIndexList now;
    for (const QModelIndex& index : kept)
        now << createIndex(place[std::min(point(index.row()), store_.size())], index.column());
    rows_ = std::move(rows);
    changePersistentIndexList(kept, now);
    emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

void PointsModel::sort(int column, Qt::SortOrder order)
{
    if (column == sort_column_ && order == order_)
        return;
    sort_column_ = column;
    order_ = order;
    fill_keys(0);
    std::vector<std::uint32_t> rows = rows_;
    std::ranges::sort(rows, [this](std::uint32_t a, std::uint32_t b) { return before(a, b); });
    reorder(std::move(rows));
}

void PointsModel::refilter()
{
    beginResetModel();
    rows_ = all_wanted(0);
    std::ranges::sort(rows_, [this](std::uint32_t a, std::uint32_t b) { return before(a, b); });
    endResetModel();
}

QString PointsModel::set_filter(const QString& text)
{
    filter_ = RowFilter(text, columns_);
    refilter();
    return filter_.problem();
}

void PointsModel::set_shown(Shown shown)
{
    shown_ = shown;
    refilter();
}

void PointsModel::set_front(std::vector<std::uint32_t> points)
{
    on_front_.assign(store_.size(), false);
    for (const std::uint32_t point : points)
        on_front_[point] = true;
    if (shown_ == Shown::front)
        refilter();
}

void PointsModel::set_here(std::optional<std::uint32_t> point)
{
    const std::optional<int> before = here_ ? row_of(*here_) : std::nullopt;
    if (before && here_ == PointStore::guest) {
        beginRemoveRows({}, *before, *before);
        rows_.erase(rows_.begin() + *before);
        endRemoveRows();
    }
    const bool was_point = here_ && here_ != PointStore::guest;
    here_ = point;
    if (columns_.empty())
        return;
    if (shows_guest()) {
        guest_key_ = key_of(PointStore::guest);
        const auto at = std::ranges::lower_bound(
            rows_, PointStore::guest,
            [this](std::uint32_t a, std::uint32_t b) { return this->before(a, b); });
        const int row = static_cast<int>(at - rows_.begin());
        beginInsertRows({}, row, row);
        rows_.insert(at, PointStore::guest);
        endInsertRows();
    }
    const auto changed = [this](std::optional<int> row) {
        if (row)
            emit dataChanged(index(*row, 0), index(*row, columnCount() - 1));
    };
    if (was_point)
        changed(before);
    if (here_ && here_ != PointStore::guest)
        changed(row_of(*here_));
}

// What is filtered are the points: the open scenario is what they are held against.
bool PointsModel::shows_guest() const
{
    return here_ == PointStore::guest && store_.has(PointStore::guest) &&
           (shown_ == Shown::all || shown_ == Shown::possible);
}

void PointsModel::repaint()
{
    if (shown_ == Shown::marked)
        refilter();
    else if (!rows_.empty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1),
                         {Qt::BackgroundRole});
}

std::optional<int> PointsModel::row_of(std::uint32_t point) const
{
    const auto at = std::ranges::find(rows_, point);
    return at == rows_.end() ? std::nullopt : std::optional(static_cast<int>(at - rows_.begin()));
}

TableData PointsModel::table() const
{
    TableData out;
    for (int column = 0; column < columnCount(); ++column)
        out.columns << headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    const bool told = here_ && row_of(*here_);
    if (told)
        out.columns << tr("Open scenario");
    for (const std::uint32_t point : rows_) {
        QStringList cells;
        for (int column = 0; column < columnCount(); ++column)
            cells << exact_cell(point, column);
        if (told)
            cells << (point == here_ ? tr("yes") : QString());
        out.rows.push_back(std::move(cells));
    }
    return out;
}

// A number for other programs, without thousands as "k".
QString PointsModel::exact_cell(std::uint32_t point, int column) const
{
    if (column == reason_column() || columns_[static_cast<std::size_t>(column)].axis)
        return cell(point, column);
    const double value = value_of(store_, point, columns_[static_cast<std::size_t>(column)]);
    return std::isnan(value) ? QString() : QString::number(value, 'g', 7);
}

QString PointsModel::cell(std::uint32_t point, int column) const
{
    if (column == reason_column())
        return text_of(store_.reason(point));
    return text_of(store_, point, columns_[static_cast<std::size_t>(column)]);
}

int PointsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int PointsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || columns_.empty() ? 0 : reason_column() + 1;
}

QVariant PointsModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const std::uint32_t number = point(index.row());
    const bool here = number == here_;
    switch (role) {
    case Qt::DisplayRole:
        return here && index.column() == 0 ? tr("◆ %1").arg(cell(number, 0))
                                           : cell(number, index.column());
    case Qt::ToolTipRole:
        return here                      ? tr("the open scenario")
               : store_.feasible(number) ? QVariant()
                                         : text_of(store_.reason(number));
    case Qt::FontRole:
        return here ? QVariant(bold(QApplication::font())) : QVariant();
    case Qt::TextAlignmentRole:
        return index.column() == reason_column()
                   ? QVariant()
                   : QVariant(static_cast<int>(Qt::AlignRight | Qt::AlignVCenter));
    case Qt::ForegroundRole:
        return store_.feasible(number) ? QVariant()
                                       : QVariant(sign_colours(QApplication::palette()).quiet);
    case Qt::BackgroundRole:
        if (marks_.marked(number)) {
            QColor colour = QApplication::palette().color(QPalette::Highlight);
            colour.setAlphaF(0.25F);
            return colour;
        }
        return {};
    default:
        return {};
    }
}

QVariant PointsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation == Qt::Vertical)
        return role == Qt::DisplayRole ? QVariant(section + 1) : QVariant();
    if (section < 0 || section > reason_column())
        return {};
    if (section == reason_column())
        return role == Qt::DisplayRole ? tr("Why it cannot be") : QVariant();
    const Metric& column = columns_[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return column.label();
    if (role == Qt::ToolTipRole)
        return column.tip();
    return {};
}

} // namespace trainyard::gui
