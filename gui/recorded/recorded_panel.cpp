#include "gui/recorded/recorded_panel.h"

#include "gui/model/qt_text.h"
#include "gui/recorded/recorded_facts.h"
#include "gui/recorded/recorded_tables.h"
#include "gui/timeline/timeline_search.h"
#include "gui/timeline/timeline_texts.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/progress_strip.h"
#include "sim/base/units.h"
#include "sim/report/traces/layer_sides_text.h"
#include "sim/report/traces/recorded_parts.h"
#include "sim/report/traces/recorded_run.h"
#include "sim/report/traces/side_by_side_text.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFontDatabase>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTextBrowser>
#include <QToolBar>

namespace trainyard::gui {

namespace {

constexpr std::size_t report_width = 100; // letters

QString trace_filter()
{
    return RecordedPanel::tr("Traces (*.json *.json.gz *.gz *.et *.sqlite *.txt *.log);;"
                             "All files (*)");
}

// Why nothing stands beside it.
QString first_problem(const Problems& problems)
{
    const Diagnostic& first = problems.front();
    QString text = QStringLiteral("%1 %2").arg(QFileInfo(text_of(first.file)).fileName(),
                                               text_of(first.message));
    if (!first.hint.empty())
        text += QStringLiteral(" (%1)").arg(text_of(first.hint));
    return text;
}

} // namespace

RecordedPanel::RecordedPanel(Workspace& workspace, QWidget* parent)
    : Panel(parent),
      workspace_(workspace),
      recording_(workspace.live().session()),
      canvas_(new TimelineCanvas(times_)),
      search_(new TimelineSearch(*canvas_)),
      progress_(new ProgressStrip),
      pages_(new QStackedWidget),
      start_text_(new QLabel),
      steps_(new QComboBox),
      head_(new ElidedLabel),
      beside_(new QLabel),
      tabs_(new QTabWidget),
      details_(new QTextBrowser),
      report_(new QPlainTextEdit)
{
    auto* const tools = new QToolBar;
    make_tools(*tools);
    pages_->addWidget(make_start());
    pages_->addWidget(make_body());
    in_a_column(this, {tools, {pages_, 1}, progress_}, {.spacing = 2});
    connect(&recording_, &Recording::changed, this, &RecordedPanel::follow_view);
    connect(&recording_, &Recording::busyChanged, this, &RecordedPanel::follow_busy);
    connect(&recording_, &Recording::busyChanged, this, &Panel::busyChanged);
    connect(&recording_, &Recording::progressed, progress_, &ProgressStrip::set);
    connect(&recording_, &Recording::told, this, &RecordedPanel::told);
    connect(&recording_, &Recording::opened, this, &RecordedPanel::opened);
    connect(&recording_, &Recording::saved, this, [this](const QString& file) {
        say(tr("Written: %1").arg(QFileInfo(file).fileName()));
    });
    connect(progress_, &ProgressStrip::cancelled, this, &RecordedPanel::cancel);
    connect(canvas_, &TimelineCanvas::pinnedChanged, this, &RecordedPanel::fill_details);
    connect(details_, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
        const std::uint32_t slice = link.path().toUInt();
        if (canvas_->model() && slice < canvas_->model()->data.slices.size())
            canvas_->go_to(slice);
    });
    connect(steps_, &QComboBox::activated, this,
            [this](int index) { recording_.show_step(steps_->itemData(index).toInt()); });
    connect(&workspace, &Workspace::runChanged, this, &RecordedPanel::follow_run);
    connect(this, &Panel::sightChanged, this, &RecordedPanel::follow_run);
    follow_view();
}

QAction* RecordedPanel::add_tool(QToolBar& tools, const QString& text, const QString& tip)
{
    QAction* const action = tools.addAction(text);
    action->setToolTip(tip);
    return action;
}

void RecordedPanel::make_tools(QToolBar& tools)
{
    tools.setMinimumWidth(240); // where it is narrow, the last ones go into a menu
    QAction* const open = add_tool(tools, tr("Open traces ..."),
                                   tr("One file a rank: of Kineto, Nsight Systems, Chakra"));
    connect(open, &QAction::triggered, this, &RecordedPanel::ask_open);
    QAction* const folder = add_tool(tools, tr("Folder ..."), tr("All traces of a folder"));
    connect(folder, &QAction::triggered, this, &RecordedPanel::ask_folder);
    add_ = add_tool(tools, tr("Add ranks ..."), tr("More traces of the same job"));
    connect(add_, &QAction::triggered, this, &RecordedPanel::ask_add);
    steps_->setAccessibleName(tr("The step that the timeline shows"));
    steps_->setToolTip(tr("The step that the timeline shows; the tables are of all"));
    steps_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    tools.addWidget(steps_);
    tools.addSeparator();
    tools.addWidget(search_);
    for (const auto& [text, tip, slot] :
         {std::tuple(tr("Unfold"), tr("Show every stream"), &TimelineCanvas::openAll),
          std::tuple(tr("Fold"), tr("Show ranks only"), &TimelineCanvas::closeAll),
          std::tuple(tr("Fit"), tr("Show all of both steps (F)"), &TimelineCanvas::fitAll)})
        connect(add_tool(tools, text, tip), &QAction::triggered, canvas_, slot);
    tools.addSeparator();
    save_ = add_tool(tools, tr("Save report ..."),
                     tr("As trainyard import trace writes it: a page, or JSON"));
    connect(save_, &QAction::triggered, this, &RecordedPanel::ask_save);
    close_ = add_tool(tools, tr("Close traces"), tr("Let go of what was read"));
    connect(close_, &QAction::triggered, &recording_, &Recording::close);
}

