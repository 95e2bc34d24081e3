#include "gui/explore/row_filter.h"

#include "gui/explore/ranges.h"

#include <QRegularExpression>
#include <algorithm>

namespace trainyard::gui {

RowFilter::RowFilter(const QString& text, const std::vector<Metric>& metrics)
{
    static const QRegularExpression form(QStringLiteral("^([^<>=!]+)(<=|>=|!=|<|>|=)(.+)$"));
    static const std::vector<std::pair<QString, Sign>> signs{
        {"<", Sign::less},      {"<=", Sign::at_most}, {">", Sign::more},
        {">=", Sign::at_least}, {"=", Sign::equal},    {"!=", Sign::not_equal}};
    for (const QString& part : text.split(' ', Qt::SkipEmptyParts)) {
        const QRegularExpressionMatch match = form.match(part);
        if (!match.hasMatch()) {
            words_.push_back({part, {}, {}});
            continue;
        }
        const QString name = match.captured(1);
        const auto metric = std::ranges::find_if(metrics, [&](const Metric& one) {
            return one.name.compare(name, Qt::CaseInsensitive) == 0 ||
                   one.key.compare(name, Qt::CaseInsensitive) == 0;
        });
        if (metric == metrics.end()) {
            QStringList names;
            for (const Metric& one : metrics)
                names << one.name;
            problem_ = QStringLiteral("%1? (%2)").arg(name, names.join(QStringLiteral(", ")));
            continue;
        }
        Comparison made{*metric, Sign::equal, 0, {}, match.captured(3)};
        for (const auto& [letters, sign] : signs)
            if (letters == match.captured(2))
                made.sign = sign;
        bool number = false;
        made.number = made.text.toDouble(&number);
        if (!number && !metric->axis) {
            problem_ = QStringLiteral("%1?").arg(part);
            continue;
        }
        comparisons_.push_back(std::move(made));
    }
}

bool RowFilter::holds(double value, Sign sign, double number)
{
    switch (sign) {
    case Sign::less:
        return value < number;
    case Sign::at_most:
        return value <= number;
    case Sign::more:
        return value > number;
    case Sign::at_least:
        return value >= number;
    case Sign::equal:
        return value == number;
    case Sign::not_equal:
        break;
    }
    return value != number;
}

void RowFilter::prepare(const PointStore& store)
{
    const auto& axes = store.grid().axes;
    const auto passes = [](const QString& value, const Comparison& comparison) {
        bool number = false;
        const double amount = value.toDouble(&number);
        if (number)
            return holds(amount, comparison.sign, comparison.number);
        const bool same = value.compare(comparison.text, Qt::CaseInsensitive) == 0;
        return comparison.sign == Sign::not_equal ? !same : comparison.sign == Sign::equal && same;
    };
    for (Comparison& comparison : comparisons_)
        if (comparison.metric.axis) {
            comparison.values.clear();
            for (const std::string& value : axes[*comparison.metric.axis].values)
                comparison.values.push_back(passes(value_text(value), comparison) ? 1 : 0);
        }
    for (Word& word : words_) {
        const auto contains = [&](const std::string& text) -> char {
            return value_text(text).contains(word.text, Qt::CaseInsensitive) ? 1 : 0;
        };
        word.values.assign(axes.size(), {});
        for (std::size_t axis = 0; axis < axes.size(); ++axis)
            for (const std::string& value : axes[axis].values)
                word.values[axis].push_back(contains(value));
        word.kinds.clear();
        for (const ReasonKind& kind : store.kinds())
            word.kinds.push_back(contains(kind.example));
    }
}

bool RowFilter::accepts(const PointStore& store, std::uint32_t point) const
{
    for (const Comparison& one : comparisons_) {
        const bool passes = one.metric.axis
                                ? one.values[store.value(point, *one.metric.axis)] != 0
                                : holds(value_of(store, point, one.metric), one.sign, one.number);
        if (!passes)
            return false;
    }
    return std::ranges::all_of(words_, [&](const Word& word) {
        if (word.kinds[store.kind(point)] != 0)
            return true;
        for (std::size_t axis = 0; axis < word.values.size(); ++axis)
            if (word.values[axis][store.value(point, axis)] != 0)
                return true;
        return false;
    });
}

} // namespace trainyard::gui
