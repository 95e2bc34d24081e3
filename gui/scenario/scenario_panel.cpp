#include "gui/scenario/scenario_panel.h"

#include "gui/model/choices.h"
#include "gui/scenario/form_delegate.h"
#include "gui/scenario/form_filter.h"
#include "gui/scenario/form_model.h"
#include "gui/scenario/json_view.h"
#include "gui/scenario/stepper.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"

#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QShortcut>
#include <QStackedWidget>
#include <QTabBar>
#include <QToolButton>
#include <QTreeView>
#include <algorithm>
#include <utility>

namespace trainyard::gui {

namespace {

constexpr int hint_lines = 3;

} // namespace

ScenarioPanel::ScenarioPanel(Workspace& workspace, QWidget* parent)
    : Panel(parent),
      workspace_(workspace),
      form_(new FormModel(workspace.document(), this)),
      filtered_(new FormFilter(this)),
      tabs_(new QTabBar),
      json_(new JsonView(workspace)),
      tree_(new QTreeView),
      filter_(new QLineEdit),
      only_given_(new QToolButton),
      hint_(new QLabel),
      add_(new QToolButton),
      remove_(new QToolButton),
      reset_(new QToolButton),
      blocked_(new ElidedLabel)
{
    auto* const pages = new QStackedWidget;
    pages->addWidget(make_fields());
    pages->addWidget(json_);
    tabs_->addTab(tr("Fields"));
    tabs_->addTab(tr("JSON"));
    tabs_->setDrawBase(false);
    tabs_->setExpanding(false);
    tabs_->setAccessibleName(tr("fields or JSON"));
    connect(tabs_, &QTabBar::currentChanged, pages, &QStackedWidget::setCurrentIndex);
    in_a_column(this, {make_steppers(), tabs_, {pages, 1}}, {.margins = {8, 8, 8, 8}});

    connect(&workspace_.document(), &Document::changed, this, &ScenarioPanel::follow_document);
    connect(&workspace_, &Workspace::runChanged, this, &ScenarioPanel::follow);
    connect(&workspace_, &Workspace::problemsChanged, this, &ScenarioPanel::follow_problems);
    follow_problems();
    follow();
    setFocusProxy(tree_);
}

QWidget* ScenarioPanel::make_steppers()
{
    auto* const box = new QWidget;
    auto* const column = in_a_column(box, {}, {.spacing = 2});
    for (const Slider& slider : sliders()) {
        const FormField* const field = find_field(scenario_form(), slider.field);
        auto* const stepper = new Stepper(slider.name, QString::fromStdString(field->help));
        stepper->setObjectName(QString::fromStdString(slider.field));
        connect(stepper, &Stepper::chosen, this,
                [this, name = slider.field, number = steppers_.size()](const QString& value,
                                                                       bool dragging) {
                    moved_ = number;
                    moving_ = true;
                    Document& document = workspace_.document();
                    document.edit(slider_edits(name, value, document.find("strategy.dp")),
                                  dragging ? Gesture::continuing : Gesture::single);
                    moving_ = false;
                });
        connect(stepper, &Stepper::let_go, this, &ScenarioPanel::let_go);
        steppers_.push_back(stepper);
        column->addWidget(stepper);
    }
    blocked_->setFixedHeight(fontMetrics().lineSpacing());
    column->addWidget(blocked_);
    return box;
}

bool ScenarioPanel::dragging() const
{
    return std::ranges::any_of(steppers_, &Stepper::dragging);
}

bool ScenarioPanel::typed() const
{
    return json_->typed();
}

QWidget* ScenarioPanel::make_fields()
{
    auto* const page = new QWidget;
    QWidget* const tree = make_tree();
    auto* const finding = in_a_row({{filter_, 1}, only_given_});
    in_a_column(page, {finding, {tree, 1}, hint_, make_buttons()});
    hint_->setWordWrap(true);
    hint_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    hint_->setFixedHeight(hint_lines * fontMetrics().lineSpacing()); // no row moves for a help
    return page;
}

QWidget* ScenarioPanel::make_tree()
{
    filter_->setPlaceholderText(tr("Find a field (Ctrl+F)"));
    filter_->setClearButtonEnabled(true);
    filter_->setAccessibleName(tr("find a field"));
    auto* const find = new QShortcut(QKeySequence::Find, this);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, filter_, qOverload<>(&QLineEdit::setFocus));

