#pragma once

// The planner's question as a form: what is wrong with a text stands below it.

#include "gui/plan/plan_question.h"

#include <QWidget>
#include <map>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QToolButton;
class QVBoxLayout;

namespace trainyard::gui {

class PlanForm : public QWidget {
    Q_OBJECT

public:
    explicit PlanForm(QWidget* parent = nullptr);

    PlanQuestion question() const;
    void set_question(const PlanQuestion& question);
    // What the window says of the open scenario: it stands in texts that nobody changed, which say
    // that it does.
    void set_defaults(const PlanDefaults& defaults);
    // What lists offer beside what is typed.
    void set_choices(PlanChoices choices);
    // Each below its field; those of no field below all.
    void show_problems(const Problems& problems);

signals:
    void changed();
    void asked(); // Return in a text

protected:
    void changeEvent(QEvent* event) override;

private:
    // A text with its name above and what is wrong with it below.
    struct Field {
        QWidget* box;
        QLabel* name;
        QWidget* edit;
        QLabel* note;
        QLabel* problem;
    };
    struct ClusterRow {
        QWidget* box;
        QComboBox* cluster;
        QLineEdit* price;
        QLabel* note; // of the price
        QLabel* problem;
        QLabel* price_problem;
    };

    void make_kind();
    Field add_field(const QString& name, QWidget* edit, const QString& help);
    QLineEdit* add_text(const std::string& pointer, const QString& name, const QString& example,
                        const QString& help);
    QWidget* make_clusters();
    void add_cluster(const AskedCluster& asked);
    void remove_cluster(const QWidget* row);
    void follow_kind();
    void edited();
    void tell_defaults();
    static bool is_own(const ClusterRow& row);
    QLabel* problem_label();
    void say(QLabel* place, const QString& text, bool lacking);
    QLabel* place_of(const std::string& pointer);
    bool is_empty(const std::string& pointer) const;

    PlanKind kind() const;
    QVBoxLayout* column_;
    QComboBox* kind_;
    QComboBox* model_;
    QDoubleSpinBox* headroom_;
    QCheckBox* front_;
    std::map<std::string, QLineEdit*> texts_; // by pointer
    std::map<std::string, Field> fields_;     // likewise
    QWidget* clusters_box_ = nullptr;
    QVBoxLayout* rows_ = nullptr;
    QToolButton* add_ = nullptr;
    QLabel* clusters_problem_ = nullptr;
    std::vector<ClusterRow> clusters_;
    QLabel* other_problems_ = nullptr;
    PlanChoices choices_;
    PlanDefaults defaults_;
    bool setting_ = false;
};

} // namespace trainyard::gui
