#include "gui/scenario/form_model.h"

#include "gui/model/qt_text.h"
#include "sim/base/fields.h"

#include <QFont>
#include <QPalette>
#include <algorithm>

namespace trainyard::gui {

struct FormModel::Node {
    const FormField* field = nullptr;
    Node* parent = nullptr;
    int row = 0;
    int entry = -1;
    std::string path;
    std::vector<std::unique_ptr<Node>> children;

    bool is_list() const { return entry < 0 && field->kind == FieldKind::list; }
    bool has_value() const
    {
        return entry < 0 && field->kind != FieldKind::group && field->kind != FieldKind::list;
    }

    void add_fields()
    {
        for (const FormField& inner : field->fields) {
            const std::string at = path.empty() ? inner.name : path + "." + inner.name;
            Node& child = add(inner, at);
            if (!child.is_list())
                child.add_fields();
        }
    }

    Node& add(const FormField& inner, std::string at)
    {
        auto child = std::make_unique<Node>();
        child->field = &inner;
        child->parent = this;
        child->row = static_cast<int>(children.size());
        child->path = std::move(at);
        children.push_back(std::move(child));
        return *children.back();
    }
};

namespace {

// "/strategy/tp" as "strategy.tp".
std::string path_of(const std::string& pointer)
{
    std::string path = pointer.empty() ? pointer : pointer.substr(1);
    std::replace(path.begin(), path.end(), '/', '.');
    return path;
}

bool is_at_or_below(const std::string& path, const std::string& above)
{
    return path == above || path.starts_with(above + ".");
}

// Of a list that a program wrote the form has the first: nobody edits more by hand.
constexpr std::size_t most_entries = 1000;

std::size_t entries(const Json* list)
{
    return list != nullptr && list->is_array() ? list->items().size() : 0;
}

} // namespace

FormModel::FormModel(Document& document, QObject* parent)
    : QAbstractItemModel(parent), document_(document), root_(std::make_unique<Node>())
{
    root_->field = &scenario_form();
    root_->add_fields();
    known_ = root_->children.size();
    follow_document();
    connect(&document_, &Document::changed, this, &FormModel::follow_document);
}

FormModel::~FormModel() = default;

const FormModel::Node& FormModel::node_at(const QModelIndex& index) const
{
    return index.isValid() ? *static_cast<const Node*>(index.internalPointer()) : *root_;
}

FormModel::Row FormModel::row_at(const QModelIndex& index) const
{
    const Node& node = node_at(index);
    return {index.isValid() ? node.field : nullptr, node.path, node.entry};
}

QModelIndex FormModel::index_of(const std::string& path) const
{
    for (std::size_t i = known_; i < root_->children.size(); ++i)
        if (is_at_or_below(path, root_->children[i]->path))
            return createIndex(static_cast<int>(i), 0, root_->children[i].get());
    QModelIndex at;
    for (bool deeper = true; deeper;) {
        deeper = false;
        for (const auto& child : node_at(at).children)
            if (is_at_or_below(path, child->path)) {
                at = createIndex(child->row, 0, child.get());
                deeper = true;
                break;
            }
    }
    return at;
}

QString FormModel::problem_with(const QModelIndex& index, const QString& text) const
{
    const Node& node = node_at(index);
    if (!node.has_value() || text.isEmpty())
        return {};
    Json changed = document_.json();
    const auto refused =
        apply_override(changed, {node.path, node.field->with_unit(text.trimmed().toStdString())});
    if (refused)
        return text_of(refused->message);
    Problems problems;
    const Reader reader(changed, "", problems);
    Scenario ignored;
    fields_of<Scenario>().read(reader, ignored);
    for (const Diagnostic& problem : problems)
        if (problem.severity == Severity::error &&
            is_at_or_below(path_of(problem.pointer), node.path))
            return problem.hint.empty() ? text_of(problem.message)
                                        : text_of(problem.message + " (" + problem.hint + ")");
    return {};
}

void FormModel::set_problems(const Problems& problems)
{
    problems_ = problems;
    follow_document();
}

void FormModel::follow_document()
{
    for (const auto& child : root_->children)
        if (child->is_list())
            fit_entries(*child);
    fit_unknown();
    const auto tell = [this](const auto& self, const Node& node) -> void {
        if (node.children.empty())
            return;
        emit dataChanged(createIndex(0, 0, node.children.front().get()),
                         createIndex(static_cast<int>(node.children.size()) - 1, problem_column,
                                     node.children.back().get()));
        for (const auto& child : node.children)
            self(self, *child);
    };
    tell(tell, *root_);
}

// As many entries as the document has.
void FormModel::fit_entries(Node& list)
{
    const auto wanted =
        static_cast<int>(std::min(entries(document_.find(list.path)), most_entries));
    const auto have = static_cast<int>(list.children.size());
    const QModelIndex at = createIndex(list.row, 0, &list);
    if (wanted < have) {
        beginRemoveRows(at, wanted, have - 1);
        list.children.resize(static_cast<std::size_t>(wanted));
        endRemoveRows();
    } else if (wanted > have) {
        beginInsertRows(at, have, wanted - 1);
        for (int entry = have; entry < wanted; ++entry) {
            Node& added = list.add(*list.field, list.path + "." + std::to_string(entry));
            added.entry = entry;
            added.add_fields();
        }
        endInsertRows();
    }
}

// Keys that nobody knows come last, under their whole names.
void FormModel::fit_unknown()
{
    const std::vector<std::string> wanted = unknown_keys(scenario_form(), document_.json());
    if (std::ranges::equal(wanted, unknown_, {}, {}, [](const auto& one) { return one->field; }))
        return;
    const auto have = static_cast<int>(root_->children.size());
    const auto known = static_cast<int>(known_);
    if (have > known) {
        beginRemoveRows({}, known, have - 1);
        root_->children.resize(known_);
        unknown_.clear();
        endRemoveRows();
    }
    if (wanted.empty())
        return;
    beginInsertRows({}, known, known + static_cast<int>(wanted.size()) - 1);
    for (const std::string& path : wanted) {
        auto field = std::make_unique<FormField>();
        field->field = field->name = path;
        field->kind = FieldKind::unknown;
        field->help = "This key is no field of a scenario: correct its name, or remove it.";
        root_->add(*field, path);
        unknown_.push_back(std::move(field));
    }
    endInsertRows();
}

void FormModel::add_entry(const QModelIndex& list)
{
    const Node& node = node_at(list);
    if (!node.is_list())
        return;
    Json all = Json::array();
    if (const Json* const now = document_.find(node.path); now && now->is_array())
        all = *now;
    all.push_back(Json::object());
    document_.set(node.path, to_text(all, JsonStyle::compact));
}

void FormModel::remove_entry(const QModelIndex& entry)
{
    const Node& node = node_at(entry);
    if (node.entry < 0)
        return;
    Json all = *document_.find(node.parent->path);
    all.items().erase(all.items().begin() + node.entry);
    if (all.items().empty())
        document_.reset(node.parent->path);
    else
        document_.set(node.parent->path, to_text(all, JsonStyle::compact));
}

void FormModel::reset(const QModelIndex& index)
{
    document_.reset(node_at(index).path);
}

QModelIndex FormModel::index(int row, int column, const QModelIndex& parent) const
{
    const Node& node = node_at(parent);
    if (row < 0 || row >= static_cast<int>(node.children.size()) || column < 0 ||
        column > problem_column || (parent.isValid() && parent.column() != 0))
        return {};
    return createIndex(row, column, node.children[static_cast<std::size_t>(row)].get());
}

QModelIndex FormModel::parent(const QModelIndex& index) const
{
    if (!index.isValid())
        return {};
    Node* const above = node_at(index).parent;
    return above == nullptr || above == root_.get() ? QModelIndex()
                                                    : createIndex(above->row, 0, above);
}

int FormModel::rowCount(const QModelIndex& parent) const
{
    return parent.column() > 0 ? 0 : static_cast<int>(node_at(parent).children.size());
}

int FormModel::columnCount(const QModelIndex&) const
{
    return problem_column + 1;
}

QVariant FormModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Node& node = node_at(index);
    switch (role) {
    case Qt::DisplayRole:
        return cell_text(node, index.column());
    case Qt::EditRole:
        return index.column() == value_column ? QVariant(value_text(node)) : QVariant();
    case Qt::ToolTipRole:
        if (index.column() == problem_column && problem_of(node) != nullptr)
            return text_of(problem_of(node)->message + "\n" + problem_of(node)->hint);
        if (const QString text = cell_text(node, index.column()).toString(); !text.isEmpty())
            return tr("%1\n%2").arg(text, text_of(node.field->help)); // it may be cut short
        return text_of(node.field->help);
    case Qt::FontRole: {
        QFont font;
        font.setBold(node.has_value() && document_.find(node.path) != nullptr &&
                     index.column() <= value_column);
        return font;
    }
    case field_role:
        return text_of(node.path);
    case given_role:
        return (node.has_value() || node.is_list()) && document_.find(node.path) != nullptr;
    case search_role: // what a filter looks at
        return text_of(node.path + " " + node.field->help);
    default:
        return {};
    }
}

