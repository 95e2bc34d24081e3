#include "gui/calibration/ask_machine.h"

#include "sim/base/units.h"
#include "sim/cost/profile_library.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>

namespace trainyard::gui {

namespace {

QString calibration_text(const char* text)
{
    return QCoreApplication::translate("calibration", text);
}

void add_names(QComboBox& box, const std::vector<std::string>& names)
{
    for (const std::string& one : names)
        box.addItem(QString::fromStdString(one));
}

class MachineDialog : public QDialog {
public:
    MachineDialog(QWidget* parent, const MachineQuestion& question)
        : QDialog(parent),
          question_(question),
          form_(new QFormLayout(this)),
          answers_(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel))
    {
        setWindowTitle(calibration_text("The measured machine"));
        if (question.device)
            ask_for_device();
        if (question.network)
            ask_for_network();
        form_->addRow(answers_);
        connect(answers_, &QDialogButtonBox::accepted, this, &QDialog::accept);
        connect(answers_, &QDialogButtonBox::rejected, this, &QDialog::reject);
        follow();
    }

    FitRequest request() const
    {
        FitRequest out;
        if (question_.device)
            out.device = device_->currentText().toStdString();
        if (!question_.network)
            return out;
        if (network_->currentIndex() > 0)
            out.network = network_->currentText().toStdString();
        out.nics_per_node = nics_->value();
        if (const auto rate = parse_bandwidth(rate_->text().trimmed().toStdString()))
            out.nic_rate = *rate;
        return out;
    }

private:
    void ask_for_device()
    {
        device_ = new QComboBox;
        device_->setObjectName(QStringLiteral("device"));
        add_names(*device_, known_devices());
        device_->setPlaceholderText(calibration_text("choose the device"));
        device_->setCurrentIndex(-1);
        device_->setAccessibleName(calibration_text("Device"));
        form_->addRow(
            new QLabel(calibration_text("The files do not say which GPU they were measured on.")));
        form_->addRow(calibration_text("Device"), device_);
        connect(device_, &QComboBox::currentIndexChanged, this, [this] { follow(); });
    }

    void ask_for_network()
    {
        network_ = new QComboBox;
        network_->addItem(calibration_text("the usual one"));
        add_names(*network_, known_networks());
        network_->setAccessibleName(calibration_text("Network between nodes"));
        nics_ = new QSpinBox;
        nics_->setRange(0, 1024);
        nics_->setSpecialValueText(calibration_text("any number"));
        nics_->setAccessibleName(calibration_text("NICs of a node"));
        rate_ = new QLineEdit;
        rate_->setPlaceholderText(calibration_text("any rate, or as 400 Gb/s"));
        rate_->setAccessibleName(calibration_text("Line rate of a NIC"));
        form_->addRow(new QLabel(calibration_text(
            "Several nodes were measured; the files do not say what joins them. What is said\n"
            "restricts the curves to clusters like it.")));
        form_->addRow(calibration_text("Network"), network_);
        form_->addRow(calibration_text("NICs of a node"), nics_);
        form_->addRow(calibration_text("Line rate of one"), rate_);
        connect(rate_, &QLineEdit::textChanged, this, [this] { follow(); });
    }

    void follow()
    {
        const bool device = !question_.device || device_->currentIndex() >= 0;
        const bool rate = !question_.network || rate_->text().trimmed().isEmpty() ||
                          parse_bandwidth(rate_->text().trimmed().toStdString()).has_value();
        answers_->button(QDialogButtonBox::Ok)->setEnabled(device && rate);
    }

    MachineQuestion question_;
    QFormLayout* form_;
    QDialogButtonBox* answers_;
    QComboBox* device_ = nullptr; // where asked
    QComboBox* network_ = nullptr;
    QSpinBox* nics_ = nullptr;
    QLineEdit* rate_ = nullptr;
};

} // namespace

std::optional<FitRequest> ask_machine(QWidget* parent, const MachineQuestion& question)
{
    MachineDialog dialog(parent, question);
    if (dialog.exec() != QDialog::Accepted)
        return std::nullopt;
    return dialog.request();
}

} // namespace trainyard::gui
