#pragma once

// What is wrong, in the command line's words; a click leads to the field.

#include "sim/base/diagnostic.h"

#include <QListWidget>
#include <functional>
#include <vector>

namespace trainyard::gui {

class ProblemsView : public QListWidget {
    Q_OBJECT

public:
    explicit ProblemsView(QWidget* parent = nullptr);

    // What stands now where a problem is, in place of the line of a file, which may be older;
    // empty: that line.
    using Quote = std::function<QString(const Diagnostic&)>;

    // Of the scenario: replaces those shown before.
    void set_problems(const Problems& problems, const Quote& quote = {});
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
    std::vector<QString> quotes_; // of the first of `scenario_`
};

} // namespace trainyard::gui
