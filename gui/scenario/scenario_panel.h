#pragma once

// The scenario as sliders and as a form of all its fields.

#include "gui/model/workspace.h"
#include "gui/widgets/panel.h"

#include <map>

class QLabel;
class QTabBar;
class QLineEdit;
class QToolButton;
class QTreeView;

namespace trainyard::gui {

class ElidedLabel;
class FormModel;
class FormFilter;
class JsonView;
class Stepper;

class ScenarioPanel : public Panel {
    Q_OBJECT

public:
    explicit ScenarioPanel(Workspace& workspace, QWidget* parent = nullptr);

    QString key() const override { return QStringLiteral("scenario"); }
    QString title() const override { return tr("Scenario"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override;

    // Shows the field that a problem points to ("/strategy/tp") and begins to edit it.
    void go_to(const std::string& pointer);
    // Whether the hand is on a slider.
    bool dragging() const;
    // Whether JSON is typed that is not applied yet.
    bool typed() const;

signals:
    void let_go();

protected:
    void changeEvent(QEvent* event) override;

private:
    QWidget* make_steppers();
    QWidget* make_tree();
    QWidget* make_fields();
    QWidget* make_buttons();
    void follow();
    void follow_document();
    void look_ahead();
    void follow_problems();
    std::optional<std::size_t> stepper_to_blame(const Diagnostic& problem) const;
    void show_colours();
    void edit_current();
    void add_perturbation();
    void follow_selection();
    QModelIndex current() const; // of the form

    Workspace& workspace_;
    FormModel* form_;
    FormFilter* filtered_;
    QTabBar* tabs_; // fields, JSON
    JsonView* json_;
    QTreeView* tree_;
    QLineEdit* filter_;
    QToolButton* only_given_;
    QLabel* hint_;
    QToolButton* add_;
    QToolButton* remove_;
    QToolButton* reset_;
    std::vector<Stepper*> steppers_; // as `sliders()`
    ElidedLabel* blocked_;           // what a stepper is to blame for; its line is always there
    // The stepper whose change was the last of all.
    std::optional<std::size_t> moved_;
    // By what problems point to: the steppers whose change brought them.
    std::map<std::string, std::size_t> brought_;
    std::shared_ptr<const ScenarioFile> foreseen_of_;
    bool moving_ = false;
};

} // namespace trainyard::gui
