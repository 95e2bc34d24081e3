#include "sim/base/json.h"
#include "sim/base/json_syntax.h"
#include "sim/base/random.h"
#include "tests/catch.h"

#include <cmath>
#include <limits>
#include <set>

using namespace trainyard;

namespace {

Json parsed(std::string_view text)
{
    const Checked<Json> json = parse_json(text, "a.json");
    INFO(text);
    REQUIRE(json);
    return *json;
}

// The one problem of a text that cannot be read.
Diagnostic problem_of(std::string_view text)
{
    const Checked<Json> json = parse_json(text, "a.json");
    REQUIRE_FALSE(json);
    REQUIRE(json.error().size() == 1);
    CHECK(json.error()[0].file == "a.json");
    return json.error()[0];
}

Json any_value(Random& random, int depth)
{
    switch (random.integer(0, depth > 3 ? 5 : 7)) {
    case 0:
        return Json();
    case 1:
        return Json(random.integer(0, 1) == 1);
    case 2:
        return Json(static_cast<std::int64_t>(random.bits()));
    case 3:
        return Json(random.normal() *
                    std::pow(10.0, static_cast<double>(random.integer(-300, 300))));
    case 4:
        return Json("text \"\\/\n\t\x01 \xC3\xA9 " + std::to_string(random.integer(0, 99)));
    case 5:
        return Json("");
    case 6: {
        Json list = Json::array();
        for (std::int64_t i = random.integer(0, 5); i > 0; --i)
            list.push_back(any_value(random, depth + 1));
        return list;
    }
    default: {
        Json object = Json::object();
        for (std::int64_t i = random.integer(0, 5); i > 0; --i)
            object["key/~ " + std::to_string(i)] = any_value(random, depth + 1);
        return object;
    }
    }
}

} // namespace

TEST_CASE("a value written as JSON reads back as the same value")
{
    Random random(1);
    for (int i = 0; i < 500; ++i) {
        const Json value = any_value(random, 0);
        CHECK(parsed(to_text(value)) == value);
        CHECK(parsed(to_text(value, JsonStyle::compact)) == value);
    }
}

TEST_CASE("members keep their order")
{
    const Json json = parsed(R"({"z": 1, "a": 2, "m": 3})");
    CHECK(json.members()[0].first == "z");
    CHECK(json.members()[2].first == "m");
    CHECK(to_text(json, JsonStyle::compact) == R"({"z":1,"a":2,"m":3})");
}

TEST_CASE("what is not finite is written as null")
{
    CHECK(to_text(Json(std::numeric_limits<double>::infinity())) == "null");
    CHECK(to_text(Json(std::nan(""))) == "null");
}

TEST_CASE("Python's words for numbers that JSON has not are read outside of quotes")
{
    const std::optional<std::string> text = without_python_numbers(
        R"({"limit": [0.0, Infinity], "least": -Infinity, "loss": NaN, "a \"NaN": "Infinity"})");
    REQUIRE(text);
    CHECK_FALSE(without_python_numbers(R"({"a": "Infinity"})"));
    const Checked<Json> json = parse_json(*text, "config.json");
    REQUIRE(json);
    CHECK(json->find("limit")->items()[1].as_double() == 1e308);
    CHECK(json->find("least")->as_double() == -1e308);
    CHECK(json->find("loss")->is_null());
    CHECK(json->find("a \"NaN")->as_string() == "Infinity");
}

TEST_CASE("members stand in the line of their key and elements in their own")
{
    const Json json = parsed("{\n"
                             "\"a\": 1,\n"
                             "\"b\":\n"
                             "  2,\n"
                             "\"list\": [1,\n"
                             "2\n"
                             ",3, \"x\",\n"
                             "true\n"
                             ", {\n"
                             "\"deep\": null}]\n"
                             "}\n");
    CHECK(json.line() == 1);
    CHECK(json.find("a")->line() == 2);
    CHECK(json.find("b")->line() == 3);
    const Json::Array& list = json.find("list")->items();
    CHECK(json.find("list")->line() == 5);
    CHECK(list[0].line() == 5);
    CHECK(list[1].line() == 6); // a line break right after a number does not move it
    CHECK(list[2].line() == 7);
    CHECK(list[3].line() == 7);
    CHECK(list[4].line() == 8);
    CHECK(list[5].line() == 9);
    CHECK(list[5].find("deep")->line() == 10);
}

