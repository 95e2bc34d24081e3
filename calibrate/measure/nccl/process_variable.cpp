#include "calibrate/measure/nccl/process_variable.h"

#include <cstdlib>

namespace trainyard {

ProcessVariable::ProcessVariable(const NcclApi& api, const char* name, const std::string& value)
    : api_(api), name_(name)
{
    if (const char* before = std::getenv(name))
        before_ = before;
    api_.set_variable(name_, value.c_str());
}

ProcessVariable::~ProcessVariable()
{
    api_.set_variable(name_, before_ ? before_->c_str() : nullptr);
}

} // namespace trainyard