QVariant FormModel::cell_text(const Node& node, int column) const
{
    switch (column) {
    case name_column:
        return node.entry >= 0 ? tr("number %1").arg(node.entry + 1) : text_of(node.field->label());
    case value_column:
        if (node.is_list())
            return entries_text(node);
        return value_text(node);
    case takes_column:
        return node.has_value() ? text_of(node.field->takes()) : QString();
    case origin_column:
        return origin_text(node);
    case problem_column: {
        const Diagnostic* const problem = problem_of(node);
        return problem != nullptr ? text_of(problem->message) : QString();
    }
    default:
        return {};
    }
}

QString FormModel::entries_text(const Node& list) const
{
    const std::size_t given = entries(document_.find(list.path));
    if (given > list.children.size())
        return tr("%L1 given, the first %L2 here").arg(given).arg(list.children.size());
    return given == 0 ? tr("none") : tr("%L1 given").arg(given);
}

QString FormModel::value_text(const Node& node) const
{
    if (!node.has_value())
        return {};
    const Json* const given = document_.find(node.path);
    if (given != nullptr && node.field->kind == FieldKind::file && given->is_object()) {
        for (const char* key : {"hf_config", "file"})
            if (const Json* const path = given->find(key); path && path->is_string())
                return text_of(path->as_string());
        return tr("{ written out, %n entries }", nullptr,
                  static_cast<int>(given->members().size()));
    }
    return text_of(given != nullptr ? edit_text(*given) : node.field->default_text());
}

