#pragma once

// Files that are opened: read and recognised in the background, one after the other.

#include "gui/model/background_task.h"
#include "gui/model/document.h"
#include "gui/model/open_file.h"

#include <deque>

namespace trainyard::gui {

class FileOpener : public QObject {
    Q_OBJECT

public:
    // What to do with what a file turned out to be.
    using Take = std::function<void(const std::string& file, Checked<Opened> content)>;

    // Jobs are imported on the cluster of the document's scenario.
    FileOpener(const Document& document, Take take);

    void open(const std::string& file);    // after those that were asked for before
    void import_again(ImportQuestion job); // likewise
    void cancel();                         // also of those that wait
    bool busy() const { return task_.busy() || !waiting_.empty(); }

signals:
    void busyChanged();
    void failed(const QString& message); // the world refused one

private:
    struct Wanted {
        std::string file;
        std::optional<ImportQuestion> job; // a file that was read before
    };
    struct Read {
        std::string file;
        Checked<Opened> content;
    };

    void add(Wanted wanted);
    void next();
    void follow();

    const Document& document_;
    Take take_;
    std::deque<Wanted> waiting_;
    std::shared_ptr<Read> read_;
    BackgroundTask task_;
};

} // namespace trainyard::gui
