#pragma once

// Which points a table shows: by comparisons ("tp=4 memory<60") and words ("full", "does not fit").

#include "gui/explore/metrics.h"

namespace trainyard::gui {

enum class Shown : std::uint8_t { all, possible, marked, front };

class RowFilter {
public:
    RowFilter() = default;
    RowFilter(const QString& text, const std::vector<Metric>& metrics);

    // What is written cannot be understood: the part that is not; empty: all is well.
    const QString& problem() const { return problem_; }
    bool empty() const { return comparisons_.empty() && words_.empty(); }

    // For points from then on: what is known of the store now.
    void prepare(const PointStore& store);
    // Requires that it was prepared since the store's last point.
    bool accepts(const PointStore& store, std::uint32_t point) const;

private:
    enum class Sign : std::uint8_t { less, at_most, more, at_least, equal, not_equal };
    struct Comparison {
        Metric metric;
        Sign sign = Sign::equal;
        double number = 0;
        std::vector<char> values; // of a swept field: which of them pass
        QString text;
    };
    struct Word {
        QString text;
        std::vector<std::vector<char>> values; // by axis: which contain it
        std::vector<char> kinds;               // of reasons
    };
    static bool holds(double value, Sign sign, double number);

    std::vector<Comparison> comparisons_;
    std::vector<Word> words_;
    QString problem_;
};

} // namespace trainyard::gui
