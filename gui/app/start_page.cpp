#include "gui/app/start_page.h"

#include "sim/base/build_info.h"

#include <QCommandLinkButton>
#include <QFileInfo>
#include <QFrame>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

namespace trainyard::gui {

namespace {

QLabel* heading(const QString& text)
{
    auto* const label = new QLabel(text);
    QFont font = label->font();
    font.setPointSizeF(font.pointSizeF() * 1.25);
    font.setBold(true);
    label->setFont(font);
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

StartPage::StartPage(QWidget* parent) : QWidget(parent), recent_(new QListWidget)
{
    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins(24, 18, 24, 18);
    column->setSpacing(10);
    column->addWidget(heading(tr("Examples")));
    column->addWidget(make_examples());
    column->addWidget(heading(tr("Recent")));
    recent_->setAccessibleName(tr("recent files"));
    column->addWidget(recent_, 1);
    connect(recent_, &QListWidget::itemActivated, this,
            [this](const QListWidgetItem* item) { emit chosen(item->toolTip()); });
    connect(recent_, &QListWidget::itemClicked, this,
            [this](const QListWidgetItem* item) { emit chosen(item->toolTip()); });

    auto* const zone = new QFrame;
    zone->setFrameShape(QFrame::StyledPanel);
    auto* const inside = new QVBoxLayout(zone);
    auto* const says = new QLabel(
        tr("Drop a file anywhere in this window: a scenario, a session, a model's config.json,\n"
           "a topology, a profile, measurements (nccl-tests, trainyard calibrate), or the "
           "configuration of a job (Megatron-LM, DeepSpeed, torchtitan, torchrun)."));
    says->setAlignment(Qt::AlignCenter);
    auto* const open = new QPushButton(tr("&Open a file ..."));
    connect(open, &QPushButton::clicked, this, &StartPage::browse);
    inside->addWidget(says);
    inside->addWidget(open, 0, Qt::AlignCenter);
    column->addWidget(zone);
}

QWidget* StartPage::make_examples()
{
    auto* const box = new QWidget;
    auto* const column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    for (const Example& example : examples()) {
        auto* const button = new QCommandLinkButton(example.title, example.says);
        button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        button->setFixedHeight(fontMetrics().height() * 7 /
                               2); // two lines; its hint allows for five
        connect(button, &QCommandLinkButton::clicked, this,
                [this, file = example.file] { emit chosen(file); });
        column->addWidget(button);
    }
    return box;
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
