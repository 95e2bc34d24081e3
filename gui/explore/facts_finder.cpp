#include "gui/explore/facts_finder.h"

#include "sim/base/files.h"

#include <QMetaObject>
#include <memory>

namespace trainyard::gui {

FactsFinder::FactsFinder(QObject* parent) : QObject(parent)
{
    pool_.setMaxThreadCount(1);
}

FactsFinder::~FactsFinder()
{
    pool_.clear();
    pool_.waitForDone();
}

void FactsFinder::find(ScenarioFile file)
{
    busy_ = true;
    pool_.clear();
    pool_.start(
        [this, serial = ++serial_, shared = std::make_shared<const ScenarioFile>(std::move(file))] {
            Checked<SweepFacts> facts = tl::unexpected(Problems{});
            try {
                facts = sweep_facts(*shared);
            } catch (const WorldError& error) {
                facts = tl::unexpected(Problems{{"", 0, "", error.message, "", Severity::error}});
            }
            QMetaObject::invokeMethod(this, [this, serial, facts = std::move(facts)] {
                if (serial != serial_)
                    return;
                busy_ = false;
                emit found(facts);
            });
        });
}

} // namespace trainyard::gui
