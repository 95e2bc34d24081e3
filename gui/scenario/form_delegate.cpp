#include "gui/scenario/form_delegate.h"

#include "gui/scenario/form_model.h"
#include "gui/widgets/theme.h"
#include "sim/api/catalogue.h"
#include "sim/strategy/schedule.h"

#include <QComboBox>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <functional>
#include <map>

namespace trainyard::gui {

namespace {

struct FieldPlace {
    const FormModel* model = nullptr;
    QModelIndex index;
};

// Through the filter, to the form itself.
FieldPlace place_of(const QModelIndex& index)
{
    if (const auto* proxy = qobject_cast<const QSortFilterProxyModel*>(index.model()))
        return {qobject_cast<const FormModel*>(proxy->sourceModel()), proxy->mapToSource(index)};
    return {qobject_cast<const FormModel*>(index.model()), index};
}

// Texts that name something that is known by name: read when a list opens.
const std::map<std::string, std::function<std::vector<std::string>()>>& named_fields()
{
    const auto shipped = [](ShippedKind kind) { return [kind] { return shipped_names(kind); }; };
    static const std::map<std::string, std::function<std::vector<std::string>()>> all{
        {"model", shipped(ShippedKind::models)},
        {"topology", shipped(ShippedKind::topologies)},
        {"profile", shipped(ShippedKind::profiles)},
        {"software.framework", shipped(ShippedKind::software)},
        {"strategy.schedule", schedule_names}};
    return all;
}

QStringList choices_of(const FormField& field)
{
    QStringList out;
    std::vector<std::string> names = field.values();
    if (const auto named = named_fields().find(field.field); named != named_fields().end())
        names = named->second();
    for (const std::string& name : names)
        out << QString::fromStdString(name);
    return out;
}

bool is_free(const FormField& field)
{
    return field.kind == FieldKind::file || field.kind == FieldKind::text;
}

} // namespace

QWidget* FormDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem&,
                                    const QModelIndex& index) const
{
    const FieldPlace place = place_of(index);
    const FormField& field = *place.model->row_at(place.index).field;
    const QStringList choices = choices_of(field);
    QLineEdit* line = nullptr;
    QWidget* editor = nullptr;
    if (!choices.isEmpty()) {
        auto* const list = new QComboBox(parent);
        list->setEditable(is_free(field));
        if (!field.required)
            list->addItem(QString());
        list->addItems(choices);
        line = list->lineEdit();
        editor = list;
    } else
        editor = line = new QLineEdit(parent);
    editor->setAccessibleName(QString::fromStdString(field.field));
    if (line == nullptr)
        return editor;
    line->setFrame(false);
    line->setPlaceholderText(QString::fromStdString(field.default_text()));
    connect(line, &QLineEdit::textEdited, this, [this, line, index](const QString& text) {
        const FieldPlace at = place_of(index);
        const QString problem = at.model->problem_with(at.index, text);
        QPalette palette = line->parentWidget()->palette();
        if (!problem.isEmpty())
            palette.setColor(QPalette::Text, sign_colours(palette).error);
        line->setPalette(palette);
        line->setToolTip(problem);
        emit typed(problem);
    });
    return editor;
}

void FormDelegate::setEditorData(QWidget* editor, const QModelIndex& index) const
{
    auto* const list = qobject_cast<QComboBox*>(editor);
    auto* const line = list != nullptr ? list->lineEdit() : qobject_cast<QLineEdit*>(editor);
    if (line != nullptr && line->isModified())
        return; // a run that ends meanwhile leaves what is being typed
    const QString text = index.data(Qt::EditRole).toString();
    if (list != nullptr) {
        const int at = list->findText(text);
        if (at >= 0)
            list->setCurrentIndex(at);
        else if (list->isEditable())
            list->setEditText(text);
    } else if (line != nullptr)
        line->setText(text);
}

void FormDelegate::setModelData(QWidget* editor, QAbstractItemModel* model,
                                const QModelIndex& index) const
{
    if (const auto* const list = qobject_cast<QComboBox*>(editor))
        model->setData(index, list->currentText(), Qt::EditRole);
    else if (const auto* const line = qobject_cast<QLineEdit*>(editor))
        model->setData(index, line->text(), Qt::EditRole);
    emit typed({});
}

void FormDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const
{
    QStyleOptionViewItem shown = option;
    const SignColours colours = sign_colours(option.palette);
    const int column = index.column();
    if (column == FormModel::problem_column)
        shown.palette.setColor(QPalette::Text, colours.error);
    else if (column == FormModel::takes_column || column == FormModel::origin_column)
        shown.palette.setColor(QPalette::Text, colours.quiet);
    QStyledItemDelegate::paint(painter, shown, index);
}

QSize FormDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    size.setHeight(std::max(size.height(), option.fontMetrics.height() + 8));
    return size;
}

} // namespace trainyard::gui
