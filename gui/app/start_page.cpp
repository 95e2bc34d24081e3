#include "gui/app/start_page.h"

#include "gui/app/example_picture.h"
#include "gui/app/task_button.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/labels.h"
#include "sim/base/build_info.h"

#include <QCommandLinkButton>
#include <QEvent>
#include <QFileInfo>
#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

namespace trainyard::gui {

namespace {

constexpr QSize example_size(190, 96);

QLabel* heading(const QString& text)
{
    auto* const label = new QLabel(text);
    label->setFont(bold(sized(label->font(), 1.25)));
    return label;
}

} // namespace

std::vector<Example> examples()
{
    const auto file = [](const char* name) {
        return QString::fromStdString((data_dir() / "scenarios" / name).string());
    };
    return {
        {file("llama3-8b-h100-8.json"), StartPage::tr("Llama 3.1 8B on one node"),
         StartPage::tr("8 H100, fully sharded: which part of the gathers hides behind compute?")},
        {file("llama3-70b-h100-64.json"), StartPage::tr("Llama 3.1 70B on eight nodes"),
         StartPage::tr("64 H100: tensor, context, pipeline and data parallel together")},
        {file("llama3-405b-h100-16k.json"), StartPage::tr("Llama 3.1 405B on 16,384 GPUs"),
         StartPage::tr("the published job: 4-D parallelism across a whole cluster")},
    };
}

StartPage::StartPage(QWidget* parent)
    : QWidget(parent), recent_(new QListWidget), name_(new QLineEdit)
{
    auto* const parts = in_a_row({{make_examples(), 3}, {make_recent(), 2}}, {.spacing = 28});
    in_a_column(this, {make_tasks(), {parts, 1}, make_zone()},
                {.margins = {28, 20, 28, 20}, .spacing = 14});
    set_recent({});
}

QWidget* StartPage::make_tasks()
{
    auto* const box = new QWidget;
    auto* const row = in_a_row(box, {}, {.spacing = 14});
    const auto add = [&](const QString& title, const QString& says, void (StartPage::*wanted)()) {
        auto* const button = new TaskButton(title, says);
        row->addWidget(button);
        connect(button, &TaskButton::clicked, this, wanted);
    };
    add(tr("&Plan a cluster"),
        tr("Choose a model, describe a cluster, and see what training on it takes."),
        &StartPage::plan_wanted);
    add(tr("Open a &job"),
        tr("A scenario, a model's config.json, the script that launches it, or its traces."),
        &StartPage::browse);
    add(tr("&Calibrate"), tr("Fit the network's curves to what was measured on your machines."),
        &StartPage::calibration_wanted);
    return box;
}

QWidget* StartPage::make_examples()
{
    auto* const box = new QWidget;
    auto* const column = in_a_column(box, {heading(tr("Examples"))}, {.spacing = 6});
    for (const Example& example : examples()) {
        auto* const button = new QCommandLinkButton(example.title, example.says);
        button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        button->setIconSize(example_size);
        QPixmap blank(example_size); // until it is drawn
        blank.fill(Qt::transparent);
        button->setIcon(blank);
        button->setFixedHeight(example_size.height() + 16);
        connect(button, &QCommandLinkButton::clicked, this,
                [this, file = example.file] { emit chosen(file); });
        examples_.push_back(button);
        column->addWidget(button);
    }
    column->addStretch(1);
    return box;
}

QWidget* StartPage::make_recent()
{
    auto* const box = new QWidget;
    recent_->setAccessibleName(tr("recent files"));
    recent_->setTextElideMode(Qt::ElideMiddle);
    in_a_column(box, {heading(tr("Recent")), {recent_, 1}}, {.spacing = 6});
    const auto choose = [this](const QListWidgetItem* item) { emit chosen(item->toolTip()); };
    connect(recent_, &QListWidget::itemActivated, this, choose);
    connect(recent_, &QListWidget::itemClicked, this, choose);
    return box;
}

QWidget* StartPage::make_zone()
{
    auto* const zone = new QFrame;
    zone->setFrameShape(QFrame::StyledPanel);
    auto* const inside = new QVBoxLayout(zone);
    auto* const says = new QLabel(
        tr("Drop a file anywhere in this window: a scenario, a session, a model's config.json, a "
           "topology, a profile, measurements (nccl-tests, trainyard calibrate), the "
           "configuration of a job (Megatron-LM, DeepSpeed, torchtitan, torchrun), or the traces "
           "of one that ran (PyTorch's profiler, Nsight Systems, Chakra), a file of each rank or "
           "their folder."));
    says->setObjectName(QStringLiteral("start/opens"));
    says->setWordWrap(true);
    inside->addWidget(says);
    name_->setObjectName(QStringLiteral("file-or-model"));
    name_->setAccessibleName(tr("file or model"));
    name_->setPlaceholderText(tr("or a path, or a model: meta-llama/Llama-3.1-70B"));
    auto* const open = new QPushButton(tr("&Open a file ..."));
    auto* const fresh = new QPushButton(tr("&New job ..."));
    auto* const row = in_a_row({{name_, 1}, open, fresh});
    inside->addLayout(row);
    connect(name_, &QLineEdit::returnPressed, this, &StartPage::take_name);
    connect(open, &QPushButton::clicked, this, &StartPage::browse);
    connect(fresh, &QPushButton::clicked, this, &StartPage::new_wanted);
    return zone;
}

// What is no file here is taken for a model's name.
void StartPage::take_name()
{
    const QString name = name_->text().trimmed();
    if (name.isEmpty())
        return;
    if (QFileInfo(name).isFile())
        emit chosen(name);
    else
        emit model_chosen(name);
}

void StartPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    draw_examples();
}

void StartPage::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange && isVisible())
        draw_examples();
    QWidget::changeEvent(event);
}

// One after the other, each shown when it is there.
void StartPage::draw_examples()
{
    drawing_.start(
        [this, all = examples(), colours = palette(), letters = font(),
         scale = devicePixelRatioF()](const WorkControl& work) -> BackgroundTask::Answer {
            auto pictures = std::make_shared<std::vector<QImage>>();
            for (const Example& example : all)
                pictures->push_back(example_picture(example.file.toStdString(),
                                                    {example_size, scale, colours, letters}, work));
            return [this, pictures] {
                for (std::size_t i = 0; i < pictures->size(); ++i)
                    if (!(*pictures)[i].isNull())
                        examples_[i]->setIcon(QPixmap::fromImage((*pictures)[i]));
            };
        });
}

void StartPage::set_recent(const QStringList& files)
{
    recent_->clear();
    for (const QString& file : files) {
        const QFileInfo info(file);
        if (!info.exists())
            continue;
        auto* const item = new QListWidgetItem(
            QStringLiteral("%1    %2").arg(info.fileName(), info.absolutePath()), recent_);
        item->setToolTip(file);
    }
    if (recent_->count() == 0) {
        auto* const item = new QListWidgetItem(tr("nothing yet"), recent_);
        item->setFlags(Qt::NoItemFlags);
    }
}

} // namespace trainyard::gui
