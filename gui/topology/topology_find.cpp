// The search of TopologyPanel.

#include "gui/topology/topology_panel.h"

#include <QLabel>
#include <QLineEdit>

namespace trainyard::gui {

// Return: what is found, then the next of it.
void TopologyPanel::search()
{
    const QString text = search_->text().trimmed();
    if (text == searched_ && !matches_.found.empty()) {
        show_match(1);
        return;
    }
    const std::shared_ptr<const TopologyRun> run = canvas_->run();
    if (!run || text.isEmpty())
        return;
    constexpr std::size_t most = 1000; // matches to go through one by one
    search_task_.start([this, run, text](const WorkControl& work) -> BackgroundTask::Answer {
        return [this, text, found = find_in_cluster(*run, text.toStdString(), most, work)] {
            searched_ = text;
            matches_ = found;
            match_ = 0;
            show_match(0);
        };
    });
}

void TopologyPanel::show_match(std::ptrdiff_t by)
{
    const auto count = static_cast<std::ptrdiff_t>(matches_.found.size());
    if (count == 0) {
        matched_->setText(tr("none found"));
        return;
    }
    match_ = static_cast<std::size_t>((static_cast<std::ptrdiff_t>(match_) + by + count) % count);
    const TopologyMatch& match = matches_.found[match_];
    matched_->setText(tr("%L1 of %L2").arg(match_ + 1).arg(matches_.count));
    if (match.link)
        canvas_->go_to(*match.link);
    else if (match.place)
        canvas_->go_to_place(*match.place);
}

} // namespace trainyard::gui
