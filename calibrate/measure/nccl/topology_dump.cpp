#include "calibrate/measure/nccl/topology_dump.h"

#include "sim/base/diagnostic.h"
#include "sim/base/files.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr const char* file_variable = "NCCL_TOPO_DUMP_FILE";
constexpr const char* rank_variable = "NCCL_TOPO_DUMP_FILE_RANK"; // read once by a process
constexpr std::size_t longest_dump = std::size_t{16} << 20;

} // namespace

TopologyDump::TopologyDump(const NcclApi& api, int rank)
{
    if (const char* given = std::getenv(file_variable); given && *given) {
        file_ = given;
        before_ = written();
        return;
    }
    memory_ = ::memfd_create("trainyard-topology", MFD_CLOEXEC);
    if (memory_ < 0)
        return;
    file_ = fmt::format("/proc/self/fd/{}", memory_);
    where_.emplace(api, file_variable, file_);
    who_.emplace(api, rank_variable, std::to_string(rank));
}

TopologyDump::~TopologyDump()
{
    if (memory_ >= 0)
        ::close(memory_);
}

std::optional<fs::file_time_type> TopologyDump::written() const
{
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(file_, error);
    return error ? std::nullopt : std::optional(time);
}

std::string TopologyDump::text() const
{
    const bool is_old = memory_ < 0 && written() == before_;
    if (file_.empty() || is_old)
        return {};
    try {
        return read_file_up_to(file_, longest_dump).value_or("");
    } catch (const WorldError&) {
        return {};
    }
}

} // namespace trainyard
