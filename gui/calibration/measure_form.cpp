#include "gui/calibration/measure_form.h"

#include "gui/model/qt_text.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/flat_button.h"
#include "sim/base/json.h"
#include "sim/base/units.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>

namespace trainyard::gui {

namespace {

constexpr int lines_of_talk = 5000;

QString program_beside()
{
    return QDir(QCoreApplication::applicationDirPath())
        .filePath(QStringLiteral("trainyard-measure"));
}

// That no file has yet.
QString free_name()
{
    const QDir folder = QDir::current();
    QString name = QStringLiteral("measured");
    for (int number = 2; folder.exists(name + QStringLiteral(".json")) ||
                         folder.exists(name + QStringLiteral(".samples.jsonl"));
         ++number)
        name = QStringLiteral("measured-%1").arg(number);
    return folder.filePath(name);
}

QWidget* line_of(std::initializer_list<QWidget*> widgets)
{
    auto* const row = new QWidget;
    auto* const layout = in_a_row(row, {}, {.spacing = 4});
    for (QWidget* const widget : widgets)
        layout->addWidget(widget, qobject_cast<QLineEdit*>(widget) != nullptr ? 1 : 0);
    return row;
}

QString title_of_backend(const std::string& name)
{
    if (name == "nccl")
        return MeasureForm::tr("NCCL (GPUs)");
    return name == "gloo" ? MeasureForm::tr("Gloo (CPUs)") : MeasureForm::tr("MPI (CPUs)");
}

} // namespace

MeasureForm::MeasureForm(QWidget* parent)
    : QWidget(parent),
      program_(program_beside()),
      collectives_(new QCheckBox(tr("Collectives"))),
      pairs_(new QCheckBox(tr("Pairs"))),
      kernels_(new QCheckBox(tr("Kernels"))),
      backend_(new QComboBox),
      ranks_(new QSpinBox),
      min_size_(new QLineEdit),
      max_size_(new QLineEdit),
      quick_(new QCheckBox(tr("Quick: a minute or two"))),
      timeout_(new QSpinBox),
      name_(new QLineEdit),
      start_(new QPushButton(tr("&Measure here"))),
      note_(new QLabel),
      said_(new QPlainTextEdit),
      cluster_backend_(new QComboBox),
      nodes_(new QSpinBox),
      per_node_(new QSpinBox),
      line_(new QLineEdit)
{
    auto* const form = new QFormLayout(this);
    form->setContentsMargins(6, 6, 6, 6);
    form->setVerticalSpacing(4);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->setRowWrapPolicy(QFormLayout::WrapLongRows);
    make_what(*form);
    make_how(*form);
    make_cluster(*form);
    connect(start_, &QPushButton::clicked, this, &MeasureForm::toggle);
    connect(&run_, &MeasureRun::said, this, [this](const QString& text) {
        said_->appendPlainText(text.endsWith('\n') ? text.chopped(1) : text);
    });
    connect(&run_, &MeasureRun::grew, this, [this] { emit grew(run_.samples()); });
    connect(&run_, &MeasureRun::ended, this, &MeasureForm::finish);
    connect(&asks_, &QProcess::finished, this,
            [this] { take_backends(asks_.readAllStandardOutput()); });
    connect(&asks_, &QProcess::errorOccurred, this, [this] { take_backends({}); });
    follow();
}

void MeasureForm::make_what(QFormLayout& form)
{
    for (QCheckBox* const part : {collectives_, pairs_, kernels_}) {
        part->setChecked(true);
        connect(part, &QCheckBox::toggled, this, &MeasureForm::follow);
    }
    collectives_->setToolTip(tr("All-reduce, all-gather and the others, over sizes"));
    pairs_->setToolTip(tr("Between every two ranks: slow links"));
    kernels_->setToolTip(tr("Matrix products, memory, and what they lose beside transfers"));
    form.addRow(tr("What"), line_of({collectives_, pairs_, kernels_}));
    backend_->setAccessibleName(tr("Back end"));
    backend_->setPlaceholderText(tr("none can measure here"));
    connect(backend_, &QComboBox::currentIndexChanged, this, &MeasureForm::follow);
    ranks_->setRange(0, 4096);
    ranks_->setSpecialValueText(tr("all"));
    ranks_->setAccessibleName(tr("Ranks"));
    ranks_->setToolTip(tr("All GPUs; of CPUs the cores, at most 8"));
    connect(ranks_, &QSpinBox::valueChanged, this, &MeasureForm::follow);
    form.addRow(tr("With"), line_of({backend_, new QLabel(tr("ranks")), ranks_}));
}

void MeasureForm::make_how(QFormLayout& form)
{
    min_size_->setPlaceholderText(QStringLiteral("512 B"));
    min_size_->setAccessibleName(tr("Smallest size of collectives"));
    max_size_->setPlaceholderText(QStringLiteral("64 MiB"));
    max_size_->setAccessibleName(tr("Largest size of collectives"));
    for (QLineEdit* const size : {min_size_, max_size_})
        connect(size, &QLineEdit::textChanged, this, &MeasureForm::follow);
    form.addRow(tr("Sizes"), line_of({min_size_, new QLabel(tr("to")), max_size_}));
    quick_->setChecked(true);
    connect(quick_, &QCheckBox::toggled, this, &MeasureForm::follow);
    timeout_->setRange(1, 3600);
    timeout_->setValue(30);
    timeout_->setSuffix(tr(" s"));
    timeout_->setAccessibleName(tr("Time limit"));
    timeout_->setToolTip(tr("Until what should be done is given up"));
    form.addRow(tr("Time"), line_of({quick_, new QLabel(tr("limit")), timeout_}));
    name_->setText(free_name());
    name_->setAccessibleName(tr("Name of what is written"));
    name_->setToolTip(tr("Without an ending: NAME.samples.jsonl, NAME.json, NAME.topology.json"));
    connect(name_, &QLineEdit::textChanged, this, &MeasureForm::follow);
    auto* const browse = flat_button(QStringLiteral("..."), tr("Choose the folder and the name"));
    connect(browse, &QToolButton::clicked, this, &MeasureForm::choose_name);
    form.addRow(tr("Files"), line_of({name_, browse}));
    note_->setWordWrap(true);
    note_->setAccessibleName(tr("What comes of it"));
    form.addRow(note_);
    form.addRow(start_);
    said_->setReadOnly(true);
    said_->setMaximumBlockCount(lines_of_talk);
    said_->setLineWrapMode(QPlainTextEdit::NoWrap);
    said_->setAccessibleName(tr("What the program says"));
    said_->setPlaceholderText(tr("What the program says"));
    said_->setFixedHeight(5 * fontMetrics().lineSpacing());
    form.addRow(said_);
}

void MeasureForm::make_cluster(QFormLayout& form)
{
    for (const std::string name : {"nccl", "gloo", "mpi"})
        cluster_backend_->addItem(title_of_backend(name), text_of(name));
    cluster_backend_->setAccessibleName(tr("Back end on the cluster"));
    connect(cluster_backend_, &QComboBox::currentIndexChanged, this, &MeasureForm::follow);
    for (const auto& [box, most, usual, name] :
         {std::tuple(nodes_, 100'000, 2, tr("Nodes")),
          std::tuple(per_node_, 1024, 8, tr("GPUs of a node"))})
    {
        box->setRange(1, most);
        box->setValue(usual);
        box->setAccessibleName(name);
        connect(box, &QSpinBox::valueChanged, this, &MeasureForm::follow);
    }
    form.addRow(tr("Or on a cluster"), cluster_backend_);
    form.addRow(tr("Nodes"), line_of({nodes_, new QLabel(tr("GPUs of each")), per_node_}));
    line_->setReadOnly(true);
    line_->setAccessibleName(tr("Command for the cluster"));
    auto* const copy = new QPushButton(tr("&Copy"));
    connect(copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(line_->text()); });
    form.addRow(line_of({line_, copy}));
}

void MeasureForm::set_program(const QString& program)
{
    program_ = program;
    usable_ = false;
    here_.clear();
}

void MeasureForm::ask_program()
{
    if (!here_.isEmpty() || asks_.state() != QProcess::NotRunning)
        return;
    here_ = tr("Looking what can be measured here ...");
    follow();
    asks_.start(program_, {QStringLiteral("--backends")});
}

void MeasureForm::take_backends(const QByteArray& said)
{
    backend_->clear();
    QStringList absent;
    if (const Checked<Json> json = parse_json(said.toStdString(), "backends");
        json && json->is_object())
        if (const Json* const backends = json->find("backends"))
            for (const Json& one : backends->items()) {
                const std::string& name = one.find("name")->as_string();
                if (one.find("usable")->as_bool())
                    backend_->addItem(title_of_backend(name), text_of(name));
                else
                    absent << tr("%1: %2").arg(title_of_backend(name),
                                               text_of(one.find("why")->as_string()));
            }
    usable_ = backend_->count() > 0;
    if (usable_)
        here_ = absent.isEmpty() ? tr("All back ends can measure here.") : absent.join('\n');
    else if (absent.isEmpty() && QFileInfo(program_).isExecutable())
        here_ = tr("%1 does not say what it can measure: is it of another version?")
                    .arg(QFileInfo(program_).fileName());
    else if (absent.isEmpty())
        here_ = tr("Nothing can be measured here: %1 is not installed. Logs of nccl-tests make a "
                   "profile without it; the line below measures a cluster.")
                    .arg(QFileInfo(program_).fileName());
    else
        here_ = tr("Nothing can be measured here. %1").arg(absent.join(QStringLiteral("; ")));
    follow();
}

MeasurePlan MeasureForm::plan() const
{
    MeasurePlan plan;
    plan.collectives = collectives_->isChecked();
    plan.pairs = pairs_->isChecked();
    plan.kernels = kernels_->isChecked();
    plan.backend = backend_->currentData().toString().toStdString();
    plan.ranks = ranks_->value();
    plan.quick = quick_->isChecked();
    plan.min_size = min_size_->text().simplified().remove(' ').toStdString();
    plan.max_size = max_size_->text().simplified().remove(' ').toStdString();
    plan.timeout = timeout_->value();
    plan.name = name_->text().trimmed().toStdString();
    return plan;
}

// Why it cannot be started; empty: it can.
QString MeasureForm::refusal() const
{
    const MeasurePlan plan = this->plan();
    if (!usable_)
        return here_;
    if (!plan.collectives && !plan.pairs && !plan.kernels)
        return tr("Choose something to measure.");
    for (const std::string& size : {plan.min_size, plan.max_size})
        if (!size.empty() && !parse_bytes(size))
            return tr("\"%1\" is no size: write it with its unit, as 64MiB.").arg(text_of(size));
    if (plan.name.empty() || QFileInfo(text_of(plan.name)).fileName().isEmpty())
        return tr("Name what is written.");
    if (const QFileInfo file(text_of(profile_of(plan))); makes_profile(plan) && file.exists())
        return tr("%1 is there already: choose another name.").arg(file.fileName());
    return {};
}

QString MeasureForm::note() const
{
    return note_->text();
}

void MeasureForm::follow()
{
    if (running()) {
        note_->setText(tr("Measuring. What is measured is kept in %1.")
                           .arg(QFileInfo(run_.samples()).fileName()));
        start_->setText(tr("&Stop"));
        start_->setEnabled(true);
        return;
    }
    const QString refused = refusal();
    start_->setText(tr("&Measure here"));
    start_->setEnabled(refused.isEmpty());
    const MeasurePlan plan = this->plan();
    if (!refused.isEmpty())
        note_->setText(refused);
    else
        note_->setText((makes_profile(plan)
                            ? tr("Writes a profile, a topology and all samples.")
                            : tr("Writes the samples; a profile of CPUs needs kernels, too.")) +
                       (here_.isEmpty() ? QString() : '\n' + here_));
    MeasurePlan there = plan;
    there.backend = cluster_backend_->currentData().toString().toStdString();
    line_->setText(srun_line(there, nodes_->value(), per_node_->value()));
    line_->setCursorPosition(0);
    line_->setToolTip(line_->text());
}

void MeasureForm::choose_name()
{
    const QString file = QFileDialog::getSaveFileName(this, tr("Name of what is written"),
                                                      name_->text(), tr("Profiles (*.json)"));
    if (file.isEmpty())
        return;
    name_->setText(file.endsWith(QStringLiteral(".json")) ? file.chopped(5) : file);
}

void MeasureForm::toggle()
{
    if (running()) {
        run_.stop();
        note_->setText(tr("Stopping ..."));
        start_->setEnabled(false);
        return;
    }
    if (!refusal().isEmpty())
        return;
    started_ = plan();
    said_->clear();
    run_.start(program_, arguments_of(started_), text_of(samples_of(started_)));
    follow();
    emit begun();
}

void MeasureForm::finish(bool stopped, const QString& complaint)
{
    follow();
    if (!complaint.isEmpty())
        emit failed(complaint);
    const QString profile = text_of(profile_of(started_));
    const bool wrote = !stopped && complaint.isEmpty() && makes_profile(started_);
    const QString samples = text_of(samples_of(started_));
    emit ended(makes_curves(started_) && QFileInfo::exists(samples) ? samples : QString(),
               wrote && QFileInfo::exists(profile) ? profile : QString());
}

} // namespace trainyard::gui
