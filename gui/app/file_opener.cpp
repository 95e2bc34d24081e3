#include "gui/app/file_opener.h"

#include <utility>

namespace trainyard::gui {

FileOpener::FileOpener(const Document& document, Take take)
    : document_(document), take_(std::move(take))
{
    connect(&task_, &BackgroundTask::busyChanged, this, &FileOpener::follow);
    connect(&task_, &BackgroundTask::failed, this, &FileOpener::failed);
}

void FileOpener::open(const std::string& file)
{
    add({file, std::nullopt});
}

void FileOpener::import_again(ImportQuestion job)
{
    const std::string file = job.file;
    add({file, std::move(job)});
}

void FileOpener::add(Wanted wanted)
{
    waiting_.push_back(std::move(wanted));
    if (!task_.busy())
        next();
}

void FileOpener::cancel()
{
    waiting_.clear();
    task_.cancel();
}

void FileOpener::next()
{
    Wanted wanted = std::move(waiting_.front());
    waiting_.pop_front();
    task_.start([this, wanted = std::move(wanted), scenario = document_.json()](
                    const WorkControl& control) -> BackgroundTask::Answer {
        auto read = std::make_shared<Read>(
            Read{wanted.file, wanted.job ? Opened(import_job_text(*wanted.job, scenario))
                                         : open_any(wanted.file, scenario, control)});
        return [this, read] { read_ = read; };
    });
}

// The next begins when all that the one before brought is in place.
void FileOpener::follow()
{
    if (!task_.busy()) {
        if (const std::shared_ptr<Read> read = std::exchange(read_, nullptr))
            take_(read->file, std::move(read->content));
        if (!task_.busy() && !waiting_.empty()) {
            next();
            return;
        }
    }
    emit busyChanged();
}

} // namespace trainyard::gui
