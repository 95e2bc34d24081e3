#include "calibrate/measure/control/coordinator.h"
#include "calibrate/measure/control/launch.h"
#include "calibrate/measure/control/local_ranks.h"
#include "calibrate/measure/control/worker.h"
#include "tests/catch.h"
#include "tests/unit/measure/forked_ranks.h"

#include <unistd.h>

#include <csignal>
#include <thread>

using namespace trainyard;

namespace {

// What goes wrong, where.
enum class Fault { none, hangs_in_prepare, hangs_in_run, fails_in_run, never_opens };

// A back end without anything below it: one op takes a millisecond; groups agree on a value through
// their rendezvous.
class PretendedCommunicator : public Communicator {
public:
    explicit PretendedCommunicator(Fault fault) : fault_(fault) {}

    void prepare(const TimedWork&) override
    {
        if (fault_ == Fault::hangs_in_prepare)
            ::pause();
    }
    BatchTime run(int ops) override
    {
        if (fault_ == Fault::fails_in_run)
            throw MeasureFailure{FailureKind::broken, "the cable is out", "put it back"};
        while (fault_ == Fault::hangs_in_run && !aborted_)
            std::this_thread::sleep_for(Milliseconds(1));
        if (aborted_)
            throw MeasureFailure{FailureKind::aborted, "given up", ""};
        return {Seconds(1e-3 * ops), true};
    }
    std::optional<std::int64_t> wrong_elements() override { return 0; }
    void abort() noexcept override { aborted_ = true; }

private:
    Fault fault_;
    std::atomic<bool> aborted_{false};
};

class PretendedBackend : public RankBackend {
public:
    PretendedBackend(int rank, Fault fault) : rank_(rank), fault_(fault) {}

