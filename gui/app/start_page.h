#pragma once

// Where one begins: recent files, examples, and a place to drop files.

#include <QWidget>
#include <vector>

class QListWidget;

namespace trainyard::gui {

// Each simulates in well under a second.
struct Example {
    QString file;
    QString title;
    QString says;
};
std::vector<Example> examples();

class StartPage : public QWidget {
    Q_OBJECT

public:
    explicit StartPage(QWidget* parent = nullptr);

    // The latest first; those that are gone are left out.
    void set_recent(const QStringList& files);

signals:
    void chosen(const QString& file);
    void browse();

private:
    QWidget* make_examples();

    QListWidget* recent_;
};

} // namespace trainyard::gui
