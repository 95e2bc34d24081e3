#include "gui/topology/link_pane.h"

#include "gui/topology/link_facts.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/flat_button.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/plain_table.h"
#include "gui/widgets/theme.h"

#include <QHeaderView>
#include <QLabel>
#include <QRegularExpression>
#include <QSortFilterProxyModel>
#include <QTabWidget>
#include <QToolButton>

namespace trainyard::gui {

namespace {

// A number keeps its unit beside it.
QString unbroken(const QString& text)
{
    static const QRegularExpression before_unit(
        QStringLiteral("(?<=\\d) (?=%|[kMGTP]?B|[mun]?s\\b)"));
    return QString(text).replace(before_unit, QStringLiteral("\u00a0"));
}

} // namespace

LinkPane::LinkPane(ViewState& view, QWidget* parent)
    : QWidget(parent),
      view_(view),
      facts_(new QLabel),
      problem_(new QLabel),
      chart_(new LinkChart(view)),
      tabs_(new QTabWidget),
      links_(new LinkTable(this)),
      flows_(new FlowTable(this)),
      sorted_links_(new QSortFilterProxyModel(this)),
      sorted_flows_(new QSortFilterProxyModel(this))
{
    link_view_ = make_table(tr("Busiest links"), links_, sorted_links_);
    flow_view_ = make_table(tr("Flows on the link"), flows_, sorted_flows_);
    tabs_->addTab(link_view_, tr("Busiest links"));
    tabs_->addTab(flow_view_, tr("Flows on it"));
    tabs_->setDocumentMode(true);

    in_a_row(this, {{make_facts(), 2}, {chart_, 3}, {tabs_, 4}}, {.spacing = 4});

    connect(link_view_, &QTableView::activated, this, [this](const QModelIndex& index) {
        emit linkWanted(links_->link(sorted_links_->mapToSource(index).row()));
    });
    connect(link_view_, &QTableView::clicked, link_view_, &QTableView::activated);
    connect(flow_view_, &QTableView::activated, this, [this](const QModelIndex& index) {
        const auto at = static_cast<std::size_t>(sorted_flows_->mapToSource(index).row());
        Selection selection = view_.selection();
        selection.record = flows_->flows().largest[at].record;
        view_.select(selection);
    });
    connect(flow_view_, &QTableView::clicked, flow_view_, &QTableView::activated);
    show_link(std::nullopt);
}

QTableView* LinkPane::make_table(const QString& name, QAbstractItemModel* model,
                                 QSortFilterProxyModel* sorted)
{
    sorted->setSourceModel(model);
    sorted->setSortRole(LinkTable::sort_role);
    QTableView* const table = plain_table(name);
    table->setModel(sorted);
    table->setSortingEnabled(true);
    table->sortByColumn(1, Qt::DescendingOrder); // utilisation, bytes
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->horizontalHeader()->setStretchLastSection(true);
    return table;
}

QWidget* LinkPane::make_facts()
{
    auto* const box = new QWidget;
    facts_->setWordWrap(true);
    facts_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    facts_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    problem_->setWordWrap(true);
    auto* const buttons = in_a_row({}, {.spacing = 2});
    const auto add = [&](const QString& name, const QString& tip, char what) {
        QToolButton* const button = tipped_button(name, tip);
        connect(button, &QToolButton::clicked, this,
                [this, what] { emit editWanted(QChar::fromLatin1(what)); });
        buttons->addWidget(button);
        edits_.push_back(button);
    };
    add(tr("Halve"), tr("Half of what the link has now (H)"), 'h');
    add(tr("Rate ..."), tr("Another rate for the link (R)"), 'r');
    add(tr("Break"), tr("Cut the link (B)"), 'b');
    add(tr("Mend"), tr("As it was built (M)"), 'm');
    buttons->addStretch(1);
    in_a_column(box, {{facts_, 1}, problem_, buttons}, {.margins = {6, 2, 2, 2}, .spacing = 2});
    return box;
}

void LinkPane::set_run(std::shared_ptr<const TopologyRun> run)
{
    run_ = std::move(run);
    if (!run_)
        links_->set_picture(nullptr);
}

void LinkPane::set_picture(std::shared_ptr<const TopologyPicture> picture)
{
    time_ = picture->time;
    links_->set_picture(std::move(picture));
    fill();
}

void LinkPane::show_link(std::optional<LinkId> link)
{
    const bool other = link != link_;
    link_ = link;
    if (other) {
        problem_->clear();
        tabs_->setCurrentIndex(link ? 1 : 0);
    }
    chart_->show_link(run_, link_);
    fill();
}

void LinkPane::say(const QString& problem)
{
    colour_text(problem_, sign_colours(palette()).error);
    problem_->setText(problem);
}

void LinkPane::fill()
{
    const bool any = run_ != nullptr && link_ && link_->value < run_->capacity.size();
    chart_->setVisible(any);
    for (QToolButton* const button : edits_)
        button->setEnabled(any);
    if (!any) {
        const QString help =
            tr("<p>Click a link, or choose one of the busiest, for its use over time and the flows "
               "on it.</p><p>Arrow keys: neighbours; [ ]: their links; Return, Backspace: unfold, "
               "fold; + - F: zoom; Space: play.</p>");
        facts_->setText(place_ + help);
        flows_->set_flows(run_, {});
        tabs_->setTabText(1, tr("Flows on it"));
        return;
    }
    QString html = QStringLiteral("<b>%1</b><table cellspacing=\"0\" cellpadding=\"1\">")
                       .arg(QString::fromStdString(run_->name(*link_)).toHtmlEscaped());
    for (const LinkFact& fact : link_facts(*run_, *link_, time_))
        html += QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(fact.name.toHtmlEscaped(), unbroken(fact.value).toHtmlEscaped());
    facts_->setText(html + QStringLiteral("</table>"));
    const SimTime to = time_.moment() ? time_.to + SimTime(1) : time_.to;
    flows_->set_flows(run_, run_->loads->flows(*link_, time_.from, to, FlowTable::most));
    tabs_->setTabText(1, tr("Flows on it (%L1)").arg(flows_->flows().count));
}

} // namespace trainyard::gui
