#include "sim/study/training/training_values.h"
#include "tests/catch.h"

using namespace trainyard;

TEST_CASE("counts are written with k, M, B and T")
{
    CHECK(*parse_count("2T") == 2e12);
    CHECK(*parse_count("500B") == 500e9);
    CHECK(*parse_count(" 1.5 M ") == 1.5e6);
    CHECK(*parse_count("3e11") == 3e11);
    CHECK(*parse_count("7G") == 7e9);
    for (const char* text : {"", "T", "-2T", "0", "2TB", "2 X", "inf"})
        CHECK_FALSE(parse_count(text));
    CHECK(parse_count("2TB").error().message == "\"TB\" is not a unit of numbers of tokens");
}

TEST_CASE("a time between failures says of what")
{
    CHECK(parse_failure_interval("50000h/gpu")->mean == Seconds(50000 * 3600.0));
    CHECK_FALSE(parse_failure_interval("50000h/gpu")->of_node);
    CHECK(parse_failure_interval("90 d / node")->of_node);
    CHECK(parse_failure_interval("50000h").error().message ==
          "\"50000h\" does not say of what: of a GPU or of a node");
    CHECK_FALSE(parse_failure_interval("50000/gpu"));
    CHECK_FALSE(parse_failure_interval("5h/rack"));
    CHECK_FALSE(parse_failure_interval("0 s/gpu"));
    FailureModel model;
    set(model, *parse_failure_interval("2000h/node"));
    CHECK(model.mtbf_per_node == Seconds(2000 * 3600.0));
    CHECK_FALSE(model.mtbf_per_gpu);
}

TEST_CASE("a price is of a GPU and hour, or of a node")
{
    CHECK(parse_hourly_price("h100=2.5/h")->device == "h100");
    CHECK(parse_hourly_price("h100=2.5/h")->price == 2.5);
    CHECK(parse_hourly_price("$2.5/h")->price == 2.5);
    CHECK(parse_hourly_price("h100=2.5").error().message ==
          "\"h100=2.5\" does not say that it is of an hour");
    CHECK_FALSE(parse_hourly_price("20/node"));
    CHECK(parse_hourly_price("2/gpu/h")->price == 2);
    CHECK(parse_hourly_price("98.32/h/node")->of_node);
    CHECK(parse_hourly_price("h100=").error().message == "\"h100=\" is not a price");
    CHECK_FALSE(parse_hourly_price("2.5/day"));
    CHECK_FALSE(parse_hourly_price("-1/h"));
    PriceModel prices;
    set(prices, *parse_hourly_price("20/h/node"));
    CHECK(prices.node_hour == 20.0);
}
