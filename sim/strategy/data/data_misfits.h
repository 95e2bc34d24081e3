#pragma once

// What keeps a job's data loading from fitting its model. Used by `resolve`.

#include "sim/strategy/misfits.h"

namespace trainyard {

Problems data_misfits(const Job& job);

} // namespace trainyard
