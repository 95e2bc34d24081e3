// What the planner's screen is made of.

#include "gui/model/way_out.h"
#include "gui/plan/plan_form.h"
#include "gui/plan/plan_panel.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/plain_table.h"
#include "gui/widgets/table_part.h"
#include "sim/study/problems.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QTabWidget>
#include <QTableView>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr int check_after_ms = 150;

QLabel* selectable_label()
{
    QLabel* const label = wrapped_label();
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

QScrollArea* scrolled(QWidget* what)
{
    auto* const area = new QScrollArea;
    area->setWidget(what);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    return area;
}

} // namespace

PlanPanel::PlanPanel(Workspace& workspace, QWidget* parent)
    : Panel(parent),
      workspace_(workspace),
      form_(new PlanForm),
      rows_(new PlanRows(this)),
      first_(new PlanChart(QStringLiteral("plan-chart"), tr("Plan"))),
      second_(new PlanChart(QStringLiteral("plan-cost"), tr("Cost of the plan"))),
      left_out_(new TablePart(QStringLiteral("plan-left-out"), tr("What the plan left out"))),
      check_timer_(new QTimer(this))
{
    auto* const column = in_a_column(this, {}, {.margins = {4, 2, 4, 4}, .spacing = 2});
    make_tools(*column);
    QScrollArea* const asked = scrolled(form_);
    asked->setMinimumWidth(fontMetrics().averageCharWidth() * 30);
    auto* const all = new QSplitter(Qt::Horizontal);
    all->addWidget(asked);
    all->addWidget(make_answer());
    all->setStretchFactor(0, 0);
    all->setStretchFactor(1, 1);
    all->setSizes({fontMetrics().averageCharWidth() * 52, 700});
    column->addWidget(all, 1);
    connect(show_form_, &QToolButton::toggled, asked, &QWidget::setVisible);
    check_timer_->setSingleShot(true);
    check_timer_->setInterval(check_after_ms);
    connect_all();
    follow_price();
    follow_question();
    choices_task_.start([this](const WorkControl&) -> BackgroundTask::Answer {
        return [this, choices = plan_choices()] { form_->set_choices(choices); };
    });
}

void PlanPanel::make_tools(QVBoxLayout& layout)
{
    show_form_ = new QToolButton;
    show_form_->setText(tr("Question"));
    show_form_->setToolTip(tr("show what is asked"));
    show_form_->setCheckable(true);
    show_form_->setChecked(true);
    start_ = new QPushButton(tr("Plan"));
    start_->setObjectName(QStringLiteral("plan/start"));
    cancel_ = new QToolButton;
    cancel_->setText(tr("Cancel"));
    cancel_->setToolTip(tr("end the search and keep what was found (Esc)"));
    cancel_->setObjectName(QStringLiteral("plan/cancel"));
    progress_ = new QProgressBar;
    progress_->setMaximumWidth(fontMetrics().averageCharWidth() * 16);
    progress_->setTextVisible(false);
    progress_->setAccessibleName(tr("progress of the plan"));
    state_ = new ElidedLabel;
    state_->setObjectName(QStringLiteral("plan/state"));
    layout.addLayout(in_a_row({show_form_, start_, cancel_, progress_, {state_, 1}}));
}

QWidget* PlanPanel::make_answer()
{
    headline_ = selectable_label();
    headline_->setObjectName(QStringLiteral("plan/headline"));
    headline_->setFont(bold(sized(headline_->font(), 1.15)));
    headline_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    verdicts_ = selectable_label();
    verdicts_->setObjectName(QStringLiteral("plan/verdicts"));
    verdicts_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    verdicts_->setMargin(6);
    auto* const charts = new QSplitter(Qt::Horizontal);
    charts->addWidget(first_);
    charts->addWidget(second_);
    auto* const both = new QSplitter(Qt::Vertical);
    both->addWidget(charts);
    both->addWidget(make_rows());
    both->setStretchFactor(0, 1);
    both->setStretchFactor(1, 1);
    both->setSizes({300, 260});
    both->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    charts->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    auto* const box = new QWidget;
    smallest_ = new QPushButton;
    smallest_->setObjectName(QStringLiteral("plan/smallest"));
    smallest_->setToolTip(
        tr("open the scenario on the smallest cluster of its nodes that holds the "
           "training; it can be undone"));
    nearest_ = new QPushButton(tr("Nearest that fits"));
    nearest_->setObjectName(QStringLiteral("plan/nearest"));
    nearest_->setToolTip(tr("find settings with which the scenario fits on its own cluster, with "
                            "no memory to spare, and make them; they can be undone"));
    auto* const ways_out = in_a_row({smallest_, nearest_, room(1)});
    in_a_column(box, {headline_, ways_out, {both, 1}}, {.margins = {6, 2, 0, 0}});
    return box;
}

QWidget* PlanPanel::make_rows()
{
    view_ = plain_table(tr("rows of the plan"));
    view_->setObjectName(QStringLiteral("plan/rows"));
    view_->setModel(rows_);
    view_->setSortingEnabled(true);
    view_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    view_->horizontalHeader()->setStretchLastSection(true);
    view_->setContextMenuPolicy(Qt::CustomContextMenu);
    view_->installEventFilter(this);
    left_out_->view().horizontalHeader()->setStretchLastSection(true);
    tabs_ = new QTabWidget;
    tabs_->setDocumentMode(true);
    tabs_->addTab(view_, QString());
    tabs_->addTab(scrolled(verdicts_), tr("Why"));
    tabs_->addTab(left_out_, QString());
    return tabs_;
}

