#include "gui/calibration/ask_device.h"

#include "sim/cost/profile_library.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace trainyard::gui {

namespace {

QString calibration_text(const char* text)
{
    return QCoreApplication::translate("calibration", text);
}

} // namespace

QString ask_device(QWidget* parent)
{
    QDialog dialog(parent);
    dialog.setWindowTitle(calibration_text("Device"));
    auto* const devices = new QComboBox;
    for (const std::string& one : known_devices())
        devices->addItem(QString::fromStdString(one));
    devices->setPlaceholderText(calibration_text("choose the device"));
    devices->setCurrentIndex(-1);
    auto* const question =
        new QLabel(calibration_text("The files do not say which GPU they were measured on:"));
    question->setBuddy(devices);
    devices->setAccessibleName(question->text());
    auto* const answers = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    QPushButton* const ok = answers->button(QDialogButtonBox::Ok);
    ok->setEnabled(false);
    QObject::connect(devices, &QComboBox::currentIndexChanged, ok,
                     [ok](int index) { ok->setEnabled(index >= 0); });
    QObject::connect(answers, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
    QObject::connect(answers, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    auto* const column = new QVBoxLayout(&dialog);
    for (QWidget* const widget : {static_cast<QWidget*>(question), static_cast<QWidget*>(devices),
                                  static_cast<QWidget*>(answers)})
        column->addWidget(widget);
    return dialog.exec() == QDialog::Accepted ? devices->currentText() : QString();
}

} // namespace trainyard::gui
