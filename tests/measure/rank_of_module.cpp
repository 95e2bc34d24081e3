// One rank of a back end's module:   rank_of_module MODULE CHECK FOLDER [RANK RANKS]
//
// Runs a check among all ranks, which meet in FOLDER, prints what is wrong, and exits with 0 where
// nothing is. Under mpirun the rank comes from it.

#include "calibrate/measure/backend/fitted.h"
#include "tests/measure/file_rendezvous.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

namespace trainyard {
namespace {

struct Rank {
    LaunchPlace place;
    RankBackend& backend;
    std::filesystem::path folder;
    int wrong = 0;

    void expect(bool holds, const std::string& what)
    {
        if (holds)
            return;
        ++wrong;
        fmt::print("rank {}: {}\n", place.rank, what);
    }

    std::unique_ptr<Communicator> join(const GroupSpec& group)
    {
        FileRendezvous rendezvous(folder / group.name);
        return backend.join(group, rendezvous);
    }

    GroupSpec all(const std::string& algorithm = "auto") const
    {
        GroupSpec group{.name = "all " + algorithm, .members = {}, .algorithm = algorithm};
        for (int rank = 0; rank < place.ranks; ++rank)
            group.members.push_back(rank);
        return group;
    }
};

void check_work(Rank& rank, Communicator& group, const TimedWork& work)
{
    const std::string what = describe(work);
    if (const std::string why = rank.backend.cannot(work); !why.empty()) {
        fmt::print("rank {}: {}: left out, {}\n", rank.place.rank, what, why);
        return;
    }
    group.prepare(work);
    for (const int ops : {1, 3})
        rank.expect(group.run(ops).elapsed > Seconds(0), what + " took no time");
    for (int round = 0; round < 2; ++round) {
        const std::optional<std::int64_t> wrong = group.wrong_elements();
        rank.expect(wrong.value_or(0) == 0, fmt::format("{}: {} wrong", what, wrong.value_or(0)));
    }
}

// What sums in every type, what only moves data in the widest and the narrowest.
std::vector<TimedWork> collectives(int ranks)
{
    using enum CollectiveKind;
    std::vector<TimedWork> works;
    for (const CollectiveKind kind :
         {all_reduce, reduce_scatter, reduce, all_gather, all_to_all, broadcast})
        for (const ElementType type : {ElementType::float32, ElementType::uint8,
                                       ElementType::float16, ElementType::bfloat16})
        {
            const bool moves = kind == all_gather || kind == all_to_all || kind == broadcast;
            if (moves && element_bytes(type) == 2)
                continue;
            for (const Buffers buffers : {Buffers::out_of_place, Buffers::in_place})
                for (const std::uint64_t size : {1, 300000})
                    works.push_back(
                        fitted(CollectiveWork{kind, Bytes(size), type, buffers, ranks - 1}, ranks));
        }
    works.push_back(fitted(CollectiveWork{.size = Bytes(5000000)}, ranks));
    works.push_back(CollectiveWork{.collective = barrier, .size = Bytes(0)});
    return works;
}

void check_collectives(Rank& rank)
{
    const auto group = rank.join(rank.all());
    for (const TimedWork& work : collectives(rank.place.ranks))
        check_work(rank, *group, work);
}

// All-reduces by every algorithm of Gloo.
void check_algorithms(Rank& rank)
{
    for (const std::string algorithm : {"ring", "bcube", "halving_doubling", "ring_chunked"}) {
        const auto group = rank.join(rank.all(algorithm));
        for (const TimedWork& work : collectives(rank.place.ranks))
            if (const auto& sum = std::get<CollectiveWork>(work);
                sum.collective == CollectiveKind::all_reduce && sum.size > Bytes(4))
                check_work(rank, *group, work);
    }
}

void check_messages(Rank& rank)
{
    const auto group = rank.join(rank.all());
    const int ranks = rank.place.ranks;
    ExchangeWork one_to_all{{}, Bytes(5000)};
    ExchangeWork shifted{{}, Bytes(300001)};
    ExchangeWork twice{{{0, 1}, {0, 1}, {1, 0}}, Bytes(70000)};
    for (int peer = 1; peer < ranks; ++peer)
        one_to_all.messages.push_back({0, peer});
    for (int peer = 0; peer < ranks; ++peer)
        shifted.messages.push_back({peer, (peer + 1) % ranks});
    for (const TimedWork& work : {TimedWork(one_to_all), TimedWork(shifted), TimedWork(twice),
                                  TimedWork(PingPongWork{0, 1, Bytes(8)}),
                                  TimedWork(PingPongWork{ranks - 1, 0, Bytes(1 << 20)})})
        check_work(rank, *group, work);
}

LocalWork product(std::int64_t side)
{
    LocalWork work;
    work.m = work.n = work.k = side;
    return work;
}

// Whether one of eight tries was covered, or was not. A busy machine may hold up either thread of a
// try for longer than the other's work takes; all ranks make every try, since they run together.
bool ever_covered(Communicator& group, const BesideWork& work, int ops, bool covered)
{
    bool ever = false;
    for (int attempt = 0; attempt < 8; ++attempt) {
        group.prepare(work);
        ever |= group.run(ops).covered == covered;
    }
    return ever;
}

void check_kernels(Rank& rank)
{
    const auto group = rank.join(rank.all());
    LocalWork batch = product(96);
    batch.batch = 2;
    for (const LocalKind kind : {LocalKind::memory_read, LocalKind::memory_write,
                                 LocalKind::memory_copy, LocalKind::memory_add, LocalKind::gemm})
        check_work(rank, *group,
                   kind == LocalKind::gemm ? batch : LocalWork{.kind = kind, .size = Bytes(12345)});
    rank.expect(
        !rank.backend.cannot(LocalWork{.kind = LocalKind::launch, .size = Bytes(0)}).empty(),
        "a CPU launched");

    // The other work is long enough, or far too short, to cover what is timed.
    const CollectiveWork sum{CollectiveKind::all_reduce, Bytes(4096)};
    const CollectiveWork large{CollectiveKind::all_reduce, Bytes(8 << 20)};
    rank.expect(ever_covered(*group, {sum, product(320), true, 100}, 2, true),
                "a collective outlasted 100 products");
    rank.expect(ever_covered(*group, {large, product(8), true, 1}, 2, false),
                "one small product covered a collective");
    group->prepare(BesideWork{large, product(8), false, 4});
    rank.expect(group->run(1).elapsed > Seconds(0), "a product beside a collective took no time");
    rank.expect(ever_covered(*group, {sum, product(512), false, 1}, 20, false),
                "one small collective covered 20 products");
}

// Some of the ranks, in another order: their numbers in the group are not those of the world.
void check_groups(Rank& rank)
{
    const int last = rank.place.ranks - 1;
    if (rank.place.rank == 0 || rank.place.rank == last) {
        const auto ends = rank.join({.name = "ends", .members = {last, 0}});
        check_work(rank, *ends,
                   CollectiveWork{.collective = CollectiveKind::all_gather, .size = Bytes(4096)});
        check_work(rank, *ends, ExchangeWork{{{0, 1}}, Bytes(100)});
    }
    const auto alone =
        rank.join({.name = fmt::format("only {}", rank.place.rank), .members = {rank.place.rank}});
    for (const TimedWork& work : collectives(1))
        if (std::get<CollectiveWork>(work).type == ElementType::float32)
            check_work(rank, *alone, work);
}

void check_refusals(Rank& rank)
{
    const auto group = rank.join(rank.all());
    const auto refused = [&](const TimedWork& work) {
        try {
            group->prepare(work);
        } catch (const MeasureFailure& failure) {
            rank.expect(failure.kind == FailureKind::refused, failure.message);
            return;
        }
        rank.expect(false, describe(work) + " was not refused");
    };
    refused(CollectiveWork{.collective = CollectiveKind::all_gather,
                           .size = Bytes(static_cast<std::uint64_t>(4 * rank.place.ranks + 4))});
    refused(CollectiveWork{.size = Bytes(4), .root = rank.place.ranks});
    refused(CollectiveWork{.size = Bytes(std::uint64_t{1} << 50)});
    refused(LocalWork{.kind = LocalKind::launch, .size = Bytes(0)});
    refused(ExchangeWork{{{0, 0}}, Bytes(8)});
    refused(PingPongWork{0, rank.place.ranks, Bytes(8)});
}

// The first rank runs `alone` and waits for others that do not come; a second thread calls it off.
void call_off(Rank& rank, Communicator& group, const TimedWork& alone, Rendezvous& after)
{
    group.prepare(alone);
    const std::jthread caller([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        group.abort();
    });
    for (int attempt = 0; attempt < 2; ++attempt)
        try {
            group.run(1);
            rank.expect(false, "ran without the others");
        } catch (const MeasureFailure& failure) {
            rank.expect(failure.kind == FailureKind::aborted, failure.message);
        }
    after.put("thrown", "");
}

// Others wait until then, so that it is not their end that is seen: longer than any test may take.
constexpr std::chrono::minutes until_thrown(30);

void check_abort(Rank& rank)
{
    const auto group = rank.join(rank.all());
    FileRendezvous after(rank.folder / "after");
    if (rank.place.rank == 0)
        call_off(rank, *group, CollectiveWork{.size = Bytes(1 << 20)}, after);
    else
        after.get("thrown", until_thrown);
}

// The others come to the barrier before the work, but not to the work itself.
void check_abort_inside(Rank& rank)
{
    using enum CollectiveKind;
    for (const CollectiveKind kind : {all_reduce, reduce_scatter, all_to_all, broadcast}) {
        const std::string name(to_name(kind));
        GroupSpec all = rank.all();
        all.name = name;
        const auto group = rank.join(all);
        FileRendezvous after(rank.folder / ("after " + name));
        const CollectiveWork work{
            .collective = kind, .size = Bytes(1 << 20), .root = rank.place.ranks - 1};
        if (rank.place.rank == 0) {
            call_off(rank, *group, work, after);
            continue;
        }
        group->prepare(ExchangeWork{{}, Bytes(1)});
        group->run(1);
        after.get("thrown", until_thrown);
    }
}

// The last rank ends in the middle.
void check_death(Rank& rank)
{
    const auto group = rank.join(rank.all());
    group->prepare(CollectiveWork{.size = Bytes(1 << 20)});
    group->run(1);
    if (rank.place.rank == rank.place.ranks - 1)
        std::_Exit(0);
    try {
        group->run(1);
        rank.expect(false, "ran without the dead rank");
    } catch (const MeasureFailure& failure) {
        rank.expect(failure.kind == FailureKind::broken, failure.message);
    }
}

void check_facts(Rank& rank)
{
    const BackendFacts facts = rank.backend.facts();
    rank.expect(!facts.name.empty() && !facts.version.empty(), "no name or version");
    rank.expect(facts.memory > Bytes(), "no memory");
    rank.expect(std::stoi(facts.properties.at("cores")) >= 1, "no cores");
    rank.expect((rank.place.local_ranks > std::stoi(facts.properties.at("cores"))) ==
                    std::ranges::any_of(facts.warnings,
                                        [](const std::string& w) {
                                            return w.find("ranks share") != std::string::npos;
                                        }),
                "ranks that share cores");
}

const std::map<std::string, std::function<void(Rank&)>> checks{
    {"abort", check_abort},           {"abort_inside", check_abort_inside},
    {"algorithms", check_algorithms}, {"collectives", check_collectives},
    {"death", check_death},           {"facts", check_facts},
    {"groups", check_groups},         {"kernels", check_kernels},
    {"messages", check_messages},     {"refusals", check_refusals}};

int number(const char* argument, const char* variable)
{
    const char* text = argument != nullptr ? argument : std::getenv(variable);
    return text != nullptr ? std::atoi(text) : 0;
}

int run(int argc, char** argv)
{
    void* module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
        fmt::print("{}\n", dlerror());
        return 1;
    }
    const auto open = reinterpret_cast<OpenBackend>(dlsym(module, open_backend_symbol));
    LaunchPlace place;
    place.rank = number(argc > 4 ? argv[4] : nullptr, "OMPI_COMM_WORLD_RANK");
    place.ranks = number(argc > 5 ? argv[5] : nullptr, "OMPI_COMM_WORLD_SIZE");
    place.local_rank = place.rank;
    place.local_ranks = place.ranks;
    const std::unique_ptr<RankBackend> backend = open(place);
    Rank rank{place, *backend, argv[3]};
    std::string rest = argv[2];
    while (!rest.empty()) { // several: "groups,kernels"
        const std::string check = rest.substr(0, rest.find(','));
        rest.erase(0, check.size() + 1);
        rank.folder = std::filesystem::path(argv[3]) / check;
        checks.at(check)(rank);
    }
    return rank.wrong == 0 ? 0 : 1;
}

} // namespace
} // namespace trainyard

int main(int argc, char** argv)
{
    try {
        return trainyard::run(argc, argv);
    } catch (const trainyard::MeasureFailure& failure) {
        fmt::print("{}\n{}\n", failure.message, failure.fix);
    } catch (const std::exception& error) {
        fmt::print("{}\n", error.what());
    }
    return 1;
}
