#pragma once

// A new job: a model, a cluster that is described in a form, and a first scenario made of them
// (`first_scenario`) in the background, with the reasons for what was chosen.

#include "gui/model/background_task.h"
#include "sim/api/first_scenario.h"

#include <QDialog>

class QGroupBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace trainyard::gui {

class ClusterEditor;
class ModelList;
class ProgressStrip;

// A scenario that no file has yet.
struct FirstJob {
    Json scenario;
    std::vector<std::string> reasons;
};

class NewJobPage : public QDialog {
    Q_OBJECT

public:
    explicit NewJobPage(QWidget* parent = nullptr);

    ModelList& model() { return *model_; }
    ClusterEditor& cluster() { return *cluster_; }
    bool busy() const;
    // Why the last could not be made; empty: nothing was refused.
    const Problems& refused() const { return refused_; }

public slots:
    void reject() override; // ends what runs, else closes

signals:
    void created(const trainyard::gui::FirstJob& job);

private:
    struct Answer {
        std::optional<FirstJob> job;
        Problems refused;
        std::optional<SmallestCluster> smallest;
    };
    static Answer ask(const FirstQuestion& question, const WorkControl& work);

    QWidget* make_training();
    QWidget* make_outcome();
    QWidget* make_buttons();
    // The numbers typed; nothing where one is none.
    std::optional<FirstQuestion> question() const;
    void follow();
    void forget_outcome();
    void create();
    void take(const Answer& answer);
    void say(const QString& text, bool wrong);

    ModelList* model_;
    ClusterEditor* cluster_;
    QLineEdit* length_;
    QLineEdit* batch_;
    QLabel* numbers_; // what is wrong with them
    QLabel* outcome_;
    QPushButton* take_smallest_;
    ProgressStrip* progress_;
    QPushButton* create_;
    Problems refused_;
    std::optional<SmallestCluster> smallest_;
    BackgroundTask creating_;
};

} // namespace trainyard::gui
