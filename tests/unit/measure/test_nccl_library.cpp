#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/nccl/nccl_api.h"
#include "calibrate/measure/backend/shared_library.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

#include <cstdlib>

using namespace trainyard;

namespace {

// Opens the library that TRAINYARD_NCCL_LIBRARY would name.
MeasureFailure failure_with(const std::string& file)
{
    setenv("TRAINYARD_NCCL_LIBRARY", file.c_str(), 1);
    MeasureFailure out;
    try {
        open_nccl();
        FAIL_CHECK("opened " << file);
    } catch (const MeasureFailure& failure) {
        out = failure;
    }
    unsetenv("TRAINYARD_NCCL_LIBRARY");
    return out;
}

} // namespace

TEST_CASE("an NCCL that is not there says what was tried and how to name one")
{
    const MeasureFailure failure = failure_with("/nowhere/libnccl.so.2");
    CHECK(failure.kind == FailureKind::missing);
    CHECK_THAT(failure.message, ContainsSubstring("/nowhere/libnccl.so.2"));
    CHECK_THAT(failure.fix, ContainsSubstring("TRAINYARD_NCCL_LIBRARY"));
}

TEST_CASE("an NCCL that is no library of this machine says so in the linker's words")
{
    const testing::Folder folder;
    const MeasureFailure failure = failure_with(folder.file("libnccl.so.2", "no library"));
    CHECK(failure.kind == FailureKind::missing);
    CHECK_THAT(failure.message, StartsWith("NCCL cannot be opened: "));
    CHECK_THAT(failure.message,
               ContainsSubstring("file too short") || ContainsSubstring("invalid ELF header"));
}

TEST_CASE("an old NCCL is refused by its version")
{
    const MeasureFailure failure = failure_with(TRAINYARD_OLD_NCCL);
    CHECK(failure.kind == FailureKind::missing);
    CHECK_THAT(failure.message, ContainsSubstring("is NCCL 2.8.4, too old: 2.18.0 is needed"));
}

TEST_CASE("an NCCL without a function that is needed is refused by its name")
{
    const MeasureFailure failure = failure_with(TRAINYARD_INCOMPLETE_NCCL);
    CHECK(failure.kind == FailureKind::missing);
    CHECK_THAT(failure.message, ContainsSubstring("lacks ncclGetUniqueId, "));
    CHECK_THAT(failure.message, !ContainsSubstring("ncclGetVersion"));
}

TEST_CASE("versions are written as NCCL writes them, before and after 2.9")
{
    CHECK(nccl_version_text(22809) == "2.28.9");
    CHECK(nccl_version_text(21800) == "2.18.0");
    CHECK(nccl_version_text(2804) == "2.8.4");
}

TEST_CASE("libraries of Python's wheels are found beside those of packages")
{
    const testing::Folder folder;
    const std::vector<std::string> expected{
        folder.file("lib64/libx.so.1", ""),
        folder.file("lib/python3.11/site-packages/nvidia/cu13/lib/libx.so.1", ""),
        folder.file("lib/python3.12/dist-packages/nvidia/x/lib/libx.so.1", "")};
    folder.file("lib/python3.12/dist-packages/other/x/lib/libx.so.1", "");
    CHECK(libraries_below(folder.path().string(), "libx.so.1") == expected);
}
