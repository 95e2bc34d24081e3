// Ranks under mpirun that reduce gradients over MPI.

#include "tests/validation/loop/options.h"

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

using namespace trainyard::loop;

namespace {

// MPI ends the job by itself where a collective fails.
class MpiGroup final : public Group {
public:
    int rank() const override
    {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank;
    }
    int ranks() const override
    {
        int ranks = 1;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        return ranks;
    }
    void sum(std::span<float> values) override
    {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT,
                      MPI_SUM, MPI_COMM_WORLD);
    }
    void largest(std::span<double> values) override
    {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                      MPI_MAX, MPI_COMM_WORLD);
    }
};

int run(const LoopOptions& options)
{
    MpiGroup group;
    const TrainingResult result = train(group, options.plan);
    if (group.rank() == 0)
        std::puts(to_json(result).c_str());
    return result.ranks_agree ? 0 : 1;
}

} // namespace

int main(int argc, char** argv)
{
    const ParsedLoopOptions parsed = parse_loop_options(argc, argv);
    if (!parsed.options)
        return parsed.exit;
    if (parsed.options->plan.overlap) {
        std::fputs("Open MPI moves nothing while nobody calls it: without --overlap only\n",
                   stderr);
        return 2;
    }
    alarm(static_cast<unsigned>(parsed.options->limit));
    MPI_Init(nullptr, nullptr);
    int code = 1;
    try {
        code = run(*parsed.options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return code;
}
