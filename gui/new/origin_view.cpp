#include "gui/new/origin_view.h"

#include "gui/model/qt_text.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"
#include "sim/api/catalogue.h"

#include <QComboBox>
#include <QFileInfo>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QStyle>
#include <QTreeWidget>

namespace trainyard::gui {

namespace {

constexpr int pointer_role = Qt::UserRole;

// "A=1 B='two words'": NAME=VALUE each; quotes keep spaces.
std::vector<std::string> definitions_in(const QString& text)
{
    std::vector<std::string> out;
    QString word;
    QChar quote;
    for (const QChar c : text + QLatin1Char(' ')) {
        if (!quote.isNull()) {
            if (c == quote)
                quote = QChar();
            else
                word += c;
        } else if (c == '"' || c == '\'')
            quote = c;
        else if (!c.isSpace())
            word += c;
        else if (!word.isEmpty()) {
            out.push_back(word.toStdString());
            word.clear();
        }
    }
    if (!word.isEmpty()) // a quote that does not end
        out.push_back(word.toStdString());
    return out;
}

QString definitions_text(const std::vector<std::string>& definitions)
{
    QStringList out;
    for (const std::string& one : definitions) {
        const QString text = text_of(one);
        out << (text.contains(' ') ? QStringLiteral("\"%1\"").arg(text) : text);
    }
    return out.join(' ');
}

} // namespace

OriginView::OriginView(QWidget* parent)
    : QWidget(parent), title_(new QLabel), lists_(new QTreeWidget)
{
    lists_->setHeaderHidden(true);
    lists_->setWordWrap(true);
    lists_->setTabKeyNavigation(false);
    lists_->setAccessibleName(tr("What was understood, assumed and ignored"));
    auto* const column = in_a_column({title_, {lists_, 1}});
    in_a_row(this, {make_answers(), {column, 1}}, {.margins = {6, 4, 6, 4}});
    const auto choose = [this](const QTreeWidgetItem* item) {
        const std::string pointer = item->data(0, pointer_role).toString().toStdString();
        if (!pointer.empty())
            emit chosen(pointer);
    };
    connect(lists_, &QTreeWidget::itemClicked, this, choose);
    connect(lists_, &QTreeWidget::itemActivated, this, choose);
    setFocusProxy(lists_);
    show_nothing();
}

QWidget* OriginView::make_answers()
{
    auto* const box = new QWidget;
    auto* const grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 6, 0);
    box->setMaximumWidth(fontMetrics().averageCharWidth() * 56);
    gpu_ = new QComboBox;
    gpu_->setObjectName(QStringLiteral("import-gpu"));
    gpu_->setAccessibleName(tr("GPU"));
    gpu_->addItem(tr("cluster of the open scenario"), QString());
    auto* const name = new QLabel(tr("GPU"));
    name->setBuddy(gpu_);
    grid->addWidget(name, 0, 0);
    grid->addWidget(gpu_, 0, 1);
    answers_ = box;
    nodes_ = add_answer(tr("Nodes"), tr("as the job says, or needs"),
                        tr("Nodes of the GPU chosen, in the node that is usual for it"));
    nodes_->setObjectName(QStringLiteral("import-nodes"));
    model_ = add_answer(tr("Model"), tr("as the files say"),
                        tr("A config.json or a model that comes along"));
    model_->setObjectName(QStringLiteral("import-model"));
    variables_ = add_answer(tr("Variables"), tr("NAME=VALUE NAME=VALUE"),
                            tr("Variables of the script that are set elsewhere"));
    variables_->setObjectName(QStringLiteral("import-variables"));
    wrong_ = new QLabel;
    wrong_->setWordWrap(true);
    wrong_->hide();
    grid->addWidget(wrong_, grid->rowCount(), 0, 1, 2);
    auto* const again = new QPushButton(tr("Import again"));
    grid->addWidget(again, grid->rowCount(), 1, Qt::AlignRight);
    connect(again, &QPushButton::clicked, this, &OriginView::import_again);
    grid->setRowStretch(grid->rowCount(), 1);
    scrolled_ = new QScrollArea; // on a low screen the window would not fit otherwise
    scrolled_->setFrameShape(QFrame::NoFrame);
    scrolled_->setWidgetResizable(true);
    scrolled_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scrolled_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    scrolled_->setWidget(box);
    scrolled_->setMinimumWidth(box->sizeHint().width() +
                               style()->pixelMetric(QStyle::PM_ScrollBarExtent));
    return scrolled_;
}

