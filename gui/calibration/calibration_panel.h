#pragma once

// Screen "calibration": measured points beside fitted curves, and pairs with their slow links.

#include "gui/calibration/calibration.h"
#include "gui/calibration/curve_list.h"
#include "gui/calibration/curve_panel.h"
#include "gui/calibration/matrix_panel.h"
#include "gui/calibration/measure_form.h"
#include "gui/model/workspace.h"
#include "gui/widgets/table_part.h"

class QAction;
class QLabel;
class QScrollArea;
class QStackedWidget;
class QToolBar;
class QTreeView;

namespace trainyard::gui {

class ProgressStrip;

class CalibrationPanel : public Panel {
    Q_OBJECT

public:
    explicit CalibrationPanel(Workspace& workspace, QWidget* parent = nullptr);

    QString key() const override { return QStringLiteral("calibration"); }
    QString title() const override { return tr("Calibration"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override;
    // Curve and matrix, the one in front first.
    std::vector<Panel*> parts() override;
    std::vector<KeyHelp> key_help() const override;
    bool busy() const override { return calibration_.busy() || use_task_.busy(); }
    void cancel() override;

    Calibration& calibration() { return calibration_; }
    CurvePanel& curve() { return *curve_; }
    MatrixPanel& matrix() { return *matrix_; }
    QTreeView& list() { return *list_; }
    MeasureForm& form() { return *form_; }

    // The profile that was saved last becomes the scenario's; one of another device is refused.
    void use_in_scenario();

signals:
    void opened(); // a measured file: time to show this view
    void told(const trainyard::Problems& problems);

private:
    void make_tools();
    QAction* add_tool(const QString& text, const QString& tip);
    void make_body();
    void show_form(bool shown);
    void take_measured(const QString& samples, const QString& profile);
    void follow_run();
    void follow_fits();
    void follow_choice();
    void follow_stack();
    CurvePanel::Curves curves_beside() const;
    void choose_alike();
    void follow_busy();
    void follow_tools();
    void ask_save();
    void say(const QString& text);

    Workspace& workspace_;
    Calibration calibration_;
    CurveList* model_;
    QToolBar* tools_;
    QAction* time_ = nullptr;
    QAction* bandwidth_ = nullptr;
    QAction* toggle_ = nullptr;
    QAction* all_back_ = nullptr;
    QAction* alike_ = nullptr;
    QAction* save_ = nullptr;
    QAction* use_ = nullptr;
    QAction* log_shown_ = nullptr;
    QAction* measure_ = nullptr;
    QAction* close_ = nullptr;
    QTreeView* list_;
    QStackedWidget* stack_;
    CurvePanel* curve_;
    MatrixPanel* matrix_;
    TablePart* log_;
    MeasureForm* form_;
    QScrollArea* form_area_ = nullptr;
    QLabel* said_;
    ProgressStrip* progress_;
    CurveChoice chosen_;
    std::shared_ptr<const Fitted> shown_;
    QString saved_; // the latest profile
    BackgroundTask use_task_;
};

} // namespace trainyard::gui
