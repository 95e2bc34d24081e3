#include "gui/new/cluster_form.h"

#include "gui/model/qt_text.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"
#include "sim/base/units.h"

#include <QAbstractItemView>
#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QToolButton>
#include <algorithm>

namespace trainyard::gui {

namespace {

// The fields that most clusters are told apart by; the others are folded away.
bool is_main_field(const std::string& field)
{
    for (const char* const one : {"node.gpus", "node.nics", "node.nic_rate", "fabric.kind",
                                  "fabric.network.port_rate", "fabric.oversubscription"})
        if (field == one)
            return true;
    return false;
}

// Texts for people, and what choices of their own set.
bool is_aside(const std::string& field)
{
    for (const char* const one : {"node.source", "node.device", "node.usual_network",
                                  "fabric.network.source", "fabric.network.name"})
        if (field == one)
            return true;
    return false;
}

void collect_fields(const FormField& at, std::vector<const FormField*>& out)
{
    if (at.kind == FieldKind::group) {
        for (const FormField& inner : at.fields)
            collect_fields(inner, out);
        return;
    }
    if (!is_main_field(at.field) && !is_aside(at.field))
        out.push_back(&at);
}

std::string pointer_of_field(std::string field)
{
    std::ranges::replace(field, '.', '/');
    return "/" + field;
}

// "port_rate" as people say it, with where it stands where that is not plain.
QString words_of_field(const std::string& field)
{
    const std::string key = field.substr(field.rfind('.') + 1);
    QString words = capitalised(key).replace('_', ' ');
    for (const char* const known : {"PCIe", "NIC", "C2C", "ECMP"})
        if (words.startsWith(QLatin1String(known), Qt::CaseInsensitive))
            words.replace(0, QLatin1String(known).size(), QLatin1String(known));
    if (field.starts_with("node.nvlink."))
        words = QStringLiteral("NVLink %1").arg(words.toLower());
    return words;
}

// A bit rate in bytes, where the label says these.
QString in_unit_of(const std::string& field, const std::string& value)
{
    const auto rate = parse_bandwidth(value);
    const bool bits = value.find("b/s") != std::string::npos;
    return rate && bits && find_field(cluster_form(), field)->unit() == "GB/s"
               ? QStringLiteral("%1 GB/s").arg(rate->value() * 1e-9)
               : text_of(value);
}

QString network_label(const std::string& name, const Json& preset)
{
    const Json* const rate = preset.find("port_rate");
    return rate != nullptr && rate->is_string()
               ? QStringLiteral("%1, %2").arg(text_of(name), text_of(rate->as_string()))
               : text_of(name);
}

QLabel* problem_label(const SignColours& colours)
{
    QLabel* const label = wrapped_label();
    colour_text(label, colours.error);
    label->hide();
    return label;
}

void show_current(QComboBox& box, const std::string& data)
{
    box.setCurrentIndex(box.findData(text_of(data)));
}

} // namespace

ClusterForm::ClusterForm(QWidget* parent) : QWidget(parent), grid_(new QGridLayout)
{
    grid_->setColumnStretch(1, 1);
    grid_->setVerticalSpacing(2);
    make_main_rows();
    make_more_rows();
    elsewhere_ = problem_label(sign_colours(palette()));
    in_a_column(this, {grid_, {more_button_, 0, Qt::AlignLeft}, more_, elsewhere_, room(1)});
    setEnabled(false); // until there is a draft
}

void ClusterForm::make_main_rows()
{
    node_ = add_choice(tr("&Node"), "node");
    add_text(grid_, "", tr("Rac&ks"));
    add_text(grid_, "nodes", tr("N&umber of nodes"));
    add_text(grid_, "node.gpus", tr("&GPUs a node"));
    add_text(grid_, "node.nics", tr("N&ICs a node"));
    add_text(grid_, "node.nic_rate", tr("&Rate of a NIC"));
    fabric_ = add_choice(tr("&Fabric"), "fabric.kind");
    network_ = add_choice(tr("Net&work"), "fabric.network");
    add_text(grid_, "fabric.network.port_rate", tr("Rate of a switch &port"));
    add_text(grid_, "fabric.oversubscription", tr("&Oversubscription"));
    connect(node_, &QComboBox::activated, this, [this] {
        choose([this](ClusterDraft& draft) {
            draft.choose_node(node_->currentData().toString().toStdString());
        });
    });
    connect(network_, &QComboBox::activated, this, [this] {
        choose([this](ClusterDraft& draft) {
            draft.choose_network(network_->currentData().toString().toStdString());
        });
    });
    connect(fabric_, &QComboBox::activated, this, [this] {
        choose([this](ClusterDraft& draft) {
            draft.choose_fabric(fabric_->currentData().toString().toStdString());
        });
    });
    fabric_->addItem(tr("none: NVLink only"), QString());
    for (const std::string& kind : find_field(cluster_form(), "fabric.kind")->choices)
        fabric_->addItem(text_of(kind), text_of(kind));
}

// Every field that there is, so that none needs a line here.
void ClusterForm::make_more_rows()
{
    more_button_ = new QToolButton;
    more_button_->setText(tr("More fields"));
    more_button_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    more_button_->setArrowType(Qt::RightArrow);
    more_button_->setAutoRaise(true);
    more_button_->setCheckable(true);
    more_ = new QWidget;
    auto* const grid = new QGridLayout(more_);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setColumnStretch(1, 1);
    grid->setVerticalSpacing(2);
    std::vector<const FormField*> fields;
    for (const char* const group : {"node", "fabric"})
        collect_fields(*find_field(cluster_form(), group), fields);
    for (const FormField* const field : fields) {
        if (field->values().empty())
            add_text(grid, field->field, words_of_field(field->field));
        else
            add_list(grid, *field, words_of_field(field->field));
        rows_.back().more = true;
    }
    more_->hide();
    connect(more_button_, &QToolButton::toggled, this, [this](bool open) {
        more_button_->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
        more_->setVisible(open);
    });
}

QComboBox* ClusterForm::add_choice(const QString& name, const char* field)
{
    auto* const box = new ElidedComboBox;
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(12);
    add_row(grid_, name, field, box);
    return box;
}

void ClusterForm::add_text(QGridLayout* grid, const std::string& field, const QString& name)
{
    auto* const edit = new QLineEdit;
    add_row(grid, name, field, edit);
    const TextField text{field, edit};
    texts_.push_back(text);
    connect(edit, &QLineEdit::textEdited, this, [this, text] { take_text(text); });
}

// The first entry leaves it as usual.
void ClusterForm::add_list(QGridLayout* grid, const FormField& field, const QString& name)
{
    auto* const box = new ElidedComboBox;
    box->addItem(QString(), QString());
    for (const std::string& value : field.values())
        box->addItem(text_of(value), text_of(value));
    add_row(grid, name, field.field, box);
    lists_.push_back({field.field, box});
    connect(box, &QComboBox::activated, this, [this, box, name = field.field] {
        take(name, box->currentData().toString().toStdString());
    });
}

void ClusterForm::fill_list(const ListField& list)
{
    const std::string usual = draft_->usual_text(list.field);
    list.box->setItemText(0,
                          usual.empty() ? tr("as usual") : tr("as usual: %1").arg(text_of(usual)));
    show_current(*list.box, draft_->text(list.field));
    if (list.field.starts_with("fabric."))
        list.box->setEnabled(!draft_->fabric().empty());
}

void ClusterForm::add_row(QGridLayout* grid, const QString& name, const std::string& field,
                          QWidget* widget)
{
    const FormField* const known = find_field(cluster_form(), field);
    const std::string unit = known != nullptr && !field.empty() ? known->unit() : std::string();
    auto* const label =
        new QLabel(unit.empty() ? name : QStringLiteral("%1 [%2]").arg(name, text_of(unit)));
    label->setBuddy(widget);
    widget->setObjectName(field.empty() ? QStringLiteral("racks") : text_of(field));
    widget->setAccessibleName(QString(name).remove('&'));
    if (known != nullptr && !field.empty()) {
        QString tip = capitalised(known->help);
        if (const std::string takes = known->takes(); !takes.empty())
            tip += QStringLiteral("\n%1").arg(text_of(takes));
        widget->setToolTip(tip);
        label->setToolTip(tip);
    }
    auto* const problem = problem_label(sign_colours(palette()));
    const int at = grid->rowCount();
    grid->addWidget(label, at, 0);
    grid->addWidget(widget, at, 1);
    grid->addWidget(problem, at + 1, 0, 1, 2);
    rows_.push_back(
        {field.empty() ? std::string() : pointer_of_field(field), label, widget, problem, false});
}

void ClusterForm::set_draft(std::shared_ptr<const ClusterChoices> choices, ClusterDraft draft)
{
    choices_ = std::move(choices);
    draft_.emplace(std::move(draft));
    refused_.reset();
    problems_.clear();
    fill_choices();
    fill();
    show_problems();
    setEnabled(true);
}

void ClusterForm::fill_choices()
{
    node_->clear();
    for (const ClusterChoices::Node& one : choices_->nodes)
        node_->addItem(tr("%1: %2 a node (%3)")
                           .arg(text_of(one.device))
                           .arg(one.gpus)
                           .arg(text_of(one.preset)),
                       text_of(one.preset));
    node_->view()->setMinimumWidth(node_->view()->sizeHintForColumn(0) +
                                   2 * fontMetrics().height());
    if (node_->findData(text_of(draft_->node())) < 0) // written out, or not among them
        node_->insertItem(0,
                          draft_->node().empty() ? tr("as written out") : text_of(draft_->node()),
                          text_of(draft_->node()));
}

// What is being typed is left as it is.
void ClusterForm::fill()
{
    const ClusterDraft& draft = *draft_;
    show_current(*node_, draft.node());
    show_current(*fabric_, draft.fabric());
    network_->clear();
    const std::string usual = draft.usual_text("node.usual_network");
    const auto& networks = choices_->presets.networks;
    const Json* const usual_preset = networks.find(usual);
    network_->addItem(usual_preset != nullptr
                          ? tr("usual: %1").arg(network_label(usual, *usual_preset))
                          : tr("usual"),
                      QString());
    for (const auto& [name, preset] : networks.members())
        network_->addItem(network_label(name, preset), text_of(name));
    if (const std::string own = draft.network(); network_->findData(text_of(own)) < 0)
        network_->addItem(text_of(own), text_of(own));
    show_current(*network_, draft.network());
    const bool racks = draft.nodes_per_rack() > 1;
    const bool fabric = !draft.fabric().empty();
    for (const TextField& text : texts_) {
        const bool of_racks = text.field.empty();
        const std::string shown = of_racks ? draft.racks_text() : draft.text(text.field);
        if (!text.edit->hasFocus() && text.edit->text() != text_of(shown))
            text.edit->setText(text_of(shown));
        const std::string usual_value = of_racks ? "" : draft.usual_text(text.field);
        text.edit->setPlaceholderText(of_racks              ? tr("no whole racks")
                                      : usual_value.empty() ? tr("as usual")
                                                            : in_unit_of(text.field, usual_value));
        if (text.field.starts_with("fabric."))
            text.edit->setEnabled(fabric);
    }
    for (const ListField& list : lists_)
        fill_list(list);
    network_->setEnabled(fabric);
    for (const Row& row : rows_)
        if (row.pointer.empty()) {
            row.name->setVisible(racks);
            row.field->setVisible(racks);
        }
}

void ClusterForm::take_text(const TextField& text)
{
    take(text.field, text.edit->text().trimmed().toStdString());
}

void ClusterForm::take(const std::string& field, const std::string& text)
{
    refused_.reset();
    if (field.empty())
        draft_->set_racks(text);
    else
        refused_ = draft_->set(field, find_field(cluster_form(), field)->with_unit(text));
    if (refused_)
        refused_->pointer = pointer_of_field(field);
    fill();
    show_problems();
    emit edited();
}

void ClusterForm::choose(const std::function<void(ClusterDraft&)>& what)
{
    what(*draft_);
    refused_.reset();
    fill();
    emit edited();
}

void ClusterForm::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange)
        show_problems();
    QWidget::changeEvent(event);
}

} // namespace trainyard::gui
