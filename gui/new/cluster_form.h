#pragma once

// The form of a cluster: its kind of node, how many, the network between them, and every other
// field of a generated topology. What is wrong is said beside its field.

#include "gui/new/cluster_draft.h"
#include "sim/base/diagnostic.h"

#include <QWidget>
#include <functional>

class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QToolButton;

namespace trainyard::gui {

class ClusterForm : public QWidget {
    Q_OBJECT

public:
    explicit ClusterForm(QWidget* parent = nullptr);

    void set_draft(std::shared_ptr<const ClusterChoices> choices, ClusterDraft draft);
    // Requires a draft.
    const Json& topology() const { return draft_->json(); }
    bool has_draft() const { return draft_.has_value(); }

    // Of what is described now.
    void set_problems(const Problems& problems);

signals:
    void edited();

protected:
    void changeEvent(QEvent* event) override;

private:
    struct Row {
        std::string pointer; // of the topology: "/node/gpus"
        QLabel* name = nullptr;
        QWidget* field = nullptr;
        QLabel* problem = nullptr;
        bool more = false; // among the fields that are folded away at first
    };
    struct TextField {
        std::string field; // "node.gpus"; empty: racks
        QLineEdit* edit = nullptr;
    };
    struct ListField {
        std::string field;
        QComboBox* box = nullptr;
    };

    void make_main_rows();
    void make_more_rows();
    QComboBox* add_choice(const QString& name, const char* field);
    void add_text(QGridLayout* grid, const std::string& field, const QString& name);
    void add_list(QGridLayout* grid, const FormField& field, const QString& name);
    void add_row(QGridLayout* grid, const QString& name, const std::string& field, QWidget* widget);
    void fill_choices();
    void fill();
    void take_text(const TextField& text);
    void take(const std::string& field, const std::string& text);
    void fill_list(const ListField& list);
    void choose(const std::function<void(ClusterDraft&)>& what);
    void show_problems();
    const Row* row_of(const std::string& pointer) const;

    std::shared_ptr<const ClusterChoices> choices_;
    std::optional<ClusterDraft> draft_;
    Problems problems_;
    std::optional<Diagnostic> refused_; // of the text typed last
    QGridLayout* grid_;
    QComboBox* node_ = nullptr;
    QComboBox* network_ = nullptr;
    QComboBox* fabric_ = nullptr;
    QToolButton* more_button_ = nullptr;
    QWidget* more_ = nullptr;
    QLabel* elsewhere_ = nullptr; // problems of no field
    std::vector<Row> rows_;
    std::vector<TextField> texts_;
    std::vector<ListField> lists_;
};

} // namespace trainyard::gui
