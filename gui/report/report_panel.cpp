#include "gui/report/report_panel.h"

#include "gui/model/qt_text.h"
#include "gui/widgets/boxes.h"
#include "sim/report/step_figures.h"

#include <QFontDatabase>
#include <QFontMetrics>
#include <QPainter>
#include <QPlainTextEdit>
#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr int usual_width = 100; // characters

QString report_of(const Simulation& simulation, int width)
{
    return text_of(report_text(simulation, static_cast<std::size_t>(std::max(width, 0))));
}

// Empty: not known.
QString cell_of(const Json& value)
{
    if (value.is_null())
        return {};
    if (value.is_string())
        return text_of(value.as_string());
    return value.is_bool() ? text_of(to_text(value)) : QString::number(value.as_double(), 'g', 15);
}

} // namespace

ReportPanel::ReportPanel(Workspace& workspace, QWidget* parent)
    : Panel(parent), workspace_(workspace), view_(new QPlainTextEdit)
{
    view_->setReadOnly(true);
    view_->setLineWrapMode(QPlainTextEdit::NoWrap);
    view_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn); // as many letters in a line
    view_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    view_->setAccessibleName(title());
    view_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    in_a_column(this, {view_});
    setFocusProxy(view_);
    connect(&workspace_, &Workspace::runChanged, this, &ReportPanel::follow);
    connect(this, &Panel::sightChanged, this, &ReportPanel::follow);
    connect(&task_, &BackgroundTask::busyChanged, this, &Panel::busyChanged);
    connect(&task_, &BackgroundTask::failed, this, [this](const QString& why) {
        message_ = why;
        show_text();
    });
    follow();
}

void ReportPanel::follow()
{
    const std::shared_ptr<const RunView>& run = workspace_.run();
    // One run is told twice where its ops are recorded too.
    const bool same = asked_ != nullptr && run != nullptr && asked_->file == run->file;
    if (run != nullptr && same && workspace_.current())
        return;
    task_.cancel();
    made_.reset();
    asked_.reset();
    message_ = tr("The report of a step is shown here as soon as a scenario is open and has been "
                  "simulated.");
    if (run != nullptr && workspace_.current() && in_sight()) {
        asked_ = run;
        message_ = tr("Simulating what the report rests on ...");
        task_.start([this, run](const WorkControl& work) -> BackgroundTask::Answer {
            step_back();
            SimulationRequest request;
            request.work = work;
            auto answer = simulate_scenario(*run->file, request, session_);
            if (!answer)
                throw WorldError{trainyard::render(answer.error(), "")};
            auto* const step = std::get_if<Simulation>(&*answer);
            auto made =
                step != nullptr ? std::make_shared<const Simulation>(std::move(*step)) : nullptr;
            return [this, made = std::move(made)] {
                made_ = made;
                message_ = tr("No step of this job comes to its end.");
                show_text();
            };
        });
    }
    show_text();
}

void ReportPanel::cancel()
{
    if (!task_.cancel())
        return;
    message_ = tr("Cancelled. F5 simulates again.");
    show_text();
}

QString ReportPanel::text() const
{
    return made_ != nullptr ? view_->toPlainText() : QString();
}

void ReportPanel::show_text()
{
    const double inside = view_->viewport()->width() - 2 * view_->document()->documentMargin();
    const double letter = QFontMetricsF(view_->font()).horizontalAdvance('0');
    const QString text =
        made_ != nullptr ? report_of(*made_, static_cast<int>(inside / letter)) : message_;
    if (text != view_->toPlainText())
        view_->setPlainText(text);
}

void ReportPanel::resizeEvent(QResizeEvent* event)
{
    Panel::resizeEvent(event);
    show_text();
}

void ReportPanel::paint_to(QPainter& painter, const QSize& size)
{
    if (made_ == nullptr) {
        paint_message(painter, size, message_, palette());
        return;
    }
    constexpr int margin = 12;
    const QString text = report_of(*made_, usual_width);
    const QRect all(QPoint(), size);
    painter.fillRect(all, palette().base());
    painter.setPen(palette().color(QPalette::Text));
    painter.setFont(view_->font());
    QRect body(QPoint(margin, margin), painter.fontMetrics().size(Qt::TextExpandTabs, text));
    const double scale = std::min({1.0, (size.width() - margin) / (body.right() + 1.0),
                                   (size.height() - margin) / (body.bottom() + 1.0)});
    painter.scale(scale, scale);
    painter.drawText(body, Qt::AlignTop | Qt::AlignLeft, text);
}

TableData ReportPanel::table() const
{
    TableData out{{tr("Figure"), tr("Value")}, {}};
    if (made_ == nullptr)
        return out;
    for (const Figure* const figure : figures_in(in_csv))
        out.rows.push_back({text_of(figure->key), cell_of(figure->value(made_->summary))});
    return out;
}

} // namespace trainyard::gui
