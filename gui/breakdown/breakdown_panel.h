#pragma once

// Screen "breakdown": four charts beside each other, or one of them as large as the view.

#include "gui/breakdown/chart_panel.h"
#include "gui/model/workspace.h"

class QGridLayout;
class QTabBar;

namespace trainyard::gui {

class BreakdownPanel : public Panel {
    Q_OBJECT

public:
    explicit BreakdownPanel(Workspace& workspace, QWidget* parent = nullptr);

    QString key() const override { return QStringLiteral("breakdown"); }
    QString title() const override { return tr("Breakdown"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override;
    std::vector<Panel*> parts() override;
    void show_part(const QString& key) override;
    std::vector<KeyHelp> key_help() const override;
    bool busy() const override;
    void prepare_picture() override;
    void cancel() override;
    bool wants_ops() const override { return true; } // memory over time goes by them

    const std::vector<ChartPanel*>& charts() const { return charts_; }
    // None: all four. Where there is no room for them, the first until another is wanted.
    std::optional<std::size_t> enlarged() const;
    void enlarge(std::optional<std::size_t> chart);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    bool room_for_all() const;
    void arrange();

    QTabBar* tabs_;
    QGridLayout* grid_;
    std::vector<ChartPanel*> charts_;
    std::optional<std::size_t> enlarged_; // as was wanted
};

} // namespace trainyard::gui
