#include "gui/scenario/json_view.h"

#include "gui/model/qt_text.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"
#include "sim/base/input_limits.h"

#include <QEvent>
#include <QFontDatabase>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QShortcut>
#include <QTextBlock>

namespace trainyard::gui {

namespace {

// A token of a pointer as the key that it stands for.
std::string key_of(std::string token)
{
    for (const auto& [from, to] : {std::pair("~1", "/"), std::pair("~0", "~")})
        for (std::size_t at = token.find(from); at != std::string::npos;
             at = token.find(from, at + 1))
            token.replace(at, 2, to);
    return token;
}

const Json* part_of(const Json& json, const std::string& key)
{
    if (!json.is_array())
        return json.find(key);
    const std::size_t index = QString::fromStdString(key).toULongLong();
    return index < json.items().size() ? &json.items()[index] : nullptr;
}

} // namespace

int line_at(const Json& json, const std::string& pointer)
{
    const Json* at = &json;
    std::size_t from = pointer.empty() ? std::string::npos : 1;
    while (from != std::string::npos) {
        const std::size_t slash = pointer.find('/', from);
        const std::string token =
            pointer.substr(from, slash == std::string::npos ? slash : slash - from);
        const Json* const part = part_of(*at, key_of(token));
        if (part == nullptr)
            break;
        at = part;
        from = slash == std::string::npos ? slash : slash + 1;
    }
    return at->line();
}

JsonView::JsonView(Workspace& workspace, QWidget* parent)
    : QWidget(parent),
      workspace_(workspace),
      editor_(new QPlainTextEdit),
      said_(new QLabel),
      apply_(new QPushButton(tr("Apply"))),
      revert_(new QPushButton(tr("Revert")))
{
    editor_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    editor_->setLineWrapMode(QPlainTextEdit::NoWrap);
    editor_->setTabChangesFocus(true);
    editor_->setAccessibleName(tr("the scenario as JSON"));
    apply_->setToolTip(tr("Make this the scenario (Ctrl+Return)"));
    revert_->setToolTip(tr("Forget what was typed"));
    said_->setWordWrap(true);
    auto* const row = in_a_row({{said_, 1}, revert_, apply_});
    in_a_column(this, {{editor_, 1}, row});
    setFocusProxy(editor_);

    auto* const key = new QShortcut(QKeySequence(tr("Ctrl+Return")), this);
    key->setContext(Qt::WidgetWithChildrenShortcut);
    connect(key, &QShortcut::activated, this, &JsonView::apply);
    connect(apply_, &QPushButton::clicked, this, &JsonView::apply);
    connect(revert_, &QPushButton::clicked, this, &JsonView::revert);
    connect(editor_, &QPlainTextEdit::textChanged, this, &JsonView::follow_text);
    connect(&workspace_.document(), &Document::changed, this, &JsonView::follow_document);
    connect(&workspace_.document(), &Document::loaded, editor_->document(),
            [this] { editor_->document()->setModified(false); }); // it was of another scenario
    connect(&workspace_, &Workspace::problemsChanged, this, &JsonView::mark_problems);
    revert();
}

void JsonView::revert()
{
    const Json& json = workspace_.document().json();
    const std::string text = to_text(json);
    shown_ = parse_json(text, "").value_or(Json());
    const int line = editor_->textCursor().blockNumber() + 1;
    editor_->setPlainText(text_of(text));
    editor_->document()->setModified(false);
    go_to_line(line);
    follow_text();
    mark_problems();
}

bool JsonView::typed() const
{
    return editor_->document()->isModified();
}

// What is being typed stays until it is applied or forgotten. Out of sight nothing is written: no
// slider waits for it.
void JsonView::follow_document()
{
    if (isVisible() && !typed())
        revert();
}

void JsonView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    follow_document();
}

void JsonView::follow_text()
{
    apply_->setEnabled(typed());
    revert_->setEnabled(typed());
    say(typed() ? tr("not applied yet") : QString(), false);
    if (typed())
        editor_->setExtraSelections({}); // lines of before
}

void JsonView::apply()
{
    const std::string text = editor_->toPlainText().toStdString();
    Checked<Json> json = parse_json(text, tr("the text").toStdString(), input_limits);
    if (json && !json->is_object())
        json = rejected("", "a scenario is an object", "", json->line());
    if (!json) {
        const Diagnostic& first = json.error().front();
        say(tr("Line %1: %2").arg(first.line).arg(text_of(first.message)), true);
        go_to_line(first.line);
        return;
    }
    editor_->document()->setModified(false);
    if (*json == workspace_.document().json())
        revert(); // only its layout changed
    else
        workspace_.document().replace(std::move(*json), tr("JSON"));
}

void JsonView::go_to_line(int line)
{
    const QTextBlock block = editor_->document()->findBlockByNumber(std::max(0, line - 1));
    if (!block.isValid())
        return;
    editor_->setTextCursor(QTextCursor(block));
    editor_->centerCursor();
}

void JsonView::go_to(const std::string& pointer)
{
    go_to_line(line_at(shown_, pointer));
    editor_->setFocus();
}

void JsonView::mark_problems()
{
    if (!isVisible() || typed())
        return;
    QList<QTextEdit::ExtraSelection> marks;
    for (const Diagnostic& problem : workspace_.problems()) {
        const int line = line_at(shown_, problem.pointer);
        if (problem.pointer.empty() || line == 0)
            continue;
        QTextEdit::ExtraSelection mark;
        mark.cursor = QTextCursor(editor_->document()->findBlockByNumber(line - 1));
        mark.format.setProperty(QTextFormat::FullWidthSelection, true);
        QColor colour = problem.severity == Severity::error ? sign_colours(palette()).error
                                                            : sign_colours(palette()).warning;
        colour.setAlphaF(0.25F);
        mark.format.setBackground(colour);
        marks << mark;
    }
    editor_->setExtraSelections(marks);
}

void JsonView::say(const QString& text, bool wrong)
{
    const SignColours colours = sign_colours(palette());
    colour_text(said_, wrong ? colours.error : colours.quiet);
    said_->setText(text);
}

void JsonView::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        mark_problems();
}

} // namespace trainyard::gui