TEST_CASE("comments and carriage returns do not move lines")
{
    const Json json = parsed("// first\r\n"
                             "/* second\r\n"
                             "   third */ {\r\n"
                             "\"a\": [ // fourth\r\n"
                             "1,\r\n"
                             "2 /* \r\n"
                             "*/, 3\r\n"
                             "]}");
    CHECK(json.line() == 3);
    CHECK(json.find("a")->line() == 4);
    CHECK(json.find("a")->items()[0].line() == 5);
    CHECK(json.find("a")->items()[1].line() == 6);
    CHECK(json.find("a")->items()[2].line() == 7);
}

TEST_CASE("a byte order mark is no part of the text")
{
    CHECK(parsed("\xEF\xBB\xBF{\"a\": 1}").find("a")->line() == 1);
}

TEST_CASE("the shortest texts are values too")
{
    CHECK(parsed("5").as_integer() == 5);
    CHECK(parsed("\n\n7\n").line() == 3);
    CHECK(parsed("\"\"").as_string().empty());
}

TEST_CASE("an empty text is no JSON")
{
    for (const char* text : {"", " ", "\n\r\n\t"})
        CHECK(problem_of(text).message == "the file is empty");
}

TEST_CASE("a text that ends too early is called truncated at its last line")
{
    for (const char* text : {"{\n\"a\": 1,\n\"b\": [1, 2", "{\n\"a\": 1,\n\"b\": \"op",
                             "{\n\n\"a\"", "{\n\n\"a\": 1,", "{\n\n\"a\": 1\n"})
    {
        INFO(text);
        const Diagnostic problem = problem_of(text);
        CHECK(problem.message == "the text ends too early (truncated?)");
        CHECK(problem.hint == "a bracket, a brace or a quote is still open");
        CHECK(problem.line == 3);
    }
}

TEST_CASE("a syntax error stands in its line and says what may be meant")
{
    const Diagnostic comma = problem_of("{\n\"a\": 1\n\"b\": 2\n}");
    CHECK(comma.line == 3);
    CHECK(comma.message == "not valid JSON: unexpected string literal; expected '}'");
    CHECK(comma.hint == "is a comma missing before it?");
    const Diagnostic trailing = problem_of("{\n\"a\": 1,\n}");
    CHECK(trailing.line == 3);
    CHECK(trailing.hint == "is there a comma too many before it?");
    const Diagnostic bare = problem_of("{\"a\":\nadam\n}");
    CHECK(bare.line == 2);
    CHECK(bare.message == "not valid JSON: invalid literal");
    CHECK_THAT(bare.hint, StartsWith("text and names stand in double quotes"));
    const Diagnostic second = problem_of("{}\n{}");
    CHECK(second.line == 2);
    CHECK(second.message == "something follows the end of the JSON value");
    CHECK(problem_of("{\"a\": 01}").message ==
          "not valid JSON: unexpected number literal; expected '}'");
    CHECK_THAT(problem_of("{'a': 1}").message, StartsWith("not valid JSON: invalid literal"));
    CHECK_THAT(problem_of("/* no end").message, StartsWith("not valid JSON: invalid comment"));
}

TEST_CASE("every key that appears twice is reported with both lines")
{
    const Checked<Json> json =
        parse_json("{\"tp\": 1,\n\"in/ner\": [{}, {\"x\": 1, \"x\": 2}],\n\"tp\": 2}", "a.json");
    REQUIRE_FALSE(json);
    REQUIRE(json.error().size() == 2);
    CHECK(json.error()[0].pointer == "/in~1ner/1/x");
    CHECK(json.error()[0].message == "key \"x\" appears twice");
    CHECK(json.error()[1].pointer == "/tp");
    CHECK(json.error()[1].line == 3);
    CHECK(json.error()[1].hint == "keep one of them; the first stands in line 1");
}

