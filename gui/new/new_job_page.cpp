#include "gui/new/new_job_page.h"

#include "gui/model/qt_text.h"
#include "gui/new/cluster_editor.h"
#include "gui/new/cluster_form.h"
#include "gui/new/model_list.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/progress_strip.h"
#include "gui/widgets/theme.h"
#include "sim/study/session.h"

#include <QGridLayout>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

namespace trainyard::gui {

namespace {

// Of a field that may be empty; nothing where it is no positive whole number.
std::optional<std::int64_t> typed_number(const QLineEdit& edit)
{
    const QString text = edit.text().trimmed();
    if (text.isEmpty())
        return 0;
    bool whole = false;
    const std::int64_t number = text.toLongLong(&whole);
    constexpr std::int64_t most = 1'000'000'000;
    return whole && number > 0 && number <= most ? std::optional(number) : std::nullopt;
}

QGroupBox* titled(const QString& title, QWidget* inside)
{
    auto* const box = new QGroupBox(title);
    auto* const column = new QVBoxLayout(box);
    column->addWidget(inside);
    return box;
}

} // namespace

NewJobPage::NewJobPage(QWidget* parent)
    : QDialog(parent),
      model_(new ModelList),
      cluster_(new ClusterEditor),
      length_(new QLineEdit),
      batch_(new QLineEdit),
      numbers_(new QLabel),
      outcome_(new QLabel),
      take_smallest_(new QPushButton),
      progress_(new ProgressStrip),
      create_(new QPushButton(tr("&Create")))
{
    setWindowTitle(tr("New job and cluster"));
    auto* const column = new QVBoxLayout(this);
    auto* const job =
        in_a_column({{titled(tr("Model"), model_), 1}, titled(tr("Training"), make_training())});
    auto* const parts = in_a_row({{job, 2}, {titled(tr("Cluster"), cluster_), 5}});
    column->addLayout(parts, 1);
    column->addWidget(make_outcome());
    column->addWidget(progress_);
    column->addWidget(make_buttons());
    resize(1200, 690);

    const auto follow_edit = [this] {
        forget_outcome();
        follow();
    };
    connect(model_, &ModelList::changed, this, follow_edit);
    connect(cluster_, &ClusterEditor::changed, this, follow_edit);
    for (const QLineEdit* const edit : {length_, batch_})
        connect(edit, &QLineEdit::textEdited, this, follow_edit);
    connect(cluster_, &ClusterEditor::told, this, [this](const QString& text) { say(text, true); });
    connect(&creating_, &BackgroundTask::progressed, progress_, &ProgressStrip::set);
    connect(&creating_, &BackgroundTask::busyChanged, this, &NewJobPage::follow);
    connect(&creating_, &BackgroundTask::failed, this,
            [this](const QString& text) { say(text, true); });
    connect(progress_, &ProgressStrip::cancelled, this, &NewJobPage::reject);
    model_->setFocus();
    follow();
}

QWidget* NewJobPage::make_training()
{
    auto* const box = new QWidget;
    auto* const grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    const auto add = [&](QLineEdit* edit, const QString& name, const QString& tip) {
        auto* const label = new QLabel(name);
        label->setBuddy(edit);
        edit->setPlaceholderText(tr("as usual"));
        edit->setAccessibleName(QString(name).remove('&'));
        edit->setToolTip(tip);
        const int row = grid->rowCount();
        grid->addWidget(label, row, 0);
        grid->addWidget(edit, row, 1);
    };
    length_->setObjectName(QStringLiteral("sequence_length"));
    batch_->setObjectName(QStringLiteral("global_batch"));
    add(length_, tr("&Sequence length"), tr("Tokens of a sequence"));
    add(batch_, tr("Global &batch"), tr("Sequences of a step, of all replicas together"));
    numbers_->setWordWrap(true);
    numbers_->hide();
    grid->addWidget(numbers_, grid->rowCount(), 0, 1, 2);
    return box;
}

QWidget* NewJobPage::make_outcome()
{
    auto* const box = new QWidget;
    outcome_->setWordWrap(true);
    outcome_->setTextFormat(Qt::PlainText);
    outcome_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    outcome_->setAccessibleName(tr("what became of it"));
    outcome_->setObjectName(QStringLiteral("outcome"));
    outcome_->hide();
    take_smallest_->setObjectName(QStringLiteral("smallest"));
    take_smallest_->setAutoDefault(false);
    take_smallest_->hide();
    in_a_row(box, {{outcome_, 1}, take_smallest_});
    connect(take_smallest_, &QPushButton::clicked, this,
            [this] { cluster_->set_nodes(smallest_->nodes); });
    return box;
}

QWidget* NewJobPage::make_buttons()
{
    auto* const box = new QWidget;
    auto* const hint = new QLabel(tr("The strategy is searched for: the quickest layout that fits. "
                                     "Everything can be changed afterwards."));
    hint->setForegroundRole(QPalette::PlaceholderText);
    auto* const close = new QPushButton(tr("Close"));
    close->setAutoDefault(false);
    create_->setDefault(true);
    in_a_row(box, {{hint, 1}, create_, close});
    connect(create_, &QPushButton::clicked, this, &NewJobPage::create);
    connect(close, &QPushButton::clicked, this, [this] {
        creating_.cancel();
        hide();
    });
    return box;
}

bool NewJobPage::busy() const
{
    return model_->busy() || cluster_->busy() || creating_.busy();
}

std::optional<FirstQuestion> NewJobPage::question() const
{
    const std::optional<std::int64_t> length = typed_number(*length_);
    const std::optional<std::int64_t> batch = typed_number(*batch_);
    if (!length || !batch)
        return std::nullopt;
    FirstQuestion out;
    out.job.model = model_->chosen();
    out.topology = cluster_->topology();
    out.sequence_length = *length;
    out.global_batch = *batch;
    return out;
}

void NewJobPage::follow()
{
    const bool numbers = question().has_value();
    numbers_->setVisible(!numbers);
    numbers_->setText(tr("✕ Lengths and batches are whole numbers from 1 on; empty: as usual."));
    create_->setEnabled(numbers && model_->valid() && cluster_->valid() && !creating_.busy());
    create_->setToolTip(!model_->valid()     ? tr("Choose a model first")
                        : !cluster_->valid() ? tr("The cluster cannot be so")
                                             : tr("Search a strategy and open the scenario"));
    if (!creating_.busy())
        progress_->end();
}

// The smallest cluster is looked for where this one is too small.
NewJobPage::Answer NewJobPage::ask(const FirstQuestion& question, const WorkControl& work)
{
    const std::filesystem::path folder; // the scenario has no file yet
    Session session;
    const auto start = first_scenario(question, folder, session, work);
    if (start)
        return {FirstJob{to_json(start->scenario), start->reasons}, {}, std::nullopt};
    work.report("looking for the smallest cluster that has room", 0, 0);
    return {std::nullopt, start.error().problems,
            smallest_cluster_for(question, start.error(), folder, session, work)};
}

// What was said of another question.
void NewJobPage::forget_outcome()
{
    refused_.clear();
    outcome_->hide();
    take_smallest_->hide();
}

void NewJobPage::create()
{
    const std::optional<FirstQuestion> asked = question();
    if (!asked)
        return;
    forget_outcome();
    progress_->begin(tr("searching a strategy"));
    creating_.start([this, question = *asked](const WorkControl& work) -> BackgroundTask::Answer {
        auto answer = std::make_shared<const Answer>(ask(question, work));
        return [this, answer] { take(*answer); };
    });
}

void NewJobPage::take(const Answer& answer)
{
    refused_ = answer.refused;
    smallest_ = answer.smallest;
    if (answer.job) {
        QStringList reasons;
        for (const std::string& reason : answer.job->reasons)
            reasons << text_of(reason);
        say(tr("Created: %1").arg(reasons.join(QStringLiteral("; "))), false);
        hide();
        emit created(*answer.job);
        return;
    }
    QStringList lines;
    for (const Diagnostic& problem : answer.refused)
        lines << QStringLiteral("✕ %1 (%2)").arg(text_of(problem.message), text_of(problem.hint));
    if (answer.smallest) {
        lines << tr("The smallest cluster of such nodes that has room: %L1 nodes, %L2 GPUs.")
                     .arg(answer.smallest->nodes)
                     .arg(answer.smallest->gpus);
        take_smallest_->setText(tr("&Take %L1 nodes").arg(answer.smallest->nodes));
    }
    take_smallest_->setVisible(answer.smallest.has_value());
    say(lines.join('\n'), true);
}

void NewJobPage::say(const QString& text, bool wrong)
{
    QPalette colours = palette();
    if (wrong)
        colours.setColor(QPalette::WindowText, sign_colours(palette()).error);
    outcome_->setPalette(colours);
    outcome_->setText(text);
    outcome_->show();
}

void NewJobPage::reject()
{
    if (creating_.cancel()) {
        say(tr("Cancelled."), false);
        return;
    }
    hide();
}

} // namespace trainyard::gui
