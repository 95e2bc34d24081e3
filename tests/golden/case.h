#pragma once

// One golden case: a command, the files it finds, and what it must print.
//
//     An unknown key is reported with the one that was meant.
//     $ trainyard check bad.json
//     --- file bad.json
//     {"topolgy": "h100-1x8"}
//     --- exit 3
//     --- stdout
//     --- stderr
//     bad.json:1: error: unknown key "topolgy" at /topolgy
//     ...
//
// The command is a line of sh. `--- wrote` lists the files that appear, in order; without it none
// may. `--- tolerance 5 %` lets numbers differ by that much. An empty section may be left out.

#include <string>
#include <utility>
#include <vector>

namespace trainyard::golden {

// What a command printed and left behind.
struct Outputs {
    int exit = 0;
    std::string out;
    std::string err;
    std::string wrote;
};

struct Case {
    std::string about;
    std::string command;
    std::vector<std::pair<std::string, std::string>> files; // name and content
    double tolerance = 0;
    Outputs expected;
};

// Throws std::runtime_error when the text has not this form.
Case parse_case(const std::string& text);

std::string to_text(const Case& golden);

} // namespace trainyard::golden
