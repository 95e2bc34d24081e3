#include "gui/model/document.h"

#include "sim/base/files.h"
#include "sim/base/input_limits.h"
#include "sim/base/json_edit.h"
#include "sim/base/reader.h"
#include "sim/study/inputs.h"

#include <QFileInfo>

namespace trainyard::gui {

namespace fs = std::filesystem;

namespace {

// Of a longer file the layout is not kept: no hand wrote it.
constexpr std::size_t most_kept_layout = 1U << 20;

const Json* find_in(const Json& root, std::string_view field)
{
    const Json* at = &root;
    while (at != nullptr) {
        const auto dot = field.find('.');
        const std::string_view key = field.substr(0, dot);
        if (at->is_array()) {
            const std::size_t index = static_cast<std::size_t>(
                QByteArray::fromRawData(key.data(), static_cast<qsizetype>(key.size()))
                    .toULongLong());
            at = index < at->items().size() ? &at->items()[index] : nullptr;
        } else
            at = at->find(key);
        if (dot == std::string_view::npos)
            return at;
        field = field.substr(dot + 1);
    }
    return nullptr;
}

// True where the object is left empty, so that its parent takes it out as well.
bool erase_from(Json& at, std::string_view field)
{
    const auto dot = field.find('.');
    const std::string_view key = field.substr(0, dot);
    if (!at.is_object())
        return false;
    Json::Object& members = at.members();
    const auto member = std::find_if(members.begin(), members.end(),
                                     [&](const Json::Member& one) { return one.first == key; });
    if (member == members.end())
        return false;
    if (dot == std::string_view::npos || erase_from(member->second, field.substr(dot + 1)))
        members.erase(member);
    return members.empty();
}

// A path inside a scenario of folder `from`, as one in folder `to` writes it. What is not there
// (the name of shipped data, say) stays as it is.
void move_path(Json& source, const fs::path& from, const fs::path& to)
{
    Json* text = &source;
    if (source.is_object())
        for (const char* key : {"hf_config", "file"})
            if (Json* const inner = source.find(key))
                text = inner;
    if (!text->is_string())
        return;
    const fs::path path(text->as_string());
    std::error_code failed;
    if (path.is_absolute() || !fs::exists(from / path, failed) || failed)
        return;
    const fs::path here = fs::current_path(failed);
    const fs::path moved = fs::proximate(here / from / path, here / to, failed);
    if (!failed && !moved.empty())
        *text = Json(moved.string());
}

// A scenario of folder `from`, as one in folder `to` says the same.
void move_paths(Json& scenario, const fs::path& from, const fs::path& to)
{
    if (from == to)
        return;
    for (const char* key : {"model", "topology", "profile"})
        if (Json* const source = scenario.find(key))
            move_path(*source, from, to);
}

fs::path folder_of(const std::string& file)
{
    return fs::path(file).parent_path();
}

} // namespace

// The whole JSON before and after: a scenario is a few kilobytes.
class Document::Change : public QUndoCommand {
public:
    Change(Document& document, Json after, const QString& what, int id)
        : QUndoCommand(what),
          document_(document),
          before_(document.json_),
          after_(std::move(after)),
          folder_(folder_of(document.file_)),
          id_(id)
    {}

    void undo() override { show(before_); }
    void redo() override { show(after_); }
    int id() const override { return id_; }
    bool mergeWith(const QUndoCommand* later) override
    {
        after_ = static_cast<const Change*>(later)->after_;
        return true;
    }

private:
    void show(const Json& json)
    {
        Json shown = json;
        move_paths(shown, folder_, folder_of(document_.file_));
        document_.json_ = std::move(shown);
        emit document_.changed();
    }

