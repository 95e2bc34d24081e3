#pragma once

// Where one begins: the tasks, examples as pictures, recent files, and a place for files.

#include "gui/model/background_task.h"

#include <QImage>
#include <QWidget>
#include <vector>

class QCommandLinkButton;
class QLineEdit;
class QListWidget;

namespace trainyard::gui {

// Each simulates in well under a second.
struct Example {
    QString file;
    QString title;
    QString says;
};
std::vector<Example> examples();

class StartPage : public QWidget {
    Q_OBJECT

public:
    explicit StartPage(QWidget* parent = nullptr);

    // The latest first; those that are gone are left out.
    void set_recent(const QStringList& files);
    // The pictures of the examples are being drawn.
    bool drawing() const { return drawing_.busy(); }

signals:
    void chosen(const QString& file);
    void model_chosen(const QString& model); // of a new job
    void browse();
    void plan_wanted();
    void new_wanted();
    void calibration_wanted();

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* make_tasks();
    QWidget* make_examples();
    QWidget* make_recent();
    QWidget* make_zone();
    void take_name();
    void draw_examples();

    QListWidget* recent_;
    QLineEdit* name_;
    std::vector<QCommandLinkButton*> examples_;
    BackgroundTask drawing_;
};

} // namespace trainyard::gui
