#pragma once

// The figures that are always in sight, below what they are of.

#include "gui/model/workspace.h"

#include <QFrame>

class QBoxLayout;
class QLabel;
class QTimer;

namespace trainyard::gui {

class AdviceLine;
class ElidedLabel;
class HeadlineCard;

class HeadlineBar : public QFrame {
    Q_OBJECT

public:
    explicit HeadlineBar(Workspace& workspace, QWidget* parent = nullptr);

    AdviceLine& advice() { return *advice_; }

signals:
    // Where more is told of a figure; without a view: what devices cost.
    void view_wanted(const QString& view, const QString& part);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void make_title(QBoxLayout& column);
    void follow();
    void show_now();
    void show_title();
    void show_chips();
    void set_chips(const std::vector<StatusChip>& chips);
    void show_state();
    void write_state();
    bool is_current() const;
    QString meaning() const;
    QString verdict(const Diagnostic& error) const;
    void fit_state();

    Workspace& workspace_;
    ElidedLabel* title_;
    ElidedLabel* settings_;
    QBoxLayout* chips_;
    std::vector<StatusChip> shown_chips_;
    std::vector<HeadlineCard*> cards_;
    QLabel* state_;
    AdviceLine* advice_;
    QTimer* late_; // a run that takes long enough for its absence to be seen
};

} // namespace trainyard::gui
