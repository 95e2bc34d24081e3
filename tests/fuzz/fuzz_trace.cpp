#include "sim/traces/kineto_reader.h"
#include "sim/traces/run_summary.h"
#include "tests/fuzz/input.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace trainyard;

namespace {

// The bytes under a name that a reader of files can open.
class FileInMemory {
public:
    explicit FileInMemory(std::string_view bytes) : number_(::memfd_create("fuzz", 0))
    {
        fuzz::require(number_ >= 0, "there is memory for a file");
        const ssize_t written = ::write(number_, bytes.data(), bytes.size());
        fuzz::require(written == static_cast<ssize_t>(bytes.size()), "the file is written whole");
    }
    FileInMemory(const FileInMemory&) = delete;
    FileInMemory& operator=(const FileInMemory&) = delete;
    ~FileInMemory() { ::close(number_); }

    std::string name() const { return fmt::format("/proc/self/fd/{}", number_); }

private:
    int number_;
};

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const FileInMemory file(fuzz::text_of(data, size));
    Checked<std::vector<RankTrace>> ranks = read_kineto(file.name());
    if (!ranks) {
        fuzz::require(!ranks.error().empty(), "a refused trace has a reason");
        return 0;
    }
    std::vector<DigestedRank> digested;
    for (RankTrace& rank : *ranks) {
        fuzz::require(!rank.device_events.empty(), "a rank that is read did something");
        digested.push_back(digest(std::move(rank)));
    }
    const Checked<JobTrace> job = join_ranks(std::move(digested));
    if (!job) {
        fuzz::require(!job.error().empty(), "refused ranks have a reason");
        return 0;
    }
    for (const RankSummary& rank : run_summary(*job).ranks) {
        Seconds sum = rank.gaps;
        for (const Seconds time : rank.time)
            sum += time;
        const double off = (sum - rank.step).value();
        fuzz::require(off < 1e-6 * (1 + rank.step.value()) && -off < 1e-6 * (1 + rank.step.value()),
                      "the kinds of time add up to the step");
    }
    return 0;
}
