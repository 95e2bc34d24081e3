#include "gui/app/price_dialog.h"

#include "gui/model/qt_text.h"
#include "gui/model/workspace.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"
#include "sim/report/figures.h"
#include "sim/study/training/training_values.h"

#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>

namespace trainyard::gui {

namespace {

QString tokens_text(double tokens)
{
    return tokens > 0 ? typed_count(tokens) : QString();
}

} // namespace

PriceDialog::PriceDialog(Workspace& workspace, QWidget* parent)
    : QDialog(parent),
      workspace_(workspace),
      price_(new QDoubleSpinBox),
      currency_(new QLineEdit(workspace.price().currency)),
      tokens_(new QLineEdit(tokens_text(workspace.price().tokens))),
      wrong_(new QLabel)
{
    setWindowTitle(tr("Price"));
    setAttribute(Qt::WA_DeleteOnClose);
    price_->setObjectName(QStringLiteral("price"));
    price_->setRange(0, 1e6);
    price_->setDecimals(2);
    price_->setSpecialValueText(tr("not known"));
    price_->setValue(workspace.price().per_device_hour);
    currency_->setObjectName(QStringLiteral("currency"));
    tokens_->setObjectName(QStringLiteral("tokens"));
    tokens_->setPlaceholderText(tr("not known; like 2T or 500B"));
    tokens_->setMinimumWidth(fontMetrics().horizontalAdvance(tokens_->placeholderText()) + 24);
    auto* const form = new QFormLayout(this);
    form->addRow(tr("&Price of a device and hour"), price_);
    form->addRow(tr("&Currency"), currency_);
    form->addRow(tr("&Tokens of the whole training"), tokens_);
    form->addRow(wrong_);
    wrong_->hide();
    colour_text(wrong_, sign_colours(palette()).error);
    auto* const answers = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    connect(answers, &QDialogButtonBox::accepted, this, &PriceDialog::accept);
    connect(answers, &QDialogButtonBox::rejected, this, &QDialog::reject);
    form->addRow(answers);
    price_->selectAll();
}

std::optional<double> PriceDialog::tokens() const
{
    const QString text = tokens_->text().remove(' ');
    if (text.isEmpty())
        return 0;
    const Parsed<double> count = parse_count(text.toStdString());
    if (count)
        return *count;
    wrong_->setText(text_of(count.error().message + "; " + count.error().hint));
    wrong_->show();
    return std::nullopt;
}

void PriceDialog::accept()
{
    const std::optional<double> count = tokens();
    if (!count) {
        tokens_->setFocus();
        return;
    }
    const QString currency = currency_->text().trimmed();
    workspace_.set_price(
        {price_->value(), currency.isEmpty() ? workspace_.price().currency : currency, *count});
    QDialog::accept();
}

} // namespace trainyard::gui
