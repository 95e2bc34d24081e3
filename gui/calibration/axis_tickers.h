#pragma once

// Ticks of logarithmic axes where people expect them.

#include <qcustomplot.h>

namespace trainyard::gui {

// Bytes at powers of two, as far apart as there is room: "64 KiB".
class SizeTicker : public QCPAxisTicker {
protected:
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    QVector<double> createSubTickVector(int count, const QVector<double>& ticks) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar form, int precision) override;
};

// Powers of ten; 1, 2 and 5 of each where few are in sight.
class DecadeTicker : public QCPAxisTicker {
public:
    enum class Unit : std::uint8_t { seconds, plain };
    explicit DecadeTicker(Unit unit) : unit_(unit) {}

protected:
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    QVector<double> createSubTickVector(int count, const QVector<double>& ticks) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar form, int precision) override;

private:
    Unit unit_;
};

} // namespace trainyard::gui
