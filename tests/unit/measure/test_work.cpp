#include "calibrate/measure/backend/work.h"
#include "sim/base/fields.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

TimedWork read_again(const TimedWork& work)
{
    const Json json = FieldValue<TimedWork>::write(work);
    Problems problems;
    TimedWork out;
    CHECK(FieldValue<TimedWork>::read(Reader(json, "work.json", problems), out));
    CHECK(problems.empty());
    return out;
}

} // namespace

TEST_CASE("every kind of timed work is read as it was written")
{
    const CollectiveWork sum{CollectiveKind::all_reduce, Bytes(1025), ElementType::bfloat16,
                             Buffers::in_place, 3};
    const LocalWork gemm{LocalKind::gemm, 1000, 17, 4097, 2, Bytes(0), ElementType::float16};
    for (const TimedWork& work :
         {TimedWork(sum), TimedWork(ExchangeWork{{{0, 1}, {1, 0}}, Bytes(12345)}),
          TimedWork(PingPongWork{2, 5, Bytes(8)}), TimedWork(gemm),
          TimedWork(BesideWork{sum, gemm, true, 7})})
        CHECK(read_again(work) == work);
}

TEST_CASE("work that is none of the known kinds is refused")
{
    Problems problems;
    TimedWork out;
    const Json json = Json::object();
    CHECK_FALSE(FieldValue<TimedWork>::read(Reader(json, "work.json", problems), out));
    CHECK(problems.size() == 1);
}

TEST_CASE("the size of a message is that of the work that is timed")
{
    const CollectiveWork sum{CollectiveKind::all_reduce, Bytes(1024)};
    const LocalWork copy{LocalKind::memory_copy, 0, 0, 0, 1, Bytes(4096)};
    CHECK(message_size(sum) == Bytes(1024));
    CHECK(message_size(ExchangeWork{{{0, 1}}, Bytes(77)}) == Bytes(77));
    CHECK(message_size(PingPongWork{0, 1, Bytes(8)}) == Bytes(8));
    CHECK(message_size(copy) == Bytes(0));
    CHECK(message_size(BesideWork{sum, copy, true, 1}) == Bytes(1024));
    CHECK(message_size(BesideWork{sum, copy, false, 1}) == Bytes(0));
}
