#pragma once

// The points as a table: sorted, filtered, and growing while a sweep runs. Sorting and filtering go
// over columns of numbers, not over texts of cells: 100,000 rows take milliseconds.

#include "gui/explore/marks.h"
#include "gui/explore/row_filter.h"
#include "gui/widgets/panel.h"

#include <QAbstractTableModel>

namespace trainyard::gui {

class PointsModel : public QAbstractTableModel {
    Q_OBJECT

public:
    // Both outlive it.
    PointsModel(const PointStore& store, const Marks& marks, QObject* parent = nullptr);

    // The store was reset.
    void restart(std::vector<Metric> metrics);
    // Other figures are known of the same points. Sorted as before where there is such a column;
    // set the filter again, whose text may now mean more.
    void set_metrics(std::vector<Metric> metrics);
    // The store has grown: new points go where they belong.
    void follow();

    // What is in its text that cannot be understood; empty: nothing.
    QString set_filter(const QString& text);
    void set_shown(Shown shown);
    // Of those on the front, for Shown::front.
    void set_front(std::vector<std::uint32_t> points);

    // The open scenario: a point, or the store's guest, which then has a row among the others;
    // nothing: it is not told.
    void set_here(std::optional<std::uint32_t> point);

    // A cell that needs the marks was painted before they changed.
    void repaint();

    std::uint32_t point(int row) const { return rows_[static_cast<std::size_t>(row)]; }
    std::optional<int> row_of(std::uint32_t point) const;
    const std::vector<Metric>& columns() const { return columns_; }
    int sort_column() const { return sort_column_; }
    Qt::SortOrder sort_order() const { return order_; }
    // Of points; the open scenario beside them is none.
    std::size_t shown_count() const { return rows_.size() - (shows_guest() ? 1 : 0); }

    // All rows shown.
    TableData table() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

private:
    bool wanted(std::uint32_t point) const;
    bool shows_guest() const;
    bool before(std::uint32_t a, std::uint32_t b) const;
    void take_columns(std::vector<Metric> metrics);
    void sort_best_first();
    void fill_keys(std::uint32_t from);
    double key_of(std::uint32_t point) const;
    double key(std::uint32_t point) const
    {
        return point == PointStore::guest ? guest_key_ : keys_[point];
    }
    int reason_column() const { return static_cast<int>(columns_.size()); }
    QString exact_cell(std::uint32_t point, int column) const;
    QString cell(std::uint32_t point, int column) const;
    std::vector<std::uint32_t> all_wanted(std::uint32_t from);
    void refilter();
    // Replaces the rows by an order of the same ones.
    void reorder(std::vector<std::uint32_t> rows);

    const PointStore& store_;
    const Marks& marks_;
    std::vector<Metric> columns_; // then the reason
    RowFilter filter_;
    Shown shown_ = Shown::all;
    std::vector<bool> on_front_;
    int sort_column_ = 0;
    Qt::SortOrder order_ = Qt::AscendingOrder;
    std::vector<double> keys_; // by point, of the sorted column
    double guest_key_ = no_number;
    std::optional<std::uint32_t> here_;
    std::vector<std::uint32_t> rows_; // points, in the order shown
    std::uint32_t followed_ = 0;      // points of the store that were looked at
};

} // namespace trainyard::gui