    Document& document_;
    Json before_;
    Json after_;
    fs::path folder_; // that paths in both are relative to
    int id_;
};

Document::Document(QObject* parent) : QObject(parent), json_(Json::object()), saved_(json_)
{
    undo_.setUndoLimit(1000);
}

void Document::load(Json json, const std::string& file)
{
    json_ = std::move(json);
    saved_ = json_;
    file_ = file;
    undo_.clear();
    emit loaded();
    emit changed();
}

bool Document::would_lose() const
{
    std::error_code ignored;
    if (!named() || !fs::is_regular_file(file_, ignored))
        return false;
    const std::optional<std::string> now = read_file_up_to(file_, input_limits.max_bytes);
    const Checked<Json> read =
        now ? parse_json(*now, file_, input_limits) : tl::unexpected(Problems{});
    return !read || !(*read == saved_ || *read == json_);
}

void Document::mark_unsaved()
{
    saved_ = Json();
    emit changed();
}

Problems Document::open(const std::string& file)
{
    Checked<Json> json = read_json_file(file, input_limits);
    if (!json)
        return json.error();
    Problems problems;
    const Reader reader(*json, file, problems);
    if (!json->is_object())
        reader.error("a scenario is an object", "trainyard init writes one");
    else
        check_format(reader, scenario_format);
    if (!has_errors(problems))
        load(std::move(*json), file);
    return problems;
}

void Document::save(const std::string& file)
{
    Json moved = json_;
    move_paths(moved, folder_of(file_), folder_of(file));
    write_file(file, text_for(moved));
    json_ = std::move(moved);
    saved_ = json_;
    file_ = file;
    undo_.setClean();
    emit changed();
}

QString Document::title() const
{
    if (named())
        return QFileInfo(QString::fromStdString(file_)).fileName();
    return tr("new scenario");
}

// What the file has as text, brought up to date; of one that is gone or no longer what was read a
// text of our own.
std::string Document::text_for(const Json& json) const
{
    std::error_code ignored;
    const std::optional<std::string> before = fs::is_regular_file(file_, ignored)
                                                  ? read_file_up_to(file_, most_kept_layout)
                                                  : std::nullopt;
    const Checked<Json> read = before ? parse_json(*before, file_) : tl::unexpected(Problems{});
    return read && *read == saved_ ? edited_json(*before, json) : to_text(json) + "\n";
}

std::optional<Diagnostic> Document::set(const std::string& field, const std::string& text,
                                        Gesture gesture)
{
    return edit({{field, text}}, gesture);
}

std::optional<Diagnostic> Document::edit(const std::vector<Edit>& edits, Gesture gesture)
{
    Json after = json_;
    if (auto problem = apply(edits, after))
        return problem;
    if (after == json_)
        return std::nullopt;
    const Edit& first = edits.front();
    const QString name = QString::fromStdString(first.field);
    const QString what =
        first.text ? QStringLiteral("%1 = %2").arg(name, QString::fromStdString(*first.text))
                   : tr("reset %1").arg(name);
    const int id = gesture == Gesture::continuing
                       ? static_cast<int>(std::hash<std::string>{}(first.field) & 0x7fffffff)
                       : -1;
    undo_.push(new Change(*this, std::move(after), what, id));
    return std::nullopt;
}

std::optional<Diagnostic> Document::apply(const std::vector<Edit>& edits, Json& json) const
{
    ScenarioFile place; // where paths begin
    place.file = file_;
    place.base = fs::path(file_).parent_path();
    for (const Edit& one : edits)
        if (!one.text) {
            erase_from(json, one.field);
        } else {
            // A field of a file that it names changes a copy of what stands there.
            if (Problems problems = write_out_part(json, one.field, place); !problems.empty())
                return problems.front();
            if (auto problem = apply_override(json, {one.field, *one.text}))
                return problem;
        }
    return std::nullopt;
}

void Document::reset(const std::string& field)
{
    edit({{field, std::nullopt}});
}

void Document::replace(Json json, const QString& what)
{
    if (!(json == json_))
        undo_.push(new Change(*this, std::move(json), what, -1));
}

const Json* Document::find(const std::string& field) const
{
    return find_in(json_, field);
}

Checked<ScenarioFile> Document::read() const
{
    return scenario_from(json_, file_);
}

Checked<ScenarioFile> Document::read_with(const std::vector<Edit>& edits) const
{
    Json after = json_;
    if (auto problem = apply(edits, after))
        return tl::unexpected(Problems{std::move(*problem)});
    return scenario_from(std::move(after), file_);
}

} // namespace trainyard::gui
