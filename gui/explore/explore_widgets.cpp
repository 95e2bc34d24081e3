// What the explorer's screen is made of.

#include "gui/explore/explore_panel.h"
#include "gui/explore/nothing_fits.h"
#include "gui/explore/ranges_view.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/plain_table.h"
#include "gui/widgets/progress_strip.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

namespace trainyard::gui {

namespace {

constexpr int facts_after_ms = 120;
constexpr int filter_after_ms = 120;

} // namespace

ExplorePanel::ExplorePanel(Workspace& workspace, QWidget* parent)
    : Panel(parent),
      workspace_(workspace),
      ranges_(new RangesView),
      rows_(new PointsModel(store_, marks_, this)),
      scatter_(new ScatterPanel(store_, marks_, *rows_)),
      parallel_(new ParallelPanel(store_, marks_, *rows_)),
      importance_(new ImportancePanel(store_)),
      compare_(new ComparePanel(workspace)),
      facts_timer_(new QTimer(this)),
      filter_timer_(new QTimer(this))
{
    auto* const column = in_a_column(this, {}, {.margins = {4, 2, 4, 4}, .spacing = 2});
    make_tools(*column);
    reading_ = new ProgressStrip;
    column->addWidget(reading_);
    tabs_ = new QTabWidget;
    tabs_->setDocumentMode(true);
    tabs_->addTab(make_points(), tr("Points"));
    tabs_->addTab(compare_, tr("Compare"));
    auto* const all = new QSplitter(Qt::Horizontal);
    all->addWidget(ranges_);
    all->addWidget(tabs_);
    all->setStretchFactor(0, 0);
    all->setStretchFactor(1, 1);
    column->addWidget(all, 1);
    for (QTimer* const timer : {facts_timer_, filter_timer_})
        timer->setSingleShot(true);
    facts_timer_->setInterval(facts_after_ms);
    filter_timer_->setInterval(filter_after_ms);
    connect_all();
    tell_progress();
    show_page();
    find_facts();
}

void ExplorePanel::make_tools(QVBoxLayout& layout)
{
    preset_ = new QComboBox;
    preset_->setAccessibleName(tr("preset of what is swept"));
    for (const Preset preset :
         {Preset::parallel, Preset::memory, Preset::cluster, Preset::everything})
        preset_->addItem(title_of(preset));
    start_ = new QPushButton(tr("Sweep"));
    pause_ = new QToolButton;
    cancel_ = new QToolButton;
    cancel_->setText(tr("Cancel"));
    cancel_->setToolTip(tr("end the sweep and keep what was found"));
    save_ = new QToolButton;
    save_->setText(tr("Save..."));
    save_->setToolTip(tr("write the points to a file that the window opens again (Ctrl+O)"));
    save_->setEnabled(false);
    show_ranges_ = new QToolButton;
    show_ranges_->setText(tr("Ranges"));
    show_ranges_->setToolTip(tr("show what is swept"));
    show_ranges_->setCheckable(true);
    show_ranges_->setChecked(true);
    progress_ = new QProgressBar;
    progress_->setMaximumWidth(fontMetrics().averageCharWidth() * 16);
    progress_->setTextVisible(false);
    progress_->setAccessibleName(tr("progress of the sweep"));
    state_ = new ElidedLabel;
    state_->setObjectName(QStringLiteral("state"));
    layout.addLayout(
        in_a_row({show_ranges_, preset_, start_, pause_, cancel_, progress_, {state_, 1}, save_}));
}

QWidget* ExplorePanel::make_points()
{
    message_ = new QLabel;
    message_->setWordWrap(true);
    message_->setAlignment(Qt::AlignCenter);
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    message_->setMargin(12);
    page_ = new QStackedWidget;
    pictures_ = new QTabWidget;
    pictures_->setDocumentMode(true);
    pictures_->addTab(scatter_, tr("Scatter"));
    pictures_->addTab(parallel_, tr("Parallel coordinates"));
    pictures_->addTab(importance_, tr("Importance"));
    page_->addWidget(pictures_);
    page_->addWidget(message_);
    auto* const both = new QSplitter(Qt::Vertical);
    both->addWidget(page_);
    both->addWidget(make_table());
    both->setStretchFactor(0, 3);
    both->setStretchFactor(1, 2);
    both->setSizes({340, 200});
    return both;
}

QWidget* ExplorePanel::make_table()
{
    auto* const box = new QWidget;
    filter_ = new QLineEdit;
    filter_->setPlaceholderText(tr("Filter: tp=4 memory<60 full"));
    filter_->setToolTip(tr("comparisons of fields and figures, and words of values and reasons; "
                           "all must hold"));
    filter_->setAccessibleName(tr("filter of the table"));
    filter_->setClearButtonEnabled(true);
    shown_ = new QComboBox;
    shown_->addItems({tr("all points"), tr("those that can be"), tr("the marked"),
                      tr("the Pareto front")}); // as Shown
    shown_->setAccessibleName(tr("points in the table"));
    count_ = new QLabel;
    auto* const row = in_a_row({{filter_, 1}, shown_, count_});
    view_ = plain_table(tr("points found"));
    view_->setObjectName(QStringLiteral("points"));
    view_->setModel(rows_);
    view_->setSortingEnabled(true);
    view_->horizontalHeader()->setStretchLastSection(true);
    view_->setContextMenuPolicy(Qt::CustomContextMenu);
    view_->installEventFilter(this);
    in_a_column(box, {row, {view_, 1}}, {.margins = {0, 2, 0, 0}, .spacing = 2});
    return box;
}

void ExplorePanel::connect_all()
{
    connect(&workspace_.document(), &Document::changed, this, &ExplorePanel::follow_document);
    connect(&workspace_, &Workspace::runChanged, this, &ExplorePanel::follow_run);
    connect(&workspace_, &Workspace::priceChanged, this, &ExplorePanel::follow_price);
    connect(this, &Panel::sightChanged, this, &ExplorePanel::follow_sight);
    connect(compare_, &Panel::busyChanged, this, &Panel::busyChanged);
    connect(facts_timer_, &QTimer::timeout, this, &ExplorePanel::find_facts);
    connect(reading_, &ProgressStrip::cancelled, this, [this] {
        file_task_.cancel();
        cancel_facts();
    });
    connect(&facts_task_, &BackgroundTask::failed, this, &ExplorePanel::refuse_facts);
    connect(&facts_task_, &BackgroundTask::busyChanged, this, [this] {
        if (facts_task_.busy())
            reading_->begin(tr("reading what there is to sweep"));
        else
            reading_->end();
        emit busyChanged();
    });
    connect(save_, &QToolButton::clicked, this, &ExplorePanel::ask_save);
    connect(&file_task_, &BackgroundTask::busyChanged, this, [this] {
        if (file_task_.busy())
            reading_->begin(tr("points of a file"));
        else
            reading_->end();
        emit busyChanged();
    });
    connect(&file_task_, &BackgroundTask::failed, this, [this](const QString& message) {
        emit told({{"", 0, "", message.toStdString(), "", Severity::error}});
    });
    connect(ranges_, &RangesView::changed, this, &ExplorePanel::follow_ranges);
    connect(preset_, &QComboBox::activated, this, &ExplorePanel::apply_preset);
    connect(show_ranges_, &QToolButton::toggled, ranges_, &QWidget::setVisible);
    connect(start_, &QPushButton::clicked, this, &ExplorePanel::start);
    connect(cancel_, &QToolButton::clicked, &job_, &SweepJob::cancel);
    connect(pause_, &QToolButton::clicked, this, [this] {
        job_.set_paused(!job_.paused());
        tell_progress();
    });
    connect(&job_, &SweepJob::found, this, &ExplorePanel::take_points);
    connect(&job_, &SweepJob::ended, this, &ExplorePanel::take_end);
    connect(&marks_, &Marks::changed, this, &ExplorePanel::follow_marks);
    connect(&marks_, &Marks::currentChanged, this, &ExplorePanel::follow_current);
    connect(view_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &ExplorePanel::take_rows);
    connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &ExplorePanel::take_rows);
    connect(view_, &QTableView::doubleClicked, this,
            [this](const QModelIndex& index) { open(rows_->point(index.row())); });
    connect(view_, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        if (const QModelIndex index = view_->indexAt(at); index.isValid())
            show_menu(rows_->point(index.row()), view_->viewport()->mapToGlobal(at));
    });
    connect_pictures();
    connect(&scatter_->chart(), &ScatterChart::frontChanged, this, [this] {
        std::vector<std::uint32_t> points;
        for (const FrontPoint& one : scatter_->chart().front().points())
            points.push_back(one.point);
        rows_->set_front(std::move(points));
    });
    connect(compare_, &ComparePanel::pinsChanged, this, &ExplorePanel::follow_pins);
    connect(filter_, &QLineEdit::textChanged, filter_timer_, qOverload<>(&QTimer::start));
    connect(filter_timer_, &QTimer::timeout, this, [this] {
        const QString problem = rows_->set_filter(filter_->text());
        count_->setText(problem.isEmpty() ? tr("%L1 rows").arg(rows_->shown_count()) : problem);
    });
    connect(shown_, &QComboBox::activated, this, [this](int shown) {
        rows_->set_shown(static_cast<Shown>(shown));
        count_->setText(tr("%L1 rows").arg(rows_->shown_count()));
    });
}