void PlanPanel::connect_all()
{
    connect(form_, &PlanForm::changed, this, &PlanPanel::follow_question);
    connect(form_, &PlanForm::asked, this, [this] {
        if (possible_ && !job_.running())
            start();
    });
    connect(&workspace_.document(), &Document::changed, this, &PlanPanel::follow_question);
    connect(this, &Panel::sightChanged, this, &PlanPanel::follow_question);
    connect(check_timer_, &QTimer::timeout, this, &PlanPanel::check);
    connect(start_, &QPushButton::clicked, this, &PlanPanel::start);
    connect(cancel_, &QToolButton::clicked, &job_, &PlanJob::cancel);
    connect(smallest_, &QPushButton::clicked, this, &PlanPanel::open_smallest);
    connect(nearest_, &QPushButton::clicked, this, &PlanPanel::find_way_out);
    connect(&workspace_, &Workspace::priceChanged, this, &PlanPanel::follow_price);
    connect(&workspace_, &Workspace::problemsChanged, this, &PlanPanel::tell);
    connect(&way_out_task_, &BackgroundTask::busyChanged, this, &PlanPanel::tell);
    connect(&way_out_task_, &BackgroundTask::failed, this,
            [this](const QString& why) { emit told(one_problem(why.toStdString())); });
    connect(&job_, &PlanJob::progressed, this, &PlanPanel::tell);
    connect(&job_, &PlanJob::answered, this, &PlanPanel::take);
    connect(&job_, &PlanJob::refused, this, &PlanPanel::refuse);
    connect(&job_, &PlanJob::failed, this,
            [this](const QString& why) { refuse(one_problem(why.toStdString())); });
    connect(&job_, &PlanJob::busyChanged, this, &PlanPanel::follow_job);
    for (BackgroundTask* const task : {&check_task_, &export_task_, &choices_task_, &way_out_task_})
        connect(task, &BackgroundTask::busyChanged, this, &Panel::busyChanged);
    connect(&check_task_, &BackgroundTask::failed, this,
            [this](const QString& why) { take_problems(one_problem(why.toStdString())); });
    connect(&export_task_, &BackgroundTask::failed, this,
            [this](const QString& why) { emit told(one_problem(why.toStdString())); });
    for (PlanChart* const chart : {first_, second_}) {
        connect(chart, &PlanChart::picked, this, &PlanPanel::follow_entry);
        connect(chart, &PlanChart::opened, this, &PlanPanel::open);
        connect(chart, &PlanChart::menuWanted, this, &PlanPanel::show_menu);
    }
    connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        if (const auto entry = current())
            follow_entry(*entry);
    });
    connect(view_, &QTableView::doubleClicked, this,
            [this](const QModelIndex& index) { open(rows_->entry(index.row())); });
    connect(view_, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        if (const QModelIndex index = view_->indexAt(at); index.isValid())
            show_menu(rows_->entry(index.row()), view_->viewport()->mapToGlobal(at));
    });
}

void PlanPanel::show_answer()
{
    const QString nothing = tr("Say on the left what to plan, then press Plan.");
    plan_ = found_ ? std::make_shared<const ShownPlan>(in_currency(*found_, workspace_.price()))
                   : nullptr;
    rows_->show(plan_);
    std::vector<PlanPlot> plots = plan_ ? plots_of(*plan_) : std::vector<PlanPlot>();
    std::size_t next = 0;
    for (PlanChart* const chart : {first_, second_}) {
        const bool shown = next < plots.size();
        if (shown) {
            plots[next].y_title = in_currency(plots[next].y_title, workspace_.price());
            chart->show_plot(plan_, std::move(plots[next++]));
        } else
            chart->show_message(plan_ ? tr("There is nothing to draw.") : nothing);
        chart->setVisible(shown);
    }
    const bool clusters = plan_ && plan_->kind == PlanKind::clusters;
    const std::size_t entries = plan_ ? plan_->entries.size() : 0;
    tabs_->setVisible(plan_ != nullptr);
    tabs_->setTabVisible(0, entries > 0);
    tabs_->setTabText(0, (clusters ? tr("Clusters (%1)") : tr("Layouts (%1)")).arg(entries));
    TableData left_out{{tr("layouts"), tr("why they were left out")}, {}};
    if (plan_)
        for (const PlanLeftOut& one : plan_->left_out)
            left_out.rows.push_back({QString::number(one.layouts), one.reason});
    tabs_->setTabText(2, tr("Left out (%1)").arg(left_out.rows.size()));
    tabs_->setTabVisible(2, !left_out.rows.empty());
    left_out_->set_table(std::move(left_out));
    // The first sentence beside the headline is what answers a comparison.
    QString headline = nothing;
    QStringList why;
    if (plan_) {
        headline = plan_->headline;
        why = plan_->verdicts;
    } else if (!note_.isEmpty())
        headline = note_;
    headline_->setText(headline);
    verdicts_->setText(why.join(QStringLiteral("\n\n")));
    tabs_->setTabVisible(1, !why.isEmpty());
    fit_columns();
    tell();
}

void PlanPanel::fit_columns()
{
    view_->resizeColumnsToContents();
    const int most = fontMetrics().averageCharWidth() * 60;
    for (int column = 0; column < rows_->columnCount(); ++column)
        view_->setColumnWidth(column, std::min(view_->columnWidth(column) + 6, most));
    left_out_->view().resizeColumnsToContents();
}

} // namespace trainyard::gui
