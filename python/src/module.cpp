// The module trainyard._core: what the typed layer beside it calls. Text goes in and comes out;
// names, types and help are those of the Python files.

#include "python/src/parts.h"
#include "python/src/raising.h"
#include "python/src/waiting.h"
#include "sim/base/build_info.h"
#include "sim/base/freed_memory.h"

#include <nanobind/stl/string.h>

namespace trainyard::python {
namespace {

namespace nb = nanobind;

// Never destroyed: at exit other threads may still be at work, after a fork locks may be held by
// threads that are gone.
std::shared_ptr<Session>& kept_session()
{
    static auto* const kept = new std::shared_ptr<Session>;
    return *kept;
}

} // namespace

std::shared_ptr<Session> session()
{
    if (!kept_session())
        kept_session() = std::make_shared<Session>();
    return kept_session();
}

void forget_session()
{
    static_cast<void>(new std::shared_ptr<Session>(kept_session())); // not destroyed
    kept_session() = nullptr;
}

nb::str python_text(const std::string& text)
{
    PyObject* const out =
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
    if (out == nullptr)
        throw nb::python_error();
    return nb::steal<nb::str>(out);
}

ScenarioCore core_of(ScenarioFile file)
{
    return {std::make_shared<const ScenarioFile>(std::move(file))};
}

NB_MODULE(_core, module)
{
    keep_freed_memory();
    add_exceptions();
    module.def("version", [] { return std::string(version()); });
    module.def("data_dir", [] { return data_dir().string(); });
    module.def("set_data_dir", [](const std::string& folder) { set_data_dir(folder); });
    module.def("after_fork", [] {
        forget_session();
        forget_calls();
    });
    module.def("end_calls", &end_calls);
    add_scenarios(module);
    add_simulations(module);
    add_studies(module);
    add_imports(module);
}

} // namespace trainyard::python
