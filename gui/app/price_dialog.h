#pragma once

// What a device costs in an hour, and how many tokens the whole training has: asked without
// blocking the window.

#include <QDialog>

class QDoubleSpinBox;
class QLabel;
class QLineEdit;

namespace trainyard::gui {

class Workspace;

class PriceDialog : public QDialog {
    Q_OBJECT

public:
    explicit PriceDialog(Workspace& workspace, QWidget* parent = nullptr);

    void accept() override;

private:
    // Of what is typed; nothing where it is no count, which is said.
    std::optional<double> tokens() const;

    Workspace& workspace_;
    QDoubleSpinBox* price_;
    QLineEdit* currency_;
    QLineEdit* tokens_;
    QLabel* wrong_;
};

} // namespace trainyard::gui
