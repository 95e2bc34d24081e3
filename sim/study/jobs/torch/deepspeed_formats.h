#pragma once

// Number formats of DeepSpeed's configuration.

#include "sim/study/jobs/setting_tree.h"

namespace trainyard {

// The format of products and of gradients. The stage must be known. After a trainer its arguments
// stand for what is left open.
void read_deepspeed_formats(SettingTree& settings, JobDraft& draft, bool after_trainer);

} // namespace trainyard
