#include "gui/explore/parallel_panel.h"

#include "gui/widgets/boxes.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/flat_button.h"

#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QToolButton>
#include <algorithm>
#include <utility>

namespace trainyard::gui {

ParallelPanel::ParallelPanel(const PointStore& store, Marks& marks, const PointsModel& rows,
                             QWidget* parent)
    : Panel(parent),
      store_(store),
      marks_(marks),
      rows_(rows),
      model_(store),
      canvas_(new ParallelCanvas(*this)),
      colour_(new ElidedComboBox),
      axes_(new QToolButton),
      menu_(new QMenu(this))
{
    axes_->setText(tr("Axes"));
    axes_->setToolTip(tr("which axes there are"));
    axes_->setPopupMode(QToolButton::InstantPopup);
    axes_->setMenu(menu_);
    auto* const label = new QLabel(tr("colour"));
    label->setBuddy(colour_);
    colour_->setAccessibleName(tr("what colours the lines"));
    colour_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    colour_->setMinimumContentsLength(12);
    QToolButton* const clear = flat_button(tr("Clear"), tr("let go of all brushes (Esc)"));
    connect(clear, &QToolButton::clicked, this, &ParallelPanel::clear);
    auto* const row = in_a_row({axes_, label, colour_, room(1), clear});
    in_a_column(this, {row, {canvas_, 1}}, {.spacing = 2});
    setFocusProxy(canvas_);
    canvas_->setAccessibleName(title());
    connect(colour_, &QComboBox::currentIndexChanged, this, [this] {
        if (!filling_)
            emit colourChosen(colour_->currentData().toString());
    });
    connect(&marks_, &Marks::changed, this, &ParallelPanel::follow_marks);
    connect(&marks_, &Marks::currentChanged, this, [this] {
        const auto point = marks_.current();
        canvas_->setAccessibleDescription(
            point && store_.has(*point) && describe_ ? describe_(*point) : QString());
        canvas_->update();
    });
}

ParallelPanel::~ParallelPanel() = default;

void ParallelPanel::paint_to(QPainter& painter, const QSize& size)
{
    ParallelScene scene = this->scene();
    scene.hovered.reset();
    scene.focused.reset();
    paint_parallel(painter, scene, size, palette(), font());
}

bool ParallelPanel::busy() const
{
    return canvas_->isVisible() && !canvas_->done();
}

ParallelScene ParallelPanel::scene() const
{
    return {store_, model_, marks_, colours_, pinned_, here_, {}, {}, note_};
}

void ParallelPanel::restart(std::vector<Metric> metrics)
{
    model_.restart(std::move(metrics));
    fill_menu();
    fill_colours();
    changed_axes();
}

void ParallelPanel::set_colour(const QString& key)
{
    colour_key_ = key;
    fill_colours();
    canvas_->forget();
}

// The same as the scatter's, chosen in either place.
void ParallelPanel::fill_colours()
{
    filling_ = true;
    colour_->clear();
    colour_->addItem(tr("none"), QString());
    for (const Metric& metric : model_.metrics())
        colour_->addItem(metric.title, metric.key);
    const int at = colour_->findData(colour_key_);
    colour_->setCurrentIndex(std::max(0, at));
    filling_ = false;
    const Metric* const metric = find_metric(model_.metrics(), colour_key_);
    colours_ = PointColours(store_, metric != nullptr ? std::optional(*metric) : std::nullopt);
    colours_.follow(store_);
}

void ParallelPanel::fill_menu()
{
    menu_->clear();
    const std::vector<QString> shown = model_.keys();
    for (const Metric& metric : model_.metrics()) {
        QAction* const action = menu_->addAction(metric.title);
        action->setCheckable(true);
        action->setChecked(std::ranges::find(shown, metric.key) != shown.end());
        action->setToolTip(metric.tip());
        connect(action, &QAction::toggled, this, [this, key = metric.key](bool on) {
            model_.show_axis(key, on);
            changed_axes();
        });
    }
    menu_->addSeparator();
    menu_->addAction(tr("As usual"), this, [this] { set_choice({}); });
}

void ParallelPanel::set_choice(const ParallelChoice& choice)
{
    model_.set_choice(choice);
    changed_axes();
}

// Brushes of axes that are gone no longer count.
void ParallelPanel::changed_axes()
{
    const std::vector<QString> shown = model_.keys();
    const QList<QAction*> actions = menu_->actions();
    for (std::size_t i = 0; i < model_.metrics().size(); ++i) {
        QAction* const action = actions.at(static_cast<qsizetype>(i));
        const QSignalBlocker quiet(action);
        action->setChecked(std::ranges::find(shown, model_.metrics()[i].key) != shown.end());
    }
    canvas_->forget();
}

void ParallelPanel::follow()
{
    const bool further = model_.follow();
    if (colours_.follow(store_) || further)
        canvas_->forget();
    if (model_.brushed())
        mark(); // those that came since
    canvas_->update();
}

void ParallelPanel::mark()
{
    marking_ = true;
    marks_.mark(model_.brushed() ? model_.within_brushes() : std::vector<std::uint32_t>());
    marking_ = false;
}

void ParallelPanel::brush(std::size_t axis, std::optional<Brush> brush)
{
    model_.set_brush(axis, brush);
    mark();
    canvas_->update();
}

void ParallelPanel::clear()
{
    model_.clear_brushes();
    marks_.clear();
    canvas_->update();
}

// What is marked elsewhere is not what the brushes say.
void ParallelPanel::follow_marks()
{
    if (!marking_)
        model_.clear_brushes();
    canvas_->forget_marked();
}

void ParallelPanel::set_pinned(std::vector<std::uint32_t> points)
{
    pinned_ = std::move(points);
    canvas_->update();
}

void ParallelPanel::set_here(std::optional<std::uint32_t> point)
{
    here_ = point;
    canvas_->update();
}

void ParallelPanel::set_note(const QString& note)
{
    note_ = note;
    canvas_->update();
}

void ParallelPanel::set_describe(std::function<QString(std::uint32_t)> describe)
{
    describe_ = std::move(describe);
}

QPointF ParallelPanel::place_of(std::size_t axis, std::uint32_t point) const
{
    const ParallelFrame frame = canvas_->frame();
    return {static_cast<double>(frame.x[axis]), frame.row_of(model_.place(axis, point))};
}

} // namespace trainyard::gui