    BackendFacts facts() const override
    {
        BackendFacts out;
        out.name = "pretended";
        return out;
    }
    std::string cannot(const TimedWork& work) const override
    {
        return std::holds_alternative<LocalWork>(work) ? "it has no device" : "";
    }
    std::unique_ptr<Communicator> join(const GroupSpec& group, Rendezvous& rendezvous) override
    {
        if (group.members.front() == rank_)
            rendezvous.put("id", std::string("a\0b", 3));
        if (rendezvous.get("id", Milliseconds(120'000)) != std::string("a\0b", 3))
            throw MeasureFailure{FailureKind::broken, "another value arrived", ""};
        return std::make_unique<PretendedCommunicator>(fault_);
    }

private:
    int rank_;
    Fault fault_;
};

// Ranks of which the last one has the fault, and short words for commands.
class FaultyRanks {
public:
    FaultyRanks(int count, Fault fault)
        : ranks_(count, [count, fault](int rank) -> std::unique_ptr<RankBackend> {
              const Fault mine = rank == count - 1 ? fault : Fault::none;
              if (mine == Fault::never_opens)
                  throw MeasureFailure{FailureKind::missing, "no driver", "install it"};
              return std::make_unique<PretendedBackend>(rank, mine);
          })
    {}

    Coordinator& coordinator() { return ranks_.coordinator(); }
    int process(int rank) const { return ranks_.process(rank); }

    GroupReplies tell(CommandKind kind, const std::vector<int>& members,
                      Milliseconds limit = Milliseconds(120'000))
    {
        RankCommand command;
        command.kind = kind;
        command.group = 1;
        command.spec = {"some", members, "auto", "auto"};
        command.works = {CollectiveWork{}};
        command.batches = 3;
        command.ops = 4;
        return coordinator().ask(members, command, limit);
    }

private:
    ForkedRanks ranks_;
};

using Catch::Matchers::Contains;

// Why a run ended, and whom it blames.
template <class Call>
RunEnded end_of(const Call& call)
{
    try {
        call();
    } catch (const RunEnded& ended) {
        return ended;
    }
    FAIL("it went on");
    return {};
}

} // namespace

TEST_CASE("messages between coordinator and ranks arrive as they were sent")
{
    RankMessage message;
    message.command = RankCommand{7,
                                  CommandKind::run,
                                  2,
                                  {"stride 2", {0, 2}, "Ring", "LL"},
                                  {PingPongWork{0, 1, Bytes(8)}},
                                  20,
                                  3};
    message.reply = RankReply{7,
                              BackendFacts{},
                              {"", "no"},
                              {1e-6, 0.1},
                              false,
                              12,
                              NodeReport{"host", {}, {{"X"}}, {}, {"busy"}, {}},
                              MeasureFailure{FailureKind::refused, "said no", "ask again"}};
    message.put = "key";
    message.value = to_hex(std::string("\0\xff", 2));
    CHECK(message_from(to_json(message)) == message);
    CHECK(from_hex(*message.value) == std::string("\0\xff", 2));
    CHECK_THROWS_AS(from_hex("0g"), ConnectionLost);
    CHECK_THROWS_AS(message_from(Json("hello")), ConnectionLost);
}

TEST_CASE("a group of ranks does what the coordinator says, and each reply is its own")
{
    FaultyRanks ranks(3, Fault::none);
    CHECK(ranks.tell(CommandKind::join, {0, 2}).replies.size() == 2);
    CHECK_FALSE(ranks.tell(CommandKind::prepare, {0, 2}).failure);
    const GroupReplies run = ranks.tell(CommandKind::run, {0, 2});
    REQUIRE(run.replies.size() == 2);
    CHECK(run.replies[1].seconds == std::vector<double>{4e-3, 4e-3, 4e-3});
    // Rank 1 is in no such communicator.
    const GroupReplies outside = ranks.tell(CommandKind::run, {1});
    REQUIRE(outside.failure);
    CHECK(outside.failure->kind == FailureKind::refused);
    ranks.coordinator().quit();
}

TEST_CASE("a rank that fails says what failed, and the others go on")
{
    FaultyRanks ranks(2, Fault::fails_in_run);
    ranks.tell(CommandKind::join, {0, 1});
    const GroupReplies run = ranks.tell(CommandKind::run, {0, 1});
    REQUIRE(run.failure);
    CHECK(run.failed_rank == 1);
    CHECK(run.failure->message == "the cable is out");
    CHECK_FALSE(ranks.tell(CommandKind::check, {0, 1}).failure);
}

TEST_CASE("a back end that does not open is told as the failure of every command")
{
    FaultyRanks ranks(2, Fault::never_opens);
    const GroupReplies facts = ranks.tell(CommandKind::facts, {0, 1});
    REQUIRE(facts.failure);
    CHECK(facts.failed_rank == 1);
    CHECK(facts.failure->kind == FailureKind::missing);
    CHECK(facts.failure->fix == "install it");
}

TEST_CASE("a rank that is killed ends the run at once and is named")
{
    FaultyRanks ranks(3, Fault::hangs_in_run);
    ranks.tell(CommandKind::join, {0, 1, 2});
    std::thread killer([&] {
        std::this_thread::sleep_for(Milliseconds(100));
        ::kill(ranks.process(1), SIGKILL);
    });
    // Its end is what is noticed: the limit lies beyond any test's patience.
    const RunEnded ended = end_of([&] {
        ranks.tell(CommandKind::run, {0, 1, 2}, std::chrono::hours(24));
    });
    killer.join();
    CHECK(ended.ranks == std::vector<int>{1});
    CHECK_THAT(ended.why, Contains("rank 1"));
}

TEST_CASE("a rank whose process is stopped does not answer and is named")
{
    FaultyRanks ranks(2, Fault::none);
    ranks.tell(CommandKind::join, {0, 1});
    ::kill(ranks.process(0), SIGSTOP);
    const RunEnded ended = end_of([&] {
        ranks.tell(CommandKind::run, {0, 1}, Milliseconds(1'000));
    });
    CHECK(ended.ranks == std::vector<int>{0});
    CHECK_THAT(ended.why, Contains("the command \"run\" was not done"));
    CHECK_THAT(ended.why, Contains("does not answer"));
}

TEST_CASE("a rank that does not come back from what others have done is named")
{
    FaultyRanks ranks(3, Fault::hangs_in_prepare);
    ranks.tell(CommandKind::join, {0, 1, 2});
    const RunEnded ended = end_of([&] {
        ranks.tell(CommandKind::prepare, {0, 1, 2}, Milliseconds(1'000));
    });
    CHECK(ended.ranks == std::vector<int>{2});
    CHECK_THAT(ended.why, Contains("does not come back"));
}

TEST_CASE("what waits in a communicator past its limit is aborted, and the ranks go on")
{
    FaultyRanks ranks(2, Fault::hangs_in_run);
    ranks.tell(CommandKind::join, {0, 1});
    const GroupReplies run = ranks.tell(CommandKind::run, {0, 1}, Milliseconds(1'000));
    REQUIRE(run.failure);
    CHECK(run.failure->kind == FailureKind::timed_out);
    CHECK_FALSE(ranks.tell(CommandKind::check, {0, 1}).failure);
}

TEST_CASE("ranks that never appear are named")
{
    Listener listener(0);
    CoordinatorSetup setup;
    setup.ranks = 2;
    setup.start_limit = Milliseconds(100);
    const RunEnded ended = end_of([&] { Coordinator(listener, setup); });
    CHECK(ended.ranks == std::vector<int>{0, 1});
    CHECK_THAT(ended.why, Contains("ranks 0, 1 of 2 did not start"));
}

TEST_CASE("strangers and ranks of another run are not let in")
{
    Listener listener(0);
    Connection stranger(connect_to("localhost", listener.port(), Milliseconds(60'000)));
    RankMessage hello;
    hello.hello = RankHello{{0, 1, 0, 1}, "elsewhere", 1, "another secret"};
    stranger.send(to_json(hello));
    CoordinatorSetup setup;
    setup.token = "secret";
    setup.start_limit = Milliseconds(300);
    CHECK_THAT(end_of([&] { Coordinator(listener, setup); }).why, Contains("rank 0 of 1"));
}

TEST_CASE("a rank that says that it is where none can be ends the run")
{
    for (const LaunchPlace& place :
         {LaunchPlace{0, 1, -1, 1}, LaunchPlace{-1, 1, 0, 1}, LaunchPlace{7, 1, 0, 1}})
    {
        Listener listener(0);
        Connection rank(connect_to("localhost", listener.port(), Milliseconds(1'000)));
        RankMessage hello;
        hello.hello = RankHello{place, "here", 1, "secret"};
        rank.send(to_json(hello));
        CoordinatorSetup setup;
        setup.token = "secret";
        CHECK_THAT(end_of([&] { Coordinator(listener, setup); }).why, Contains("no such place"));
    }
}

TEST_CASE("a launched rank finds its coordinator by what the launcher says")
{
    const auto slurm = job_launch({{"SLURM_PROCID", "5"},
                                   {"SLURM_NTASKS", "72"},
                                   {"SLURM_LOCALID", "1"},
                                   {"SLURM_STEP_ID", "0"},
                                   {"SLURM_STEP_TASKS_PER_NODE", "4(x18)"},
                                   {"SLURM_STEP_NODELIST", "gb[001-018]"},
                                   {"SLURM_JOB_ID", "77"}});
    REQUIRE((slurm && *slurm));
    CHECK((*slurm)->launch.place == LaunchPlace{5, 72, 1, 4});
    CHECK((*slurm)->coordinator.host == "gb001");

    const auto torchrun = job_launch({{"RANK", "0"},
                                      {"WORLD_SIZE", "2"},
                                      {"LOCAL_RANK", "0"},
                                      {"LOCAL_WORLD_SIZE", "2"},
                                      {"MASTER_ADDR", "10.0.0.1"},
                                      {"MASTER_PORT", "29500"}});
    REQUIRE((torchrun && *torchrun));
    CHECK((*torchrun)->coordinator.host == "10.0.0.1");
    CHECK((*torchrun)->coordinator.port == 29501);

    CHECK(job_launch({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).value() == std::nullopt);
    CHECK(job_launch({}).value() == std::nullopt);
}

TEST_CASE("ranks on several hosts without a place for rank 0 are refused with the fix")
{
    const auto mpi = job_launch({{"OMPI_COMM_WORLD_RANK", "3"},
                                 {"OMPI_COMM_WORLD_SIZE", "4"},
                                 {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
    REQUIRE_FALSE(mpi);
    CHECK_THAT(mpi.error().front().hint, Contains("MASTER_ADDR"));
    const auto port = job_launch(
        {{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "high"}});
    REQUIRE_FALSE(port);
    CHECK_THAT(port.error().front().message, Contains("MASTER_PORT is \"high\""));
}

TEST_CASE("ranks of one PMI job find the same coordinator")
{
    // PMI_ID counts processes; PMI_JOBID is the job's.
    const auto coordinator = [](const char* rank, const char* job) {
        return job_launch({{"PMI_RANK", rank},
                           {"PMI_SIZE", "2"},
                           {"PMI_ID", rank},
                           {"PMI_JOBID", job},
                           {"MASTER_ADDR", "a"}})
            .value()
            ->coordinator;
    };
    CHECK(coordinator("0", "7.0") == coordinator("1", "7.0"));
    CHECK_FALSE(coordinator("0", "7.0") == coordinator("0", "7.1"));
}

TEST_CASE("how ranks ended that others started is not waited for")
{
    LocalRanks ranks({"sleep", {"3"}, 1000, RankStart::launched}, {"localhost", 1, "secret"});
    for (int rank = 1; rank < 1000; ++rank)
        CHECK(ranks.fate_of(rank).empty());
    CHECK(ranks.first_end().empty()); // all were asked while the one of this host still ran
    while (ranks.first_end().empty())
        std::this_thread::sleep_for(Milliseconds(10));
    CHECK(ranks.fate_of(0) == "ended with code 0");
}

TEST_CASE("what is no message of this program is refused before all of it has come")
{
    Listener listener(0);
    const Descriptor stranger = connect_to("localhost", listener.port(), Milliseconds(60'000));
    REQUIRE(::write(stranger.number(), "GET / HTTP/1.1\r\n", 16) == 16);
    std::optional<Descriptor> other;
    while (!other)
        other = listener.accept();
    Connection connection(std::move(*other));
    while (!connection.has_message())
        std::this_thread::sleep_for(Milliseconds(1));
    CHECK_THROWS_AS(connection.receive(Milliseconds(0)), ConnectionLost);
}

TEST_CASE("the first host of a Slurm list is found")
{
    CHECK(first_host("gb[001-018]") == "gb001");
    CHECK(first_host("gb[7,9-11]-ib,x2") == "gb7-ib");
    CHECK(first_host("alpha,beta") == "alpha");
    CHECK(first_host("alone") == "alone");
    CHECK(first_host("") == "");
}
