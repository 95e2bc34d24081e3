#include "sim/base/json_edit.h"
#include "tests/catch.h"

#include <random>

using namespace trainyard;

namespace {

Json json_of(std::string_view text)
{
    return parse_json(text, "test").value();
}

std::string edited(std::string_view text, std::string_view now)
{
    return edited_json(text, json_of(now));
}

// Whatever the order of members.
bool same(const Json& a, const Json& b)
{
    if (a.is_object() && b.is_object())
        return a.members().size() == b.members().size() &&
               std::ranges::all_of(a.members(), [&](const Json::Member& member) {
                   const Json* const other = b.find(member.first);
                   return other != nullptr && same(member.second, *other);
               });
    if (a.is_array() && b.is_array())
        return std::ranges::equal(a.items(), b.items(), same);
    return a == b;
}

class RandomJson {
public:
    explicit RandomJson(unsigned seed) : random_(seed) {}

    Json value(int depth)
    {
        switch (number(depth > 0 ? 7 : 5)) {
        case 0:
            return {};
        case 1:
            return number(2) == 1;
        case 2:
            return number(1000);
        case 3:
            return number(1000) / 8.0;
        case 4:
            return "a\"b/{[" + std::to_string(number(9));
        case 5: {
            Json out = Json::array();
            for (int i = number(4); i > 0; --i)
                out.push_back(value(depth - 1));
            return out;
        }
        default: {
            Json out = Json::object();
            for (int i = number(5); i > 0; --i)
                out["k" + std::to_string(number(6))] = value(depth - 1);
            return out;
        }
        }
    }

    int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

private:
    std::mt19937 random_;
};

} // namespace

TEST_CASE("a text without changes stays as it is")
{
    const std::string text = "\n{ \"a\" : [1,2 ,  3], // note\n   \"b\":{}, \"c\": 1e3 }\n\n";
    CHECK(edited_json(text, json_of(text)) == text);
}

TEST_CASE("a changed value is replaced in its place")
{
    CHECK(
        edited("{\n    \"a\": 1,   // note\n    \"b\": [1, 2]\n}\n", R"({"a": 2, "b": [1, 2]})") ==
        "{\n    \"a\": 2,   // note\n    \"b\": [1, 2]\n}\n");
    CHECK(edited(R"({"a": {"b": "x", "c": [1, 2]}})", R"({"a": {"b": "y", "c": [1, 5]}})") ==
          R"({"a": {"b": "y", "c": [1, 5]}})");
}

TEST_CASE("a new member is laid out as the last")
{
    CHECK(edited("{\n\t\"a\": 1\n}", R"({"a": 1, "b": 2})") == "{\n\t\"a\": 1,\n\t\"b\": 2\n}");
    CHECK(edited(R"({"s": {"a": 1, "b": 2}})", R"({"s": {"a": 1, "b": 2, "c": {"d": 3}}})")
              .starts_with(R"({"s": {"a": 1, "b": 2, "c": {)"));
    CHECK(edited("{}", R"({"a": 1})") == "{\n  \"a\": 1\n}");
    CHECK(edited("{\n    \"a\": 1\n}", R"({"a": 1, "b": {"c": 2}})") ==
          "{\n    \"a\": 1,\n    \"b\": {\n      \"c\": 2\n    }\n}");
}

TEST_CASE("a member that is gone leaves with its comment")
{
    CHECK(edited("{\n  \"a\": 1,\n  // of b\n  \"b\": 2,\n  \"c\": 3\n}", R"({"a": 1, "c": 3})") ==
          "{\n  \"a\": 1,\n  \"c\": 3\n}");
    CHECK(edited("{\n  \"a\": 1,\n  \"b\": 2\n}", R"({"a": 1})") == "{\n  \"a\": 1\n}");
    CHECK(edited(R"({"a": 1, "b": 2})", "{}") == "{}");
}

TEST_CASE("what is written is what was meant, whatever it was before")
{
    RandomJson random(7);
    for (int turn = 0; turn < 3000; ++turn) {
        const Json before = random.value(3);
        const Json now = random.value(3);
        for (const JsonStyle style : {JsonStyle::compact, JsonStyle::pretty}) {
            const std::string text = to_text(before, style);
            INFO(text << "\n" << to_text(now));
            const Checked<Json> read = parse_json(edited_json(text, now), "test");
            REQUIRE(read);
            CHECK(same(*read, now));
        }
    }
}
