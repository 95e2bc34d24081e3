#pragma once

// The scenario's fields as a tree: name, value, what is taken, where the value comes from, and what
// is wrong with it.

#include "gui/model/document.h"
#include "gui/model/form.h"

#include <QAbstractItemModel>

namespace trainyard::gui {

class FormModel : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Column { name_column, value_column, takes_column, origin_column, problem_column };
    enum Role { field_role = Qt::UserRole, search_role, given_role };

    // What a row edits; null for the invisible root.
    struct Row {
        const FormField* field = nullptr;
        std::string path; // of the field, an entry's number in place of "*"
        int entry = -1;   // of a list's entry
    };

    explicit FormModel(Document& document, QObject* parent = nullptr);
    ~FormModel() override;

    Row row_at(const QModelIndex& index) const;
    // The row of a field ("strategy.tp"), or of the nearest that has one.
    QModelIndex index_of(const std::string& path) const;

    // What would be wrong with the field if this were its text: its form and range, as one types.
    QString problem_with(const QModelIndex& index, const QString& text) const;
    // Of the scenario as it is: shown beside the fields that they point to.
    void set_problems(const Problems& problems);

    void add_entry(const QModelIndex& list);
    void remove_entry(const QModelIndex& entry);
    void reset(const QModelIndex& index);

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    // Keys and clicks anywhere in a row edit its value.
    QModelIndex buddy(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    struct Node;

    const Node& node_at(const QModelIndex& index) const;
    QVariant cell_text(const Node& node, int column) const;
    QString entries_text(const Node& list) const;
    QString value_text(const Node& node) const;
    QString origin_text(const Node& node) const;
    const Diagnostic* problem_of(const Node& node) const;
    void follow_document();
    void fit_entries(Node& list);
    void fit_unknown();

    Document& document_;
    std::unique_ptr<Node> root_;
    std::size_t known_ = 0;                           // children of the root that are fields
    std::vector<std::unique_ptr<FormField>> unknown_; // those after them: keys nobody knows
    Problems problems_;
};

} // namespace trainyard::gui
