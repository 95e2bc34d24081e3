#include "gui/plan/plan_form.h"

#include "gui/model/qt_text.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/flat_button.h"
#include "gui/widgets/labels.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QEvent>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

namespace trainyard::gui {

namespace {

// A text of the question and where it stands in it.
struct PlanText {
    const char* pointer;
    std::string PlanQuestion::*text;
    bool of_layouts;
    bool of_clusters;
};

constexpr std::array plan_texts{
    PlanText{"/tokens", &PlanQuestion::tokens, true, true},
    PlanText{"/within", &PlanQuestion::within, true, true},
    PlanText{"/price", &PlanQuestion::price, true, false},
    PlanText{"/budget", &PlanQuestion::budget, false, true},
    PlanText{"/batch", &PlanQuestion::batch, false, true},
    PlanText{"/mtbf", &PlanQuestion::mtbf, true, true},
    PlanText{"/checkpoint", &PlanQuestion::checkpoint, true, true},
};

// Says something of a training only.
bool needs_tokens(std::string_view pointer)
{
    return pointer == "/within" || pointer == "/price" || pointer == "/mtbf" ||
           pointer == "/checkpoint";
}

// The text stays as it is.
void offer(QComboBox& box, const std::vector<std::string>& choices)
{
    const QSignalBlocker quiet(box);
    const QString text = box.currentText();
    box.clear();
    for (const std::string& one : choices)
        box.addItem(text_of(one));
    box.setCurrentIndex(-1);
    box.setEditText(text);
}

// Below a text that says what the window says.
QLabel* note_label()
{
    auto* const label = new QLabel(PlanForm::tr("as in the headline"));
    label->setObjectName(QStringLiteral("plan/as-in-headline"));
    label->setAlignment(Qt::AlignRight);
    label->setEnabled(false); // quiet, in any theme
    label->hide();
    return label;
}

QComboBox* open_box(const QString& name)
{
    auto* const box = new QComboBox;
    box->setEditable(true);
    box->setInsertPolicy(QComboBox::NoInsert);
    box->setAccessibleName(name);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(8);
    return box;
}

} // namespace

PlanForm::PlanForm(QWidget* parent)
    : QWidget(parent),
      column_(new QVBoxLayout(this)),
      kind_(new QComboBox),
      model_(nullptr),
      headroom_(new QDoubleSpinBox),
      front_(new QCheckBox)
{
    column_->setContentsMargins(6, 4, 6, 4);
    column_->setSpacing(4);
    make_kind();
    model_ = open_box(tr("model of the training"));
    model_->setObjectName(QStringLiteral("plan/model"));
    model_->lineEdit()->setPlaceholderText(tr("the scenario's"));
    fields_["/model"] = add_field(tr("Model"), model_,
                                  tr("a shipped model or a config.json; empty: the scenario's, "
                                     "with its training"));
    connect(model_, &QComboBox::editTextChanged, this, &PlanForm::edited);
    clusters_box_ = make_clusters();
    column_->addWidget(clusters_box_);
    add_text("/tokens", tr("Tokens to train on"), QStringLiteral("2T"),
             tr("how much is learned: 2T, 500B; empty: one step alone, or as much as can be"));
    add_text("/within", tr("Within"), QStringLiteral("30d"), tr("a deadline: 30d, 12h"));
    add_text("/price", tr("Price of a GPU and hour"), QStringLiteral("2.5/h"),
             tr("of the scenario's devices: 2.5/h, or 20/h/node"));
    add_text("/budget", tr("Budget"), QStringLiteral("5M"),
             tr("what the training may cost, in the currency of the prices"));
    add_text("/batch", tr("Tokens of a step"), QStringLiteral("4M..16M"),
             tr("fitted to each cluster; empty: the scenario's, or the usual one"));
    add_text("/mtbf", tr("Mean time between failures"), QStringLiteral("50000h/gpu"),
             tr("of a GPU or a node: 50000h/gpu, 2000h/node"));
    add_text("/checkpoint", tr("Writing a checkpoint takes"), QStringLiteral("5min"), {});
    headroom_->setRange(0, 99);
    headroom_->setDecimals(1);
    headroom_->setSuffix(tr(" %"));
    headroom_->setValue(PlanQuestion{}.headroom);
    headroom_->setObjectName(QStringLiteral("plan/headroom"));
    fields_["/headroom"] = add_field(tr("Memory to leave free"), headroom_,
                                     tr("per cent of a device's memory that a layout must leave "
                                        "free"));
    connect(headroom_, &QDoubleSpinBox::valueChanged, this, &PlanForm::edited);
    front_->setObjectName(QStringLiteral("plan/front"));
    fields_["/front"] = add_field(tr("All time against memory"), front_,
                                  tr("also every layout that none is both quicker and smaller "
                                     "than: takes about four times as long"));
    connect(front_, &QCheckBox::toggled, this, &PlanForm::edited);
    other_problems_ = problem_label();
    column_->addWidget(other_problems_);
    column_->addStretch(1);
    set_question({});
}

void PlanForm::set_choices(PlanChoices choices)
{
    choices_ = std::move(choices);
    offer(*model_, choices_.models);
    for (const ClusterRow& row : clusters_)
        offer(*row.cluster, choices_.clusters);
}

void PlanForm::make_kind()
{
    kind_->setObjectName(QStringLiteral("plan/kind"));
    kind_->setAccessibleName(tr("what is asked"));
    kind_->addItems({tr("The best layout on this cluster"), tr("Which cluster for a training")});
    kind_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    column_->addWidget(kind_);
    connect(kind_, &QComboBox::currentIndexChanged, this, [this] {
        follow_kind();
        edited();
    });
}

QLabel* PlanForm::problem_label()
{
    QLabel* const label = wrapped_label();
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->hide();
    return label;
}

PlanForm::Field PlanForm::add_field(const QString& name, QWidget* edit, const QString& help)
{
    Field field{new QWidget, new QLabel(name), edit, note_label(), problem_label()};
    edit->setAccessibleName(name);
    edit->setToolTip(help);
    field.name->setToolTip(help);
    edit->setFixedWidth(fontMetrics().averageCharWidth() * 20);
    auto* const row = in_a_row({{field.name, 1}, edit});
    in_a_column(field.box, {row, field.note, field.problem}, {.spacing = 1});
    column_->addWidget(field.box);
    return field;
}

QLineEdit* PlanForm::add_text(const std::string& pointer, const QString& name,
                              const QString& example, const QString& help)
{
    auto* const edit = new QLineEdit;
    edit->setPlaceholderText(example);
    edit->setObjectName(QStringLiteral("plan") + text_of(pointer));
    fields_[pointer] = add_field(name, edit, help);
    texts_[pointer] = edit;
    connect(edit, &QLineEdit::textChanged, this, &PlanForm::edited);
    connect(edit, &QLineEdit::returnPressed, this, &PlanForm::asked);
    return edit;
}

QWidget* PlanForm::make_clusters()
{
    auto* const box = new QWidget;
    add_ = new QToolButton;
    add_->setText(tr("Add"));
    add_->setToolTip(tr("one more cluster to compare"));
    add_->setAccessibleName(tr("add a cluster"));
    add_->setObjectName(QStringLiteral("plan/add"));
    connect(add_, &QToolButton::clicked, this, [this] {
        add_cluster({});
        clusters_.back().cluster->setFocus();
        edited();
    });
    auto* const head =
        in_a_row({{new QLabel(tr("Clusters, and what a GPU and hour costs")), 1}, add_});
    rows_ = new QVBoxLayout;
    rows_->setSpacing(2);
    clusters_problem_ = problem_label();
    in_a_column(box, {head, rows_, clusters_problem_}, {.spacing = 2});
    return box;
}

void PlanForm::add_cluster(const AskedCluster& asked)
{
    ClusterRow row{new QWidget,  open_box(tr("cluster")), new QLineEdit,
                   note_label(), problem_label(),         problem_label()};
    offer(*row.cluster, choices_.clusters);
    row.cluster->setToolTip(tr("a GPU (h100: as many as are needed), so many of them (256xh100), a "
                               "topology's file, or this: the scenario's cluster"));
    row.cluster->lineEdit()->setPlaceholderText(QStringLiteral("256xh100"));
    row.cluster->setEditText(text_of(asked.cluster));
    row.price->setText(text_of(asked.price));
    row.price->setPlaceholderText(QStringLiteral("2.5/h"));
    row.price->setAccessibleName(tr("price of a GPU and hour"));
    row.price->setFixedWidth(fontMetrics().averageCharWidth() * 10);
    QToolButton* const away = tipped_button(QStringLiteral("×"), tr("take this cluster out"));
    auto* const line = in_a_row({{row.cluster, 1}, row.price, away});
    in_a_column(row.box, {line, row.note, row.problem, row.price_problem}, {.spacing = 1});
    rows_->addWidget(row.box);
    row.box->show(); // at once, so that it can take the focus
    const auto number = QString::number(clusters_.size());
    row.cluster->lineEdit()->setObjectName(QStringLiteral("plan/cluster/") + number);
    row.price->setObjectName(QStringLiteral("plan/price/") + number);
    connect(row.cluster, &QComboBox::editTextChanged, this, &PlanForm::edited);
    connect(row.price, &QLineEdit::textChanged, this, &PlanForm::edited);
    for (QLineEdit* const edit : {row.cluster->lineEdit(), row.price})
        connect(edit, &QLineEdit::returnPressed, this, &PlanForm::asked);
    connect(away, &QToolButton::clicked, this, [this, box = row.box] { remove_cluster(box); });
    clusters_.push_back(row);
}

void PlanForm::remove_cluster(const QWidget* row)
{
    const auto found = std::ranges::find(clusters_, row, &ClusterRow::box);
    if (found == clusters_.end())
        return;
    found->box->hide();
    found->box->deleteLater(); // its button is at work
    clusters_.erase(found);
    edited();
}

PlanKind PlanForm::kind() const
{
    return static_cast<PlanKind>(kind_->currentIndex());
}

void PlanForm::follow_kind()
{
    const bool layouts = kind() == PlanKind::layouts;
    for (const PlanText& text : plan_texts)
        fields_.at(text.pointer).box->setVisible(layouts ? text.of_layouts : text.of_clusters);
    fields_.at("/model").box->setVisible(!layouts);
    fields_.at("/front").box->setVisible(layouts);
    clusters_box_->setVisible(!layouts);
}

void PlanForm::edited()
{
    const bool steps_alone = kind() == PlanKind::layouts && texts_.at("/tokens")->text().isEmpty();
    for (const auto& [pointer, field] : fields_)
        field.box->setEnabled(!steps_alone || !needs_tokens(pointer));
    tell_defaults();
    if (!setting_)
        emit changed();
}

PlanQuestion PlanForm::question() const
{
    PlanQuestion out;
    out.kind = kind();
    out.headroom = headroom_->value();
    out.front = front_->isChecked();
    out.model = model_->currentText().trimmed().toStdString();
    for (const PlanText& text : plan_texts)
        out.*text.text = texts_.at(text.pointer)->text().trimmed().toStdString();
    for (const ClusterRow& row : clusters_)
        out.clusters.push_back({row.cluster->currentText().trimmed().toStdString(),
                                row.price->text().trimmed().toStdString()});
    return out;
}

void PlanForm::set_question(const PlanQuestion& question)
{
    setting_ = true;
    kind_->setCurrentIndex(static_cast<int>(question.kind));
    headroom_->setValue(question.headroom);
    front_->setChecked(question.front);
    model_->setEditText(text_of(question.model));
    for (const PlanText& text : plan_texts)
        texts_.at(text.pointer)->setText(text_of(question.*text.text));
    while (!clusters_.empty())
        remove_cluster(clusters_.back().box);
    for (const AskedCluster& one : question.clusters)
        add_cluster(one);
    if (question.clusters.empty())
        add_cluster({std::string(own_cluster), defaults_.price});
    follow_kind();
    setting_ = false;
    edited();
}

void PlanForm::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange && !setting_)
        emit changed(); // what is wrong is said again, in the new colours
    QWidget::changeEvent(event);
}

} // namespace trainyard::gui
