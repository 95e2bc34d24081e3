#include "gui/calibration/axis_tickers.h"

#include "gui/calibration/curve_series.h"
#include "sim/base/units.h"

#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double most_ticks = 9;

QString seconds_text(double seconds)
{
    for (const auto& [unit, name] :
         {std::pair(1.0, "s"), std::pair(1e-3, "ms"), std::pair(1e-6, "us"), std::pair(1e-9, "ns")})
        if (seconds >= 0.999 * unit)
            return QStringLiteral("%1 %2").arg(seconds / unit, 0, 'g', 4).arg(name);
    return QStringLiteral("%1 s").arg(seconds, 0, 'g', 4);
}

} // namespace

QVector<double> SizeTicker::createTickVector(double, const QCPRange& range)
{
    QVector<double> out;
    const double first = std::ceil(std::log2(std::max(1.0, range.lower)));
    const double last = std::floor(std::log2(std::max(1.0, range.upper)));
    const double step = std::max(1.0, std::ceil((last - first + 1) / most_ticks));
    for (double power = step * std::ceil(first / step); power <= last; power += step)
        out << std::exp2(power);
    return out;
}

QVector<double> SizeTicker::createSubTickVector(int, const QVector<double>&)
{
    return {};
}

QString SizeTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    return tick < 9e18 ? size_text(Bytes(static_cast<std::uint64_t>(std::llround(tick))))
                       : QString();
}

QVector<double> DecadeTicker::createTickVector(double, const QCPRange& range)
{
    QVector<double> out;
    if (!(range.lower > 0))
        return out;
    const double first = std::floor(std::log10(range.lower));
    const double last = std::ceil(std::log10(range.upper));
    const bool few = std::log10(range.upper / range.lower) < 2.5;
    for (double power = first; power <= last; ++power)
        for (const double digit : {1.0, 2.0, 5.0})
            if (few || digit == 1.0)
                out << digit * std::pow(10.0, power);
    return out;
}

QVector<double> DecadeTicker::createSubTickVector(int, const QVector<double>&)
{
    return {};
}

QString DecadeTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    return unit_ == Unit::seconds ? seconds_text(tick) : QString::number(tick, 'g', 4);
}

} // namespace trainyard::gui