void ExplorePanel::connect_pictures()
{
    connect(&scatter_->chart(), &ScatterChart::menuWanted, this, &ExplorePanel::show_menu);
    connect(scatter_, &ScatterPanel::opened, this, &ExplorePanel::open);
    connect(scatter_, &ScatterPanel::pinWanted, this, &ExplorePanel::pin);
    connect(scatter_, &ScatterPanel::choiceChanged, this, &ExplorePanel::follow_colour);
    parallel_->set_describe([this](std::uint32_t point) { return scatter_->describe(point); });
    connect(parallel_, &ParallelPanel::menuWanted, this, &ExplorePanel::show_menu);
    connect(parallel_, &ParallelPanel::opened, this, &ExplorePanel::open);
    connect(parallel_, &ParallelPanel::pinWanted, this, &ExplorePanel::pin);
    connect(parallel_, &ParallelPanel::colourChosen, this, [this](const QString& key) {
        ScatterChoice choice = scatter_->choice();
        choice.colour = key;
        scatter_->set_choice(choice);
        follow_colour();
    });
    connect(importance_, &ImportancePanel::axisWanted, this, &ExplorePanel::show_on_axis);
    connect(importance_, &Panel::busyChanged, this, &Panel::busyChanged);
}

// Wide enough for the names and for what stands below them.
void ExplorePanel::fit_columns()
{
    const QFontMetrics metrics = view_->fontMetrics();
    const int least = metrics.horizontalAdvance(QStringLiteral("0000000 k"));
    for (int column = 0; column + 1 < rows_->columnCount(); ++column) {
        const QString name = rows_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        view_->setColumnWidth(column,
                              std::max(least, metrics.horizontalAdvance(name)) + metrics.height());
    }
    const QSignalBlocker quiet(view_->horizontalHeader());
    view_->horizontalHeader()->setSortIndicator(rows_->sort_column(), rows_->sort_order());
}

} // namespace trainyard::gui
