#pragma once

// Names that are typed into the next file dialog.

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>
#include <QTimer>

namespace trainyard::gui::test {

/// Once a file dialog is open, puts `name` into its line and clicks Open or Save. Several files are
/// written as the dialog takes them: "a" "b".
class TypesIntoFileDialog : public QObject {
public:
    explicit TypesIntoFileDialog(QString name) : name_(std::move(name))
    {
        connect(&looks_, &QTimer::timeout, this, &TypesIntoFileDialog::look);
        looks_.start(10);
    }

    bool answered() const { return answered_; }

private:
    void look()
    {
        auto* const dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (dialog == nullptr)
            return;
        looks_.stop();
        answered_ = true;
        auto* const line = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        line->setText(name_);
        auto* const answers = dialog->findChild<QDialogButtonBox*>();
        for (const auto button : {QDialogButtonBox::Open, QDialogButtonBox::Save})
            if (answers->button(button) != nullptr)
                QTest::mouseClick(answers->button(button), Qt::LeftButton);
    }

    QString name_;
    QTimer looks_;
    bool answered_ = false;
};

} // namespace trainyard::gui::test