TEST_CASE("nesting is bounded, however it is made")
{
    CHECK(parsed(std::string(64, '[') + std::string(64, ']')).is_array());
    for (const std::string& text :
         {std::string(65, '[') + std::string(65, ']'), std::string(1'000'000, '[')})
        CHECK(problem_of(text).message == "nested deeper than 64 levels");
    std::string objects;
    for (int i = 0; i < 100'000; ++i)
        objects += "{\"a\":\n";
    CHECK(problem_of(objects).message == "nested deeper than 64 levels");
    CHECK(problem_of(objects).line == 65);
}

TEST_CASE("size and number of values are bounded")
{
    CHECK(parse_json("[1,2,3]", "a", {.max_bytes = 6}).error()[0].message == "larger than 0 MiB");
    CHECK(parse_json("[1,2,3]", "a", {.max_values = 4}));
    CHECK(parse_json("[1,2,3]", "a", {.max_values = 3}).error()[0].message == "more than 3 values");
    CHECK(parse_json("[[],{}]", "a", {.max_values = 2}).error()[0].message == "more than 2 values");
}

TEST_CASE("a zero byte does not end the text unseen")
{
    using namespace std::string_view_literals;
    const Diagnostic problem = problem_of("{\"a\": 1}\n\0 garbage"sv);
    CHECK(problem.message == "holds a zero byte: this is not text");
    CHECK(problem.line == 2);
    CHECK(parsed("\"a\\u0000b\"").as_string() == std::string("a\0b", 3));
}

TEST_CASE("text that is not UTF-8 is refused")
{
    for (const char* bad : {"\"\xFF\"", "\"\xC3\"", "\"\xE2\x82\"", "\"\xC0\xAF\"",
                            "\"\xED\xA0\x80\"", "\"\xF5\x80\x80\x80\""})
    {
        CHECK_THAT(problem_of(bad).message, ContainsSubstring("ill-formed UTF-8"));
        CHECK(problem_of(bad).hint == "save the file as UTF-8");
    }
    CHECK_THAT(problem_of("\"line\nbreak\"").message, ContainsSubstring("control character"));
}

TEST_CASE("half a surrogate pair is refused and a whole one read")
{
    CHECK_THAT(problem_of(R"("\ud83d")").message, ContainsSubstring("surrogate"));
    CHECK_THAT(problem_of(R"("\ude00")").message, ContainsSubstring("surrogate"));
    CHECK(parsed(R"("\ud83d\ude00")").as_string() == "\xF0\x9F\x98\x80");
}

TEST_CASE("numbers keep their value or are refused")
{
    CHECK(parsed("9223372036854775807").as_integer() == std::numeric_limits<std::int64_t>::max());
    CHECK(parsed("-9223372036854775808").as_integer() == std::numeric_limits<std::int64_t>::min());
    CHECK_FALSE(parsed("9223372036854775808").is_integer());
    CHECK(parsed("123456789012345678901234567890").as_double() == 123456789012345678901234567890.0);
    CHECK(parsed("1e-999").as_double() == 0.0);
    CHECK(parsed("-0.0").as_double() == 0.0);
    CHECK(problem_of("[1,\n1e999]").message == "a number is too large for any value here");
    CHECK(problem_of("[1,\n1e999\n]").line == 2);
    CHECK_THAT(problem_of("NaN").message, StartsWith("not valid JSON"));
}

TEST_CASE("the message of a wrong text does not repeat a megabyte of it")
{
    const Diagnostic problem = problem_of("\"" + std::string(1'000'000, 'x') + "\n\"");
    CHECK(problem.message.size() < 300);
}

TEST_CASE("pointers escape what they must")
{
    CHECK(pointer_token("a/b~c") == "a~1b~0c");
}

TEST_CASE("the hash of a value is that of its parts, in their order, and of nothing else")
{
    const std::vector<std::string> texts{"null",
                                         "false",
                                         "true",
                                         "0",
                                         "1",
                                         "1.0",
                                         "\"1\"",
                                         "\"\"",
                                         "[]",
                                         "{}",
                                         "[[]]",
                                         "[null]",
                                         "[1,2]",
                                         "[2,1]",
                                         "[1,[2]]",
                                         "[[1],2]",
                                         "[[1,2]]",
                                         "{\"a\":1}",
                                         "{\"b\":1}",
                                         "{\"a\":[1]}",
                                         "\"a\"",
                                         "[\"a\"]",
                                         "[\"a\",1]",
                                         "{\"a\":1,\"b\":2}",
                                         "{\"b\":2,\"a\":1}"};
    std::set<std::uint64_t> hashes;
    for (const std::string& text : texts) {
        CHECK(json_hash(parsed(text)) == json_hash(parsed("\n" + text + "\n")));
        hashes.insert(json_hash(parsed(text)));
    }
    CHECK(hashes.size() == texts.size());
}