QLineEdit* OriginView::add_answer(const QString& name, const QString& placeholder,
                                  const QString& tip)
{
    auto* const edit = new QLineEdit;
    auto* const label = new QLabel(name);
    label->setBuddy(edit);
    edit->setPlaceholderText(placeholder);
    edit->setToolTip(tip);
    edit->setAccessibleName(name);
    auto* const grid = static_cast<QGridLayout*>(answers_->layout());
    const int row = grid->rowCount();
    grid->addWidget(label, row, 0);
    grid->addWidget(edit, row, 1);
    connect(edit, &QLineEdit::returnPressed, this, &OriginView::import_again);
    return edit;
}

QSize OriginView::sizeHint() const
{
    return {100 * fontMetrics().averageCharWidth(), 11 * fontMetrics().height()};
}

// Read when a job is first shown.
void OriginView::fill_devices()
{
    if (gpu_->count() > 1 || naming_.busy())
        return;
    naming_.start([this](const WorkControl&) -> BackgroundTask::Answer {
        auto names =
            std::make_shared<const std::vector<std::string>>(shipped_names(ShippedKind::devices));
        return [this, names] {
            for (const std::string& one : *names)
                gpu_->addItem(text_of(one), text_of(one));
            gpu_->setCurrentIndex(std::max(0, gpu_->findData(text_of(request_.question.gpu))));
        };
    });
}

void OriginView::show_job(const OpenedJob& job)
{
    request_ = job.request;
    title_->setText((job.scenario ? tr("Imported from %1") : tr("%1 could not be imported"))
                        .arg(QFileInfo(text_of(request_.file)).fileName()));
    fill_devices();
    gpu_->setCurrentIndex(std::max(0, gpu_->findData(text_of(request_.question.gpu))));
    nodes_->setText(request_.question.nodes > 0 ? QString::number(request_.question.nodes)
                                                : QString());
    model_->setText(text_of(request_.question.model));
    variables_->setText(definitions_text(request_.question.definitions));
    scrolled_->show();
    lists_->clear();
    std::vector<Line> problems;
    for (const Diagnostic& problem : job.problems)
        problems.push_back({text_of(trainyard::render(problem)).trimmed(), {}});
    add_list(job.scenario ? tr("Warnings") : tr("Refused"), problems);
    add_list(tr("Doubtful"), lines_of(job.notes.flagged, job.places));
    add_list(tr("Understood"), lines_of(job.notes.understood, job.places));
    add_list(tr("Assumed"), lines_of(job.notes.assumed, job.places));
    add_list(tr("Ignored"), lines_of(job.notes.ignored, job.places));
}

void OriginView::show_reasons(const std::vector<std::string>& reasons)
{
    request_ = {};
    title_->setText(tr("Made from a model and a cluster; chosen for it:"));
    scrolled_->hide();
    lists_->clear();
    add_list(tr("Chosen"), lines_of(reasons, {}));
}

void OriginView::show_nothing()
{
    say(tr("The open scenario is a file of its own: nothing was chosen or assumed."));
}

void OriginView::show_unknown()
{
    say(tr("The open scenario came with a session, which does not keep what was chosen or assumed "
           "for it; importing the job again tells it."));
}

void OriginView::say(const QString& title)
{
    request_ = {};
    title_->setText(title);
    scrolled_->hide();
    lists_->clear();
}

std::vector<OriginView::Line> OriginView::lines_of(const std::vector<std::string>& notes,
                                                   const Places& places)
{
    std::vector<Line> out;
    for (const std::string& note : notes) {
        const auto place = places.find(note);
        out.push_back({text_of(printable(note, 1000)),
                       place != places.end() ? text_of(place->second) : QString()});
    }
    return out;
}

void OriginView::add_list(const QString& title, const std::vector<Line>& lines)
{
    if (lines.empty())
        return;
    auto* const head =
        new QTreeWidgetItem(lists_, {QStringLiteral("%1 (%2)").arg(title).arg(lines.size())});
    head->setFont(0, bold(font()));
    for (const Line& line : lines) {
        auto* const item = new QTreeWidgetItem(head, {line.text});
        item->setData(0, pointer_role, line.pointer);
        item->setToolTip(0, line.pointer.isEmpty()
                                ? line.text
                                : tr("%1\nA click shows the field.").arg(line.text));
    }
    head->setExpanded(true);
}

void OriginView::import_again()
{
    const QString nodes = nodes_->text().trimmed();
    bool whole = true;
    const int count = nodes.isEmpty() ? 0 : nodes.toInt(&whole);
    const bool wrong = !whole || count < 0;
    wrong_->setVisible(wrong);
    wrong_->setText(tr("✕ \"%1\" is no number of nodes.").arg(nodes));
    if (wrong)
        return;
    ImportQuestion again = request_;
    again.question.gpu = gpu_->currentData().toString().toStdString();
    again.question.nodes = again.question.gpu.empty() ? 0 : count;
    again.question.model = model_->text().trimmed().toStdString();
    again.question.definitions = definitions_in(variables_->text());
    emit againWanted(again);
}

} // namespace trainyard::gui
