#include "python/src/raising.h"

#include "sim/base/progress.h"

#include <filesystem>
#include <string>

namespace trainyard::python {
namespace {

namespace nb = nanobind;

nb::str text_of(const std::string& text)
{
    return nb::steal<nb::str>(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

// Sets the exception `name` of trainyard.errors, made of `arguments`.
template <class... Arguments>
void raise(const char* name, Arguments&&... arguments)
{
    try {
        const nb::object type = nb::module_::import_("trainyard.errors").attr(name);
        const nb::object error = type(std::forward<Arguments>(arguments)...);
        PyErr_SetObject(type.ptr(), error.ptr());
    } catch (nb::python_error& other) { // of the making itself
        other.restore();
    }
}

void translate(const std::exception_ptr& thrown, void*)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const InputError& error) {
        raise("InputError", problem_tuples(error.problems));
    } catch (const WorldError& error) {
        raise("WorldError", text_of(error.message));
    } catch (const std::filesystem::filesystem_error& error) {
        raise("WorldError", text_of(error.what()));
    } catch (const Cancelled&) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
}

} // namespace

nb::list problem_tuples(const Problems& problems)
{
    nb::list out;
    for (const Diagnostic& problem : problems)
        out.append(nb::make_tuple(problem.severity == Severity::error ? "error" : "warning",
                                  text_of(problem.message), text_of(problem.file), problem.line,
                                  text_of(problem.pointer), text_of(problem.hint)));
    return out;
}

void add_exceptions()
{
    nb::register_exception_translator(translate, nullptr);
}

} // namespace trainyard::python
