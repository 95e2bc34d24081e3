#pragma once

// The scenario as its JSON: what is wrong is marked in its line, what is typed counts once it is
// applied.

#include "gui/model/workspace.h"

#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace trainyard::gui {

// The line of what a problem points to ("/strategy/tp"), or of the nearest around it that is there;
// 0: none is known.
int line_at(const Json& json, const std::string& pointer);

class JsonView : public QWidget {
    Q_OBJECT

public:
    explicit JsonView(Workspace& workspace, QWidget* parent = nullptr);

    QPlainTextEdit& editor() { return *editor_; }
    // Brings the line of what a problem points to into sight.
    void go_to(const std::string& pointer);
    // One step of undo. What is no JSON object is said, and stays to be mended.
    void apply();
    // Back to the scenario as it is.
    void revert();
    // What is typed and not applied yet would be lost with the scenario.
    bool typed() const;

protected:
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void follow_document();
    void follow_text();
    void mark_problems();
    void say(const QString& text, bool wrong);
    void go_to_line(int line);

    Workspace& workspace_;
    QPlainTextEdit* editor_;
    QLabel* said_;
    QPushButton* apply_;
    QPushButton* revert_;
    Json shown_; // with lines, of the text as it was loaded
};

} // namespace trainyard::gui
