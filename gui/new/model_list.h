#pragma once

// The model of a new job: one that comes along, by name, or a config.json. What it is stands below,
// read in the background.

#include "gui/model/background_task.h"
#include "sim/base/diagnostic.h"

#include <QWidget>

class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QStandardItemModel;
class QTreeView;

namespace trainyard::gui {

class ModelList : public QWidget {
    Q_OBJECT

public:
    explicit ModelList(QWidget* parent = nullptr);

    // A name, a published one ("meta-llama/Llama-3.1-70B"), or a file; empty: none yet.
    const std::string& chosen() const { return chosen_; }
    // It was read, and is a model.
    bool valid() const { return valid_; }
    bool busy() const { return listing_.busy() || reading_.busy(); }
    void choose(const QString& model);

    QTreeView& list() { return *list_; }
    QLineEdit& search() { return *search_; }

signals:
    void changed();

private:
    struct Listed {
        std::string name;
        double parameters = 0;
        double active = 0; // of mixtures of experts
    };

    void fill(const std::vector<Listed>& models);
    void take_text();
    void take_row();
    void read();
    void browse();

    QLineEdit* search_;
    QTreeView* list_;
    QStandardItemModel* models_;
    QSortFilterProxyModel* found_;
    QLabel* facts_;
    std::string chosen_;
    bool valid_ = false;
    BackgroundTask listing_;
    BackgroundTask reading_;
};

} // namespace trainyard::gui
