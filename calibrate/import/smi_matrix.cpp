#include "calibrate/import/smi_matrix.h"

#include "calibrate/import/log_text.h"

#include <algorithm>
#include <map>

namespace trainyard {
namespace {

constexpr std::size_t most_devices = 128;
constexpr std::size_t most_listings = 100;

bool is_link(std::string_view word)
{
    return distance_of(word) >= 0 || nvlinks_in(word) > 0;
}

// The names of the columns, when the line is a heading: GPU0 first among them.
std::vector<std::string> heading_in(std::string_view line)
{
    std::vector<std::string> names;
    for (const Word& word : words_of(line)) {
        if (word.text == "CPU" || word.text == "NUMA")
            break;
        if (names.empty() && word.text != "GPU0")
            continue;
        if (names.size() < most_devices)
            names.emplace_back(printable(word.text, 40));
    }
    const bool links = std::any_of(names.begin(), names.end(),
                                   [](const std::string& name) { return is_link(name); });
    return links ? std::vector<std::string>{} : names;
}

class SmiReader {
public:
    void read(int number, std::string_view line)
    {
        if (auto names = heading_in(line); !names.empty() && matrices_.size() < most_listings) {
            const std::size_t count = names.size();
            matrices_.push_back({number, names, {}, std::vector<int>(count, -1), names});
            next_ = 0;
            return;
        }
        if (matrices_.empty())
            return;
        if (!read_row(line))
            read_legend(line);
    }

    std::vector<SmiMatrix> finish()
    {
        std::erase_if(matrices_, [](const SmiMatrix& matrix) { return matrix.links.empty(); });
        return std::move(matrices_);
    }

private:
    bool read_row(std::string_view line)
    {
        SmiMatrix& matrix = matrices_.back();
        if (next_ >= matrix.names.size())
            return false;
        const std::vector<Word> words = words_of(line);
        const std::size_t columns = matrix.names.size();
        for (std::size_t at = 0; at + columns < words.size(); ++at) {
            if (words[at].text != matrix.names[next_])
                continue;
            std::vector<std::string> links;
            for (std::size_t c = 1; c <= columns; ++c)
                if (is_link(words[at + c].text))
                    links.emplace_back(words[at + c].text);
            if (links.size() != columns)
                continue;
            matrix.links.push_back(std::move(links));
            matrix.numa[next_++] = numa_in(words, at + columns + 1);
            return true;
        }
        return false;
    }

    // "0-23 0 N/A": CPU affinity (commas part it), then the NUMA node.
    static int numa_in(const std::vector<Word>& words, std::size_t from)
    {
        std::optional<std::int64_t> numa;
        for (std::size_t i = from; i < words.size(); ++i)
            if (words[i].text.find('-') == std::string_view::npos && integer_in(words[i].text)) {
                numa = integer_in(words[i].text);
                break;
            }
        return numa ? static_cast<int>(std::clamp<std::int64_t>(*numa, -1, 1024)) : -1;
    }

    // "  NIC0: mlx5_bond_0"
    void read_legend(std::string_view line)
    {
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos)
            return;
        SmiMatrix& matrix = matrices_.back();
        const std::string_view name = trimmed(line.substr(0, colon));
        for (std::size_t i = 0; i < matrix.names.size(); ++i)
            if (matrix.names[i] == name && !is_gpu_name(name))
                matrix.nic_names[i] = printable(trimmed(line.substr(colon + 1)), 40);
    }

    std::vector<SmiMatrix> matrices_;
    std::size_t next_ = 0; // row of the last matrix
};

} // namespace

bool is_gpu_name(std::string_view name)
{
    return name.starts_with("GPU") && integer_in(name.substr(3)).has_value();
}

int nvlinks_in(std::string_view word)
{
    return word.starts_with("NV") ? static_cast<int>(std::clamp<std::int64_t>(
                                        integer_in(word.substr(2)).value_or(0), 0, most_nvlinks))
                                  : 0;
}

int distance_of(std::string_view word)
{
    static const std::map<std::string_view, int> distances{
        {"X", 0}, {"PIX", 1}, {"PXB", 2}, {"PHB", 3}, {"NODE", 4}, {"SYS", 5}, {"SOC", 5},
    };
    const auto found = distances.find(word);
    return found == distances.end() ? -1 : found->second;
}

std::vector<SmiMatrix> read_smi_matrices(std::string_view text)
{
    SmiReader reader;
    for_each_line(text.substr(0, most_log_bytes),
                  [&reader](int number, const std::string& line) { reader.read(number, line); });
    return reader.finish();
}

} // namespace trainyard
