#include "gui/scenario/advice_line.h"

#include "gui/model/qt_text.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/flat_button.h"
#include "sim/base/parallel.h"
#include "sim/base/units.h"
#include "sim/study/search/layout_choice.h"

#include <QTimer>
#include <QToolButton>
#include <algorithm>

namespace trainyard::gui {

namespace {

// A slider in motion asks for more runs: advice can wait until it rests.
constexpr int rest_ms = 400;

QString settings_words(const std::vector<Override>& set)
{
    QStringList parts;
    for (const Override& change : set)
        parts << QStringLiteral("%1 = %2").arg(text_of(change.field), text_of(change.value));
    return parts.join(QStringLiteral(", "));
}

QToolButton* line_button(const QString& text, const QString& tip, const QString& name)
{
    QToolButton* const button = tipped_button(text, tip);
    button->setObjectName(name);
    button->hide();
    return button;
}

} // namespace

AdviceLine::AdviceLine(Workspace& workspace, QWidget* parent)
    : QWidget(parent),
      workspace_(workspace),
      text_(new ElidedLabel),
      apply_(line_button(tr("Apply"), tr("make this change; it can be undone"),
                         QStringLiteral("advice/apply"))),
      ask_(line_button(tr("What would help?"),
                       tr("simulate settings that may shorten the step; that takes some time here"),
                       QStringLiteral("advice/ask"))),
      fit_(line_button(tr("Nearest that fits"),
                       tr("find settings with which this runs and fits, and make them; they can "
                          "be undone"),
                       QStringLiteral("advice/fit"))),
      more_(line_button({},
                        tr("open the scenario on the smallest cluster of its nodes that holds the "
                           "training; it can be undone"),
                        QStringLiteral("advice/more"))),
      cancel_(
          line_button(tr("Cancel"), tr("end the search (Esc)"), QStringLiteral("advice/cancel"))),
      later_(new QTimer(this))
{
    text_->setObjectName(QStringLiteral("advice/text"));
    auto* const row = in_a_row(this, {{text_, 1}});
    for (QToolButton* const button : {apply_, ask_, more_, fit_, cancel_})
        row->addWidget(button);
    // The figures above do not move when advice comes and goes.
    setFixedHeight(apply_->sizeHint().height());
    later_->setSingleShot(true);
    later_->setInterval(rest_ms);
    connect(later_, &QTimer::timeout, this, &AdviceLine::ask);
    connect(apply_, &QToolButton::clicked, this, &AdviceLine::apply);
    connect(ask_, &QToolButton::clicked, this, &AdviceLine::ask);
    connect(fit_, &QToolButton::clicked, this, &AdviceLine::find_way_out);
    connect(more_, &QToolButton::clicked, this, &AdviceLine::take_more);
    connect(cancel_, &QToolButton::clicked, this, &AdviceLine::cancel);
    connect(&task_, &BackgroundTask::busyChanged, this, [this] {
        if (!task_.busy() && finding_) { // cancelled, or it failed
            finding_ = false;
            show_offer(Offer::way_out, {});
        }
        show_buttons();
        emit findingChanged();
    });
    connect(&task_, &BackgroundTask::failed, this,
            [this](const QString& why) { show_offer(offer_, why); });
    connect(&workspace_, &Workspace::runChanged, this, &AdviceLine::follow);
    connect(&workspace_, &Workspace::problemsChanged, this, &AdviceLine::follow);
    // What is shown is of the scenario before.
    connect(&workspace_.document(), &Document::changed, this, &AdviceLine::follow);
    follow();
}

AdviceLine::~AdviceLine() = default;

bool AdviceLine::fails() const
{
    return has_errors(workspace_.problems());
}

void AdviceLine::follow()
{
    const std::shared_ptr<const RunView>& run = workspace_.run();
    Document& document = workspace_.document();
    const bool same = document.json() == of_ && fails() == failed_;
    if (same && (offer_ != Offer::none || task_.busy() || later_->isActive()))
        return; // told again, with its ops
    later_->stop();
    task_.cancel();
    show_offer(Offer::none, {});
    of_ = document.json();
    failed_ = fails();
    if (workspace_.live().busy())
        return;
    if (fails() && !workspace_.cancelled()) {
        if (document.read())
            show_offer(Offer::way_out, {});
        return;
    }
    if (!workspace_.current() || run == nullptr)
        return;
    if (document.json() == made_of_) {
        show_offer(Offer::no_advice, made_, made_);
        return;
    }
    if (run->outcome->engine.wall_ms > quick_ms_)
        show_offer(Offer::question, {});
    else
        later_->start();
}

void AdviceLine::ask()
{
    const std::shared_ptr<const RunView> run = workspace_.run();
    if (run == nullptr || !workspace_.current())
        return;
    show_offer(Offer::none, {});
    task_.start([this, run](const WorkControl& work) -> BackgroundTask::Answer {
        step_back();
        AdviceOptions options;
        options.work.cancel = work.cancel;
        options.threads = std::max(1, usable_threads() - 1); // one is left for the window
        options.bottleneck = run->summary.bottleneck.kind;
        const AdviceReport report = advise(*run->outcome, *run->file, session_, options);
        return [this, report] { take(report); };
    });
}

void AdviceLine::take(const AdviceReport& report)
{
    if (!workspace_.current())
        return;
    if (report.best.empty()) {
        show_offer(Offer::no_advice,
                   report.tried == 0
                       ? tr("No setting was tried: each would take too long to simulate.")
                       : tr("None of %n settings tried would save half a per cent.", nullptr,
                            report.tried));
        return;
    }
    advice_ = report.best.front();
    const QString step = text_of(to_display(advice_.step_time));
    QString text = tr("What would help: %1: −%2 % (%3 a step)")
                       .arg(settings_words(advice_.set))
                       .arg(100 * advice_.gain, 0, 'f', 1)
                       .arg(step);
    if (!advice_.note.empty())
        text += QStringLiteral("; ") + text_of(advice_.note);
    show_offer(Offer::advice, text,
               tr("The best of %1 settings that were simulated; each fits.").arg(report.tried));
}

void AdviceLine::apply()
{
    if (offer_ != Offer::advice)
        return;
    std::vector<Edit> edits;
    for (const Override& change : advice_.set)
        edits.push_back({change.field, change.value});
    if (const auto refused = workspace_.document().edit(edits))
        show_offer(Offer::none, text_of(refused->message));
}

void AdviceLine::find_way_out()
{
    Checked<ScenarioFile> file = workspace_.document().read();
    if (!file || task_.busy())
        return;
    const std::shared_ptr<const RunView> run =
        workspace_.current() && workspace_.run() ? workspace_.run() : std::make_shared<RunView>();
    finding_ = true;
    show_offer(Offer::way_out, tr("Looking for settings that fit ..."));
    task_.start([this, run, file = *file](const WorkControl& work) -> BackgroundTask::Answer {
        step_back();
        Session session; // a search would push out what the next slider needs
        return
            [this, found = nearest_that_fits(*run, file, session, work)] { take_way_out(found); };
    });
}

void AdviceLine::take_way_out(const WayOut& found)
{
    finding_ = false;
    const Checked<ScenarioFile> before = workspace_.document().read();
    if (!found.layout && found.set.empty()) {
        smallest_ = found.smallest;
        more_->setText(smallest_offer(found.smallest_gpus));
        show_offer(Offer::way_out, text_of(found.why_none), text_of(found.why_none));
    } else if (const QString refused = gui::take_way_out(workspace_.document(), found);
               !refused.isEmpty())
        show_offer(Offer::way_out, refused);
    else if (const Checked<ScenarioFile> now = workspace_.document().read(); before && now) {
        made_of_ = workspace_.document().json();
        made_ = tr("Changed so that it fits: %1. It can be undone.")
                    .arg(settings_words(changes_between(before->scenario, now->scenario)));
    }
}

void AdviceLine::take_more()
{
    if (!smallest_)
        return;
    const QString step = more_->text();
    workspace_.document().replace(scenario_beside(*smallest_, workspace_.document()), step);
}

void AdviceLine::cancel()
{
    if (finding_)
        task_.cancel();
}

void AdviceLine::show_offer(Offer offer, const QString& text, const QString& tip)
{
    offer_ = offer;
    if (offer != Offer::way_out || text.isEmpty())
        smallest_.reset();
    text_->set_text(text);
    if (!tip.isEmpty())
        text_->setToolTip(tip);
    show_buttons();
}

void AdviceLine::show_buttons()
{
    const bool busy = task_.busy();
    apply_->setVisible(offer_ == Offer::advice);
    ask_->setVisible(offer_ == Offer::question && !busy);
    fit_->setVisible(offer_ == Offer::way_out && !busy);
    more_->setVisible(offer_ == Offer::way_out && !busy && smallest_);
    cancel_->setVisible(finding_ && busy);
}

} // namespace trainyard::gui