// What there is to do while nothing is read.
QWidget* RecordedPanel::make_start()
{
    auto* const page = new QWidget;
    start_text_->setWordWrap(true);
    start_text_->setAlignment(Qt::AlignCenter);
    start_text_->setText(
        tr("Open the traces of a job that ran, one file a rank: what torch.profiler writes "
           "(Kineto), what Nsight Systems exports (.sqlite), or execution traces of PyTorch and "
           "Chakra. Files packed with gzip need not be unpacked.\n\nWith the scenario of the same "
           "job open, its simulated step lies below the recorded one."));
    auto* const open = new QPushButton(tr("Open &traces ..."));
    open->setObjectName(QStringLiteral("recorded/open"));
    connect(open, &QPushButton::clicked, this, &RecordedPanel::ask_open);
    in_a_column(page, {room(1), start_text_, {open, 0, Qt::AlignCenter}, room(1)},
                {.margins = {30, 20, 30, 20}});
    return page;
}

TablePart* RecordedPanel::add_part(const char* key, const QString& title)
{
    auto* const part = new TablePart(QStringLiteral("recorded-") + QLatin1String(key), title);
    tabs_->addTab(part, title);
    return part;
}

QWidget* RecordedPanel::make_body()
{
    differences_ = add_part("differences", tr("Differences"));
    ranks_ = add_part("ranks", tr("Ranks"));
    transfers_ = add_part("transfers", tr("Transfers"));
    kernels_ = add_part("kernels", tr("Kernels"));
    waits_ = add_part("waits", tr("Who waits"));
    report_->setReadOnly(true);
    report_->setLineWrapMode(QPlainTextEdit::NoWrap);
    report_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    report_->setAccessibleName(tr("The whole report"));
    tabs_->addTab(report_, tr("Report"));
    tabs_->setDocumentMode(true);
    details_->setOpenLinks(false);
    details_->setAccessibleName(tr("Details of the operation"));
    auto* const below = new QSplitter(Qt::Horizontal);
    below->addWidget(details_);
    below->addWidget(tabs_);
    below->setStretchFactor(0, 1);
    below->setStretchFactor(1, 3);
    below->setSizes({200, 600});
    auto* const both = new QSplitter(Qt::Vertical);
    both->addWidget(canvas_);
    both->addWidget(below);
    both->setStretchFactor(0, 3);
    both->setStretchFactor(1, 2);
    both->setSizes({360, 240});
    auto* const page = new QWidget;
    auto* const column = in_a_column(page, {}, {.spacing = 1});
    beside_->setTextFormat(Qt::PlainText);
    beside_->setWordWrap(true);
    QSizePolicy narrow = beside_->sizePolicy(); // as wide as its place, as high as its lines
    narrow.setHorizontalPolicy(QSizePolicy::Ignored);
    beside_->setSizePolicy(narrow);
    for (QLabel* const label : {static_cast<QLabel*>(head_), beside_}) {
        label->setContentsMargins(4, 0, 4, 0);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        column->addWidget(label);
    }
    head_->setFont(bold(head_->font()));
    column->addWidget(both, 1);
    setFocusProxy(canvas_);
    return page;
}

void RecordedPanel::ask_open()
{
    const QStringList files =
        QFileDialog::getOpenFileNames(this, tr("Open traces"), QString(), trace_filter());
    if (!files.isEmpty())
        emit wanted(files);
}

void RecordedPanel::ask_folder()
{
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a folder of traces"));
    if (!folder.isEmpty())
        emit wanted({folder});
}

void RecordedPanel::ask_add()
{
    std::vector<std::string> files;
    for (const QString& file :
         QFileDialog::getOpenFileNames(this, tr("Add ranks"), QString(), trace_filter()))
        files.push_back(file.toStdString());
    if (!files.empty())
        recording_.add(files);
}

void RecordedPanel::ask_save()
{
    const QString file =
        QFileDialog::getSaveFileName(this, tr("Save the report"), QStringLiteral("recorded.html"),
                                     tr("Page (*.html);;Figures (*.json)"));
    if (!file.isEmpty())
        recording_.save(file.toStdString());
}