QString FormModel::origin_text(const Node& node) const
{
    if (!node.has_value())
        return {};
    if (document_.find(node.path) != nullptr)
        return tr("scenario");
    if (node.field->required)
        return tr("missing");
    return node.field->default_value.is_null() ? tr("chosen") : tr("default");
}

// Of a field its own; of a group without visible fields what is wrong anywhere in it.
const Diagnostic* FormModel::problem_of(const Node& node) const
{
    const Diagnostic* found = nullptr;
    for (const Diagnostic& problem : problems_) {
        const std::string path = path_of(problem.pointer);
        const bool here =
            node.children.empty() ? is_at_or_below(path, node.path) : path == node.path;
        if (!problem.pointer.empty() && here &&
            (found == nullptr || problem.severity == Severity::error))
            found = &problem;
    }
    return found;
}

bool FormModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (role != Qt::EditRole || !(flags(index) & Qt::ItemIsEditable))
        return false;
    const Node& node = node_at(index);
    const std::string text = value.toString().trimmed().toStdString();
    if (text == value_text(node).toStdString())
        return false;
    if (text.empty())
        document_.reset(node.path);
    else if (document_.set(node.path, node.field->with_unit(text)))
        return false;
    return true;
}

QModelIndex FormModel::buddy(const QModelIndex& index) const
{
    return index.siblingAtColumn(value_column);
}

QVariant FormModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case name_column:
        return tr("Field");
    case value_column:
        return tr("Value");
    case takes_column:
        return tr("Takes");
    case origin_column:
        return tr("From");
    default:
        return tr("Problem");
    }
}

Qt::ItemFlags FormModel::flags(const QModelIndex& index) const
{
    if (!index.isValid())
        return Qt::NoItemFlags;
    Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
    if (index.column() == value_column && node_at(index).has_value())
        flags |= Qt::ItemIsEditable;
    return flags;
}

} // namespace trainyard::gui
