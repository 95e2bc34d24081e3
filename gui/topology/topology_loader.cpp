#include "gui/topology/topology_loader.h"

#include <QMetaObject>

namespace trainyard::gui {

TopologyLoader::~TopologyLoader()
{
    if (cancel_)
        cancel_->cancel();
    pool_.clear();
    pool_.waitForDone();
}

bool TopologyLoader::cancel()
{
    if (!busy_)
        return false;
    cancel_->cancel();
    ++serial_;
    busy_ = false;
    return true;
}

void TopologyLoader::load(std::shared_ptr<const RunView> run,
                          std::shared_ptr<const ClusterGraph> graph)
{
    if (cancel_)
        cancel_->cancel();
    cancel_ = std::make_shared<CancelFlag>();
    busy_ = true;
    pool_.clear();
    pool_.setMaxThreadCount(1);
    pool_.start([this, serial = ++serial_, cancel = cancel_, run = std::move(run),
                 graph = std::move(graph)] {
        const ProgressCall progress = [this, serial](std::string_view stage, double done,
                                                     double total) {
            const QString text = QString::fromUtf8(stage.data(), static_cast<int>(stage.size()));
            QMetaObject::invokeMethod(this, [this, serial, text, done, total] {
                if (serial == serial_ && busy_)
                    emit progressed(text, done, total);
            });
        };
        std::shared_ptr<const TopologyRun> made;
        QString message;
        try {
            made = std::make_shared<const TopologyRun>(run->outcome, graph,
                                                       WorkControl{cancel.get(), progress});
        } catch (const Cancelled&) {
            return;
        } catch (const std::bad_alloc&) {
            message = tr("There is not enough memory for a picture of this cluster.");
        }
        QMetaObject::invokeMethod(this, [this, serial, made = std::move(made), message] {
            answer(serial, made, message);
        });
    });
}

void TopologyLoader::answer(std::uint64_t serial, std::shared_ptr<const TopologyRun> run,
                            const QString& message)
{
    if (serial != serial_)
        return;
    busy_ = false;
    if (run)
        emit loaded(run);
    else
        emit failed(message);
}

} // namespace trainyard::gui
