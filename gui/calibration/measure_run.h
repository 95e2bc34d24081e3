#pragma once

// `trainyard-measure` at work: a process of its own, beside the window.

#include <QProcess>
#include <QStringList>
#include <QTimer>

namespace trainyard::gui {

class MeasureRun : public QObject {
    Q_OBJECT

public:
    explicit MeasureRun(QObject* parent = nullptr);
    ~MeasureRun() override; // ends what runs

    // `samples`: the file that grows while it measures. Requires that nothing runs.
    void start(const QString& program, const QStringList& arguments, const QString& samples);
    // As Ctrl-C does: what was measured stays.
    void stop();
    bool running() const { return process_.state() != QProcess::NotRunning; }
    const QString& samples() const { return samples_; }

signals:
    void said(const QString& text); // by the program, whole lines
    void grew();                    // the file of samples
    // `complaint`: what it said of errors; empty: it came to its end, or was stopped.
    void ended(bool stopped, const QString& complaint);

private:
    void look();
    void hear(QProcess::ProcessChannel channel, QByteArray& begun);
    void finish(int code, QProcess::ExitStatus status);
    void fail(QProcess::ProcessError error);

    QProcess process_;
    QTimer looks_; // at the file
    QString samples_;
    qint64 size_ = -1; // of it
    bool stopped_ = false;
    QByteArray out_; // lines begun
    QByteArray errors_;
    QStringList complaint_; // last lines of its errors
};

} // namespace trainyard::gui