    filtered_->setSourceModel(form_);
    only_given_->setText(tr("Only what is set"));
    only_given_->setCheckable(true);
    only_given_->setToolTip(tr("Show only the fields that the scenario gives"));
    connect(only_given_, &QToolButton::toggled, this, [this](bool only) {
        filtered_->set_only_given(only);
        if (only)
            tree_->expandAll();
    });
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
        filtered_->setFilterFixedString(text);
        if (!text.isEmpty())
            tree_->expandAll();
    });

    auto* const delegate = new FormDelegate(this);
    connect(delegate, &FormDelegate::typed, hint_, [this](const QString& problem) {
        colour_text(hint_, sign_colours(palette()).error);
        hint_->setText(problem);
    });
    tree_->setModel(filtered_);
    tree_->setItemDelegate(delegate);
    tree_->setAlternatingRowColors(true);
    tree_->setUniformRowHeights(true);
    // Not where the current row merely changes: the arrow keys would then change values.
    tree_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::SelectedClicked |
                           QAbstractItemView::EditKeyPressed | QAbstractItemView::AnyKeyPressed);
    tree_->setTabKeyNavigation(false);
    for (const int key : {Qt::Key_Return, Qt::Key_Enter}) // as F2
        new QShortcut(QKeySequence(key), tree_, this, &ScenarioPanel::edit_current,
                      Qt::WidgetShortcut);
    tree_->setAccessibleName(tr("fields of the scenario"));
    tree_->header()->setStretchLastSection(true);
    const auto set_width = [this](int column, int letters) {
        tree_->setColumnWidth(column, letters * fontMetrics().averageCharWidth());
    };
    set_width(FormModel::name_column, 30);
    set_width(FormModel::value_column, 18);
    set_width(FormModel::takes_column, 24);
    set_width(FormModel::origin_column, 10);
    for (const char* group : {"training", "strategy"})
        tree_->expand(filtered_->mapFromSource(form_->index_of(group)));
    connect(tree_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &ScenarioPanel::follow_selection);
    return tree_;
}

QWidget* ScenarioPanel::make_buttons()
{
    auto* const box = new QWidget;
    add_->setText(tr("Add perturbation"));
    remove_->setText(tr("Remove"));
    reset_->setText(tr("Back to default"));
    in_a_row(box, {add_, remove_, room(1), reset_});
    connect(add_, &QToolButton::clicked, this, &ScenarioPanel::add_perturbation);
    // First an editor that is open ends: it would give back what is taken away.
    connect(remove_, &QToolButton::clicked, this, [this] {
        tree_->setFocus();
        form_->remove_entry(current());
    });
    connect(reset_, &QToolButton::clicked, this, [this] {
        tree_->setFocus();
        form_->reset(current());
    });
    follow_selection();
    return box;
}

void ScenarioPanel::add_perturbation()
{
    const QModelIndex list = form_->index_of("perturbations");
    form_->add_entry(list);
    filter_->clear(); // else it may not show what was added
    const QModelIndex shown =
        filtered_->mapFromSource(form_->index(form_->rowCount(list) - 1, 0, list));
    tree_->expand(shown.parent());
    tree_->expand(shown);
    tree_->setCurrentIndex(shown);
    tree_->scrollTo(shown, QAbstractItemView::PositionAtTop);
}

void ScenarioPanel::edit_current()
{
    const QModelIndex value = filtered_->buddy(tree_->currentIndex());
    if (value.flags() & Qt::ItemIsEditable)
        tree_->edit(value);
}

QModelIndex ScenarioPanel::current() const
{
    return filtered_->mapToSource(tree_->currentIndex()).siblingAtColumn(0);
}

void ScenarioPanel::follow_selection()
{
    const FormModel::Row row = form_->row_at(current());
    remove_->setEnabled(row.entry >= 0);
    reset_->setEnabled(row.field != nullptr && row.entry < 0 && !row.field->required &&
                       workspace_.document().find(row.path) != nullptr);
    reset_->setText(row.field != nullptr && row.field->kind == FieldKind::unknown
                        ? tr("Remove the key")
                        : tr("Back to default"));
    hint_->setPalette(palette());
    hint_->setText(row.field != nullptr ? QString::fromStdString(row.field->help) : QString());
}

void ScenarioPanel::follow_document()
{
    if (!moving_) {
        moved_.reset();
        brought_.clear();
    }
    filtered_->follow();
    follow();
}