// Only while it is looked at. A scenario that is wrong leaves the last one beside.
void RecordedPanel::follow_run()
{
    if (in_sight() && workspace_.run() && workspace_.run()->outcome)
        recording_.set_scenario(workspace_.run()->file);
}

void RecordedPanel::cancel()
{
    if (recording_.cancel())
        say(tr("Cancelled: what was shown before stays."));
}

void RecordedPanel::follow_busy()
{
    if (recording_.busy()) {
        progress_->begin(tr("reading the trace"));
        return;
    }
    progress_->end();
}

void RecordedPanel::follow_view()
{
    const auto& view = recording_.view();
    pages_->setCurrentIndex(view ? 1 : 0);
    for (QAction* const action : {add_, close_, save_})
        action->setEnabled(view != nullptr);
    steps_->setEnabled(view && view->recorded->steps.size() > 1);
    search_->setEnabled(view && view->timeline);
    for (QWidget* const timed : {static_cast<QWidget*>(canvas_), static_cast<QWidget*>(details_)})
        timed->setVisible(view && view->timeline);
    canvas_->set_model(view ? view->timeline : nullptr);
    search_->search();
    fill_steps();
    fill_headline();
    fill_tables();
    fill_details();
}

void RecordedPanel::fill_steps()
{
    steps_->clear();
    const auto& view = recording_.view();
    if (!view)
        return;
    for (const int step : view->recorded->steps)
        steps_->addItem(tr("step %1").arg(step), step);
    steps_->setCurrentIndex(steps_->findData(view->step));
}

void RecordedPanel::fill_headline()
{
    const auto& view = recording_.view();
    if (!view)
        return;
    QStringList head;
    for (const std::string& doubt : view->run.doubts)
        head << tr("Doubtful: %1").arg(text_of(doubt));
    for (const std::string& line : recorded_head_lines(view->run))
        head << text_of(line);
    head_->set_text(head.join(QStringLiteral("; ")));
    if (!view->timeline)
        say(tr("An execution trace does not say when its operations ran: the tables tell what "
               "there is to do. One of torch.profiler or Nsight Systems has a timeline."));
    else if (view->sides)
        say(tr("Simulated: %1, %2 of the recorded step. %3")
                .arg(text_of(to_display(view->sides->simulated)),
                     text_of(ratio_text(view->sides->recorded, view->sides->simulated)),
                     text_of(verdict_sentence(view->run))));
    else if (!view->alone.empty())
        say(tr("Shown alone: %1").arg(first_problem(view->alone)));
    else
        say(tr("%1 Open the scenario of the same job to see its simulated step below.")
                .arg(text_of(verdict_sentence(view->run)))
                .trimmed());
}

QString RecordedPanel::headline() const
{
    return head_->text() + '\n' + beside_->text();
}

void RecordedPanel::fill_tables()
{
    const auto& view = recording_.view();
    const RunSummary none;
    const RunSummary& run = view ? view->run : none;
    differences_->set_table(view && view->sides ? differences_table(*view->sides) : TableData{});
    ranks_->set_table(ranks_table(run));
    transfers_->set_table(transfers_table(run));
    kernels_->set_table(kernels_table(run));
    waits_->set_table(waits_table(run));
    const bool sides = view && view->sides;
    const int differences = tabs_->indexOf(differences_);
    const bool fresh = sides && !tabs_->isTabVisible(differences);
    tabs_->setTabVisible(differences, sides);
    if (fresh)
        tabs_->setCurrentIndex(differences);
    tabs_->setTabVisible(tabs_->indexOf(waits_), !run.stragglers.empty());
    std::string report;
    if (view) {
        report = recorded_run_text(run, report_width);
        if (sides)
            report += "\n" + side_by_side_text(*view->sides, report_width);
    }
    report_->setPlainText(text_of(report));
}

void RecordedPanel::fill_details()
{
    const auto& view = recording_.view();
    if (!view || canvas_->pinned() == nothing || canvas_->model() == nullptr) {
        details_->setHtml(timeline_help());
        return;
    }
    details_->setHtml(
        details_html(recorded_facts(*canvas_->model(), canvas_->pinned(), view->recorded->job)));
}

void RecordedPanel::say(const QString& text)
{
    beside_->setText(text);
}

std::vector<Panel*> RecordedPanel::parts()
{
    std::vector<Panel*> out{this};
    for (TablePart* const part : {differences_, ranks_, transfers_, kernels_, waits_})
        out.push_back(part);
    return out;
}

std::vector<KeyHelp> RecordedPanel::key_help() const
{
    return timeline_keys();
}

void RecordedPanel::paint_to(QPainter& painter, const QSize& size)
{
    if (pages_->currentIndex() == 0)
        paint_message(painter, size, start_text_->text(), palette());
    else
        canvas_->paint_to(painter, size);
}

TableData RecordedPanel::table() const
{
    return recording_.view() && recording_.view()->sides ? differences_->table() : ranks_->table();
}

} // namespace trainyard::gui
