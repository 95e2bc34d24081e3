#include "calibrate/fit/device_match.h"

#include "sim/base/reader.h"
#include "sim/base/spelling.h"
#include "sim/cost/profile_builder.h"

#include <algorithm>
#include <cctype>

namespace trainyard {
namespace {

// Letters and digits of each word, in small letters.
std::vector<std::string> words_of(const std::string& text)
{
    std::vector<std::string> out(1);
    for (const char letter : text) {
        if (std::isalnum(static_cast<unsigned char>(letter)) != 0)
            out.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        else if (!out.back().empty())
            out.emplace_back();
    }
    return out;
}

// Everything that the words could spell: runs of neighbours, and any word with "pcie" after it,
// since drivers write the memory between the two ("A100 80GB PCIe").
std::vector<std::string> spellings(const std::vector<std::string>& words)
{
    std::vector<std::string> out;
    const bool pcie = std::find(words.begin(), words.end(), "pcie") != words.end();
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string run;
        for (std::size_t j = i; j < words.size(); ++j) {
            run += words[j];
            out.push_back(run);
            if (pcie && i + 1 == j) {
                out.push_back(words[i] + "pcie" + words[j]);
                out.push_back(words[i] + "pcie");
            }
        }
    }
    return out;
}

} // namespace

std::optional<std::string> device_named_in(const std::string& text, const Folders& folders)
{
    const std::vector<std::string> spelt = spellings(words_of(text));
    std::optional<std::string> best;
    std::size_t longest = 0;
    Problems problems;
    const Json nothing;
    ProfileBuilder builder(folders, problems);
    for (const std::string& name : known_devices(folders)) {
        Device device;
        builder.from_file(Reader(nothing, "", problems), device_kind, name, device);
        std::vector<std::string> names = device.aliases;
        names.push_back(name);
        for (const std::string& one : names) {
            const std::string plain = plain_name(one);
            if (plain.size() > longest &&
                std::find(spelt.begin(), spelt.end(), plain) != spelt.end()) {
                longest = plain.size();
                best = name;
            }
        }
    }
    return best;
}

int domain_of_rack(const std::string& device)
{
    return device.starts_with("GB200") || device.starts_with("GB300") ? 72 : 0;
}

} // namespace trainyard
