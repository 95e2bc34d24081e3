#pragma once

// Screen "report": what `trainyard simulate` prints of the scenario, who sets the pace and how it
// scales included, which is simulated for it alone.

#include "gui/model/background_task.h"
#include "gui/model/workspace.h"
#include "gui/widgets/panel.h"
#include "sim/api/simulation.h"
#include "sim/study/session.h"

#include <memory>

class QPlainTextEdit;

namespace trainyard::gui {

class ReportPanel : public Panel {
    Q_OBJECT

public:
    explicit ReportPanel(Workspace& workspace, QWidget* parent = nullptr);

    QString key() const override { return QStringLiteral("report"); }
    QString title() const override { return tr("Report"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    // The figures of `--csv`, a row each.
    TableData table() const override;
    bool busy() const override { return task_.busy(); }
    void cancel() override;

    // Of the scenario as it is; empty while it is made.
    QString text() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void follow();
    void show_text();

    Workspace& workspace_;
    QPlainTextEdit* view_;
    std::shared_ptr<const RunView> asked_; // whose report is shown, or made
    std::shared_ptr<const Simulation> made_;
    QString message_; // in place of a report
    Session session_;
    BackgroundTask task_; // uses the session
};

} // namespace trainyard::gui
