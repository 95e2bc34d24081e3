#pragma once

// What is picked out of the points, in the scatter and the table alike: many marked by a brush or
// by rows, one current.

#include <QObject>
#include <cstdint>
#include <optional>
#include <vector>

namespace trainyard::gui {

class Marks : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;

    // In any order.
    const std::vector<std::uint32_t>& points() const { return points_; }
    bool marked(std::uint32_t point) const { return point < flags_.size() && flags_[point]; }
    void mark(std::vector<std::uint32_t> points);

    std::optional<std::uint32_t> current() const { return current_; }
    void set_current(std::optional<std::uint32_t> point);
    bool any() const { return !points_.empty() || current_; }
    void clear();

signals:
    void changed();
    void currentChanged();

private:
    std::vector<std::uint32_t> points_;
    std::vector<bool> flags_;
    std::optional<std::uint32_t> current_;
};

} // namespace trainyard::gui
