#pragma once

// The cluster of the open scenario, edited in its form.

#include "gui/model/background_task.h"
#include "gui/model/document.h"

#include <QDialog>

class QLabel;
class QPushButton;

namespace trainyard::gui {

class ClusterEditor;

class ClusterDialog : public QDialog {
    Q_OBJECT

public:
    explicit ClusterDialog(Document& document, QWidget* parent = nullptr);

    // The scenario's cluster as it is now, whatever was typed before: a shipped one, a file's, or
    // the one written out.
    void read();
    // A topology's file. Throws WorldError.
    void save_to(const std::string& file) const;

    ClusterEditor& cluster() { return *cluster_; }
    bool busy() const;

private:
    void follow();
    void follow_document();
    void apply();
    void ask_save();
    void say(const QString& text);

    Document& document_;
    ClusterEditor* cluster_;
    QLabel* note_;
    QPushButton* apply_;
    QPushButton* save_;
    Json known_; // the scenario's topology, as it was read or applied
    BackgroundTask reading_;
};

} // namespace trainyard::gui
