#include "gui/model/view_state.h"
#include "tests/catch.h"

using namespace trainyard;
using namespace trainyard::gui;

namespace {

constexpr SimTime at(std::int64_t milliseconds)
{
    return SimTime(milliseconds * 1'000'000'000);
}

} // namespace

TEST_CASE("another run shows the same part of its step")
{
    ViewState view;
    view.begin_run({at(100), at(200)});
    CHECK(view.range() == TimeRange{at(100), at(200)}); // all stays all
    view.set_whole({at(90), at(200)});                  // the timeline sees what went before
    view.show({at(150), at(160)});
    view.set_cursor(at(155));
    view.select({{}, {}, {}, TimeRange{at(151), at(152)}});

    SECTION("of a step twice as long that begins elsewhere")
    {
        view.begin_run({at(1000), at(1200)});
        CHECK(view.whole() == TimeRange{at(1000), at(1200)});
        CHECK(view.range() == TimeRange{at(1100), at(1120)});
        CHECK(view.cursor() == at(1110));
        CHECK(view.selection().range == TimeRange{at(1102), at(1104)});
    }
    SECTION("exactly, time after time, where the step is as long")
    {
        for (int again = 0; again < 100; ++again) {
            view.begin_run({at(100), at(200)});
            view.set_whole({at(90), at(200)});
        }
        CHECK(view.range() == TimeRange{at(150), at(160)});
        CHECK(view.cursor() == at(155));
    }
    SECTION("unless a session awaits its own")
    {
        view.show_when_known({at(310), at(320)});
        view.begin_run({at(300), at(400)});
        CHECK(view.range() == TimeRange{at(310), at(320)});
    }
}

TEST_CASE("what is in sight is told only where it changes")
{
    ViewState view;
    view.begin_run({at(100), at(200)});
    int told = 0;
    QObject::connect(&view, &ViewState::rangeChanged, &view, [&] { ++told; });
    view.begin_run({at(100), at(200)});
    CHECK(told == 0);
    view.begin_run({at(300), at(400)});
    CHECK(told == 1);
    view.show({at(310), at(320)});
    CHECK(told == 2);
}