void ScenarioPanel::follow()
{
    for (std::size_t i = 0; i < steppers_.size(); ++i) {
        const std::string& field = sliders()[i].field;
        const Json* const given = workspace_.document().find(field);
        steppers_[i]->set_values(slider_values(field, workspace_.run().get()),
                                 slider_text(field, given));
        steppers_[i]->setVisible(slider_applies(field, workspace_.run().get(), given));
    }
    follow_selection();
    look_ahead();
}

// The slider that was moved last is the likeliest to be moved next.
void ScenarioPanel::look_ahead()
{
    const std::shared_ptr<const RunView>& run = workspace_.run();
    if (!moved_ || !workspace_.current() || std::exchange(foreseen_of_, run->file) == run->file)
        return;
    const std::string& field = sliders()[*moved_].field;
    const Document& document = workspace_.document();
    std::vector<ScenarioFile> next;
    for (const QString& value : steppers_[*moved_]->next_values())
        if (auto file =
                document.read_with(slider_edits(field, value, document.find("strategy.dp"))))
            next.push_back(std::move(*file));
    workspace_.lookahead().foresee(std::move(next));
}

// The slider of the field that it points to, else the one whose change brought it.
std::optional<std::size_t> ScenarioPanel::stepper_to_blame(const Diagnostic& problem) const
{
    for (std::size_t i = 0; i < sliders().size(); ++i) {
        std::string field = sliders()[i].field;
        std::replace(field.begin(), field.end(), '.', '/');
        if (problem.pointer == "/" + field)
            return i;
    }
    const auto known = brought_.find(problem.pointer);
    return known != brought_.end() ? known->second : moved_;
}

// A slider shows that its value cannot be; below all of them, where nothing moves for it, why.
void ScenarioPanel::follow_problems()
{
    form_->set_problems(workspace_.problems());
    std::vector<QString> told(steppers_.size());
    std::map<std::string, std::size_t> brought;
    QString first;
    for (const Diagnostic& problem : workspace_.problems()) {
        const std::optional<std::size_t> blamed =
            problem.severity == Severity::error ? stepper_to_blame(problem) : std::nullopt;
        if (!blamed)
            continue;
        brought.emplace(problem.pointer, *blamed);
        if (!told[*blamed].isEmpty())
            continue;
        told[*blamed] = QString::fromStdString(
            problem.hint.empty() ? problem.message : problem.message + "; " + problem.hint);
        if (first.isEmpty())
            first = tr("%1: %2").arg(sliders()[*blamed].name, told[*blamed]);
    }
    brought_ = std::move(brought);
    for (std::size_t i = 0; i < steppers_.size(); ++i)
        steppers_[i]->set_problem(told[i]);
    blocked_->set_text(first);
    show_colours();
}

// Again with every palette: a colour that was set stays.
void ScenarioPanel::show_colours()
{
    colour_text(blocked_, sign_colours(palette()).error);
}

void ScenarioPanel::changeEvent(QEvent* event)
{
    Panel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        show_colours();
}

void ScenarioPanel::go_to(const std::string& pointer)
{
    std::string path = pointer.empty() ? pointer : pointer.substr(1);
    std::replace(path.begin(), path.end(), '/', '.');
    if (tabs_->currentIndex() > 0) {
        json_->go_to(pointer);
        return;
    }
    filter_->clear();
    const QModelIndex at = filtered_->mapFromSource(form_->index_of(path));
    if (!at.isValid())
        return;
    const QModelIndex value = at.siblingAtColumn(FormModel::value_column);
    tree_->setFocus(); // first: an editor that loses it ends
    tree_->scrollTo(value);
    tree_->setCurrentIndex(value);
    if (value.flags() & Qt::ItemIsEditable)
        tree_->edit(value);
}

void ScenarioPanel::paint_to(QPainter& painter, const QSize& size)
{
    paint_table(painter, size, table(), palette());
}

TableData ScenarioPanel::table() const
{
    TableData out;
    out.columns = {tr("Field"), tr("Value"), tr("From")};
    const auto add = [&](const auto& self, const QModelIndex& parent) -> void {
        for (int row = 0; row < form_->rowCount(parent); ++row) {
            const QModelIndex at = form_->index(row, 0, parent);
            const QString origin = at.siblingAtColumn(FormModel::origin_column).data().toString();
            if (!origin.isEmpty())
                out.rows.push_back({at.data(FormModel::field_role).toString(),
                                    at.siblingAtColumn(FormModel::value_column).data().toString(),
                                    origin});
            self(self, at);
        }
    };
    add(add, {});
    return out;
}

} // namespace trainyard::gui
