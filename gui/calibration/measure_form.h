#pragma once

// What to measure on this machine, with its start and stop, and the same as a line for a cluster.

#include "gui/calibration/measure_plan.h"
#include "gui/calibration/measure_run.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace trainyard::gui {

class MeasureForm : public QWidget {
    Q_OBJECT

public:
    explicit MeasureForm(QWidget* parent = nullptr);

    // The program that measures; until it is said, the one beside this program.
    void set_program(const QString& program);
    // Asks the program which back ends can measure here, in the background.
    void ask_program();

    MeasurePlan plan() const;
    bool running() const { return run_.running(); }
    void stop() { run_.stop(); }
    // What there is to say of the plan: why it cannot be started, else what comes of it.
    QString note() const;

signals:
    void begun();
    void grew(const QString& samples);
    // `profile`: that was written; empty: none.
    void ended(const QString& samples, const QString& profile);
    void failed(const QString& complaint);

private:
    void make_what(QFormLayout& form);
    void make_how(QFormLayout& form);
    void make_cluster(QFormLayout& form);
    void take_backends(const QByteArray& said);
    void choose_name();
    void toggle();
    void finish(bool stopped, const QString& complaint);
    void follow();
    QString refusal() const;

    QString program_;
    QProcess asks_;
    MeasureRun run_;
    MeasurePlan started_;
    QString here_; // what can be measured on this machine
    bool usable_ = false;
    QCheckBox* collectives_;
    QCheckBox* pairs_;
    QCheckBox* kernels_;
    QComboBox* backend_;
    QSpinBox* ranks_;
    QLineEdit* min_size_;
    QLineEdit* max_size_;
    QCheckBox* quick_;
    QSpinBox* timeout_;
    QLineEdit* name_;
    QPushButton* start_;
    QLabel* note_;
    QPlainTextEdit* said_;
    QComboBox* cluster_backend_;
    QSpinBox* nodes_;
    QSpinBox* per_node_;
    QLineEdit* line_;
};

} // namespace trainyard::gui
