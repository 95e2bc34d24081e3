#pragma once

// What is wrong, in the command line's words; a click leads to the field.

#include "sim/base/diagnostic.h"

#include <QListWidget>

namespace trainyard::gui {

class ProblemsView : public QListWidget {
    Q_OBJECT

public:
    explicit ProblemsView(QWidget* parent = nullptr);

    // Of the scenario: replaces those shown before.
    void set_problems(const Problems& problems);
    // Of something that was tried (a file that cannot be read): on top, until the next.
    void add(const Problems& problems);

    int count_of(Severity severity) const;
    QSize sizeHint() const override; // a few lines

signals:
    void chosen(const std::string& pointer); // RFC 6901
    void counted();                          // there are other problems, or none

protected:
    void changeEvent(QEvent* event) override;

private:
    void show_all();

    Problems tried_;
    Problems scenario_;
};

} // namespace trainyard::gui
