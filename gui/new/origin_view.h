#pragma once

// Where the open scenario came from: what was understood, assumed and ignored of a job's files, or
// why a first scenario is as it is. What the files do not say is given here, and the job imported
// again.

#include "gui/model/background_task.h"
#include "gui/model/open_file.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QTreeWidget;

namespace trainyard::gui {

class OriginView : public QWidget {
    Q_OBJECT

public:
    explicit OriginView(QWidget* parent = nullptr);

    void show_job(const OpenedJob& job);
    void show_reasons(const std::vector<std::string>& reasons);
    void show_nothing(); // a scenario of a file of its own
    void show_unknown(); // ... of a session

    QTreeWidget& lists() { return *lists_; }
    QSize sizeHint() const override;

signals:
    void chosen(const std::string& pointer); // of the scenario, RFC 6901
    void againWanted(const trainyard::gui::ImportQuestion& job);

private:
    struct Line {
        QString text;
        QString pointer; // of the field that it tells of; empty: none
    };
    using Places = std::map<std::string, std::string>;

    static std::vector<Line> lines_of(const std::vector<std::string>& notes, const Places& places);
    QWidget* make_answers();
    QLineEdit* add_answer(const QString& name, const QString& placeholder, const QString& tip);
    void say(const QString& title);
    void add_list(const QString& title, const std::vector<Line>& lines);
    void import_again();
    void fill_devices();

    QLabel* title_;
    QWidget* answers_;
    QScrollArea* scrolled_; // the answers
    QComboBox* gpu_ = nullptr;
    QLineEdit* nodes_ = nullptr;
    QLineEdit* model_ = nullptr;
    QLineEdit* variables_ = nullptr;
    QLabel* wrong_ = nullptr; // with an answer
    QTreeWidget* lists_;
    ImportQuestion request_;
    BackgroundTask naming_; // the devices there are
};

} // namespace trainyard::gui
