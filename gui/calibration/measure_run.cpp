#include "gui/calibration/measure_run.h"

#include <QFileInfo>
#include <csignal>

namespace trainyard::gui {

namespace {

constexpr int look_every_ms = 400;
constexpr int lines_kept = 12;

} // namespace

MeasureRun::MeasureRun(QObject* parent) : QObject(parent)
{
    looks_.setInterval(look_every_ms);
    connect(&looks_, &QTimer::timeout, this, &MeasureRun::look);
    connect(&process_, &QProcess::readyReadStandardOutput, this,
            [this] { hear(QProcess::StandardOutput, out_); });
    connect(&process_, &QProcess::readyReadStandardError, this,
            [this] { hear(QProcess::StandardError, errors_); });
    connect(&process_, &QProcess::finished, this, &MeasureRun::finish);
    connect(&process_, &QProcess::errorOccurred, this, &MeasureRun::fail);
}

MeasureRun::~MeasureRun()
{
    process_.disconnect(this);
    stop(); // its ranks end with it
}

void MeasureRun::start(const QString& program, const QStringList& arguments, const QString& samples)
{
    samples_ = samples;
    size_ = -1;
    stopped_ = false;
    out_.clear();
    errors_.clear();
    complaint_.clear();
    looks_.start();
    process_.setStandardInputFile(QProcess::nullDevice());
    process_.start(program, arguments);
}

void MeasureRun::stop()
{
    if (!running() || process_.processId() == 0)
        return;
    stopped_ = true;
    ::kill(static_cast<pid_t>(process_.processId()), SIGINT);
}

void MeasureRun::look()
{
    const QFileInfo file(samples_);
    if (!file.exists() || file.size() == size_)
        return;
    size_ = file.size();
    emit grew();
}

void MeasureRun::hear(QProcess::ProcessChannel channel, QByteArray& begun)
{
    process_.setReadChannel(channel);
    begun += process_.readAll();
    const qsizetype end = begun.lastIndexOf('\n') + 1;
    if (end == 0)
        return;
    const QString text = QString::fromUtf8(begun.left(end));
    begun.remove(0, end);
    if (channel == QProcess::StandardError)
        complaint_ = (complaint_ + text.split('\n', Qt::SkipEmptyParts));
    while (complaint_.size() > lines_kept)
        complaint_.removeFirst();
    emit said(text);
}

void MeasureRun::finish(int code, QProcess::ExitStatus status)
{
    looks_.stop();
    for (auto [channel, begun] :
         {std::pair(QProcess::StandardOutput, &out_), std::pair(QProcess::StandardError, &errors_)})
    {
        process_.setReadChannel(channel);
        *begun += process_.readAll();
        if (!begun->isEmpty() && !begun->endsWith('\n'))
            *begun += '\n';
        hear(channel, *begun);
    }
    const bool well = stopped_ || (status == QProcess::NormalExit && code == 0);
    if (!well && complaint_.isEmpty())
        complaint_ << tr("the program ended with code %1 and said nothing").arg(code);
    emit ended(stopped_, well ? QString() : complaint_.join('\n'));
}

// That it did not start; all else comes with its end.
void MeasureRun::fail(QProcess::ProcessError error)
{
    if (error != QProcess::FailedToStart)
        return;
    looks_.stop();
    emit ended(false, tr("cannot run %1: %2").arg(process_.program(), process_.errorString()));
}

} // namespace trainyard::gui
