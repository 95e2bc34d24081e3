#pragma once

// A fitted curve as a chart draws it: numbers in the units of its axes, and texts. No widgets.

#include "calibrate/fit/curve_study.h"
#include "gui/widgets/panel.h"

namespace trainyard::gui {

enum class CurveAxis : std::uint8_t { time, bus_bandwidth };

// Of a chart's vertical axis: seconds, or GB/s as nccl-tests counts them.
double value_of(const Configuration& what, Bytes size, Seconds time, CurveAxis quantity);

struct CurvePoint {
    Bytes size;
    double value = 0;
    double low = 0; // of its interval
    double high = 0;
    bool excluded = false;
    std::optional<double> residual; // fitted without it / measured - 1, in percent
    QString facts;                  // everything about it, a line each
};

struct CurveSeries {
    QString title;
    QString value_label; // of the axis
    std::vector<CurvePoint> points;
    std::vector<CurvePoint> replaced; // by the fit itself: not what it counts
    std::vector<double> sizes;        // bytes, close enough for smooth lines
    std::vector<double> fitted;
    std::vector<double> low; // where nine of ten measurements would lie; empty: nobody says
    std::vector<double> high;
    std::vector<double> line_rate;  // what the links carry at most; empty: nobody says
    QString line_rate_name;         // "line rate 450 GB/s"
    std::vector<double> compact;    // empty: the table has no compact form
    std::vector<Bytes> switches;    // where the compact form's lowest line changes
    std::vector<QString> switch_of; // of each switch: "20.1 us + S / 90 GB/s | 31 us + ..."
    double smallest = 1;            // bytes in sight
    double largest = 1;
    double least = 0; // value in sight
    double most = 1;
    double residual_range = 10; // percent, both ways
    QString note;               // where there are no points: why
};

// `line_rate`: of a rank's links; 0: not known.
CurveSeries series_of(const CurveStudy& study, CurveAxis quantity, Bandwidth line_rate = {});

// Every size with its times, interval, prediction and error.
TableData table_of(const CurveStudy& study);

// Errors, lines of the compact form, source and doubts: a line each.
QStringList facts_of(const CurveStudy& study);

QString size_text(Bytes size);

} // namespace trainyard::gui
