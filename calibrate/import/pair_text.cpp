#include "calibrate/import/pair_text.h"

#include "calibrate/import/log_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr std::size_t most_columns = 1024;
constexpr std::size_t most_matrices = 1000;

// The factor to bytes/s or seconds and the quantity, from the unit that a title ends with.
struct Unit {
    double factor;
    PairQuantity quantity;
};

std::optional<Unit> unit_in(std::string_view line)
{
    const auto has = [line](std::string_view unit) { return line.find(unit) != line.npos; };
    if (has("(GB/s)"))
        return Unit{1e9, PairQuantity::bandwidth};
    if (has("(us)"))
        return Unit{1e-6, PairQuantity::latency};
    if (has("(ns)"))
        return Unit{1e-9, PairQuantity::latency};
    return std::nullopt;
}

bool is_title(std::string_view line)
{
    const std::string small = lower_case(line);
    const bool speaks = small.find("matrix") != std::string::npos ||
                        small.find("(row)") != std::string::npos ||
                        small.find("(column)") != std::string::npos;
    return speaks && unit_in(line).has_value();
}

// "0 1 2 3", with "D\D", "GPU" or "CPU" before it; 0 when the line is none.
std::size_t columns_in(const std::vector<Word>& words)
{
    std::size_t start = 0;
    while (start < words.size() && !integer_in(words[start].text))
        ++start;
    if (start == words.size() || start > 3)
        return 0;
    for (std::size_t i = start; i < words.size(); ++i)
        if (integer_in(words[i].text) != static_cast<std::int64_t>(i - start))
            return 0;
    return words.size() - start;
}

class PairTextReader {
public:
    void read(std::string_view line)
    {
        const auto name = text_after(line, "Running ");
        if (name && name->ends_with('.') && name->find('_') != std::string_view::npos) {
            test_ = std::string(name->substr(0, name->size() - 1));
            return;
        }
        if (is_title(line)) {
            start(line);
            return;
        }
        if (const auto sum = text_after(line, "SUM "))
            return check_sum(*sum);
        if (!open_)
            return;
        const std::vector<Word> words = words_of(line);
        if (words.empty())
            return;
        if (columns_ == 0 || matrix().values.size() > columns_in_rows_) {
            begin_columns(words);
            return;
        }
        if (!read_row(words))
            begin_columns(words);
    }

    ImportedPairs finish()
    {
        ImportedPairs out;
        out.notes = std::move(notes_);
        for (std::size_t i = 0; i < matrices_.size(); ++i) {
            PairMatrix& found = matrices_[i];
            if (found.values.empty())
                continue;
            const bool square = found.rows == "GPU" && widths_[i] > 1 && found.test != "";
            if (square && found.values.size() < widths_[i])
                add_note(out.notes.flagged, fmt::format("{}: {} of {} rows: cut", found.test,
                                                        found.values.size(), widths_[i]));
            if (keep_plausible(found, out.notes))
                out.matrices.push_back(std::move(found));
        }
        return out;
    }

private:
    PairMatrix& matrix() { return matrices_.back(); }

    void start(std::string_view line)
    {
        if (matrices_.size() >= most_matrices)
            return;
        const Unit unit = *unit_in(line);
        PairMatrix fresh;
        fresh.title = printable(trimmed(line), 200);
        fresh.test = test_.empty() ? printable(trimmed(line.substr(0, line.find('('))), 100)
                                   : printable(test_, 100);
        fresh.rows = line.find("CPU(row)") != line.npos ? "CPU" : "GPU";
        fresh.quantity = unit.quantity;
        factor_ = unit.factor;
        if (test_.empty() && line.find("P2P") != line.npos)
            fresh.test = printable(trimmed(line.substr(0, line.find(" Matrix"))), 100);
        test_.clear();
        matrices_.push_back(std::move(fresh));
        widths_.push_back(0);
        open_ = true;
        columns_ = 0;
    }

    // A second numbering below one title: latencies seen from the GPU, then from the CPU.
    void begin_columns(const std::vector<Word>& words)
    {
        const std::size_t columns = columns_in(words);
        if (columns == 0 || columns > most_columns) {
            open_ = open_ && columns_ == 0; // another text may stand before the numbering
            return;
        }
        if (columns_ > 0) {
            PairMatrix again = matrix();
            again.values.clear();
            matrices_.push_back(std::move(again));
            widths_.push_back(0);
        }
        if (words.front().text == "CPU" && matrix().quantity == PairQuantity::latency)
            matrix().test += " (from the CPU)";
        columns_ = columns;
        columns_in_rows_ = columns;
        widths_.back() = columns;
    }

    bool read_row(const std::vector<Word>& words)
    {
        const auto index = integer_in(words.front().text);
        if (index != static_cast<std::int64_t>(matrix().values.size()))
            return false;
        if (words.size() < columns_ + 1) {
            add_note(notes_.flagged, fmt::format("{}: row {} is cut: left out", matrix().test,
                                                 matrix().values.size()));
            open_ = false;
            return true;
        }
        std::vector<std::optional<double>> row;
        for (std::size_t i = 1; i <= columns_; ++i) {
            const auto value = number_in(words[i].text);
            if (!value && words[i].text != "N/A")
                return false;
            row.push_back(value ? std::optional(*value * factor_) : std::nullopt);
        }
        matrix().values.push_back(std::move(row));
        return true;
    }

    // "SUM device_to_device_memcpy_read_ce 715.53"
    void check_sum(std::string_view text)
    {
        const std::vector<Word> words = words_of(text);
        open_ = false;
        if (matrices_.empty() || words.size() < 2)
            return;
        if (matrix().test != words[0].text)
            matrix().test = printable(words[0].text, 100);
        const auto printed = number_in(words[1].text);
        double sum = 0;
        for (const auto& row : matrix().values)
            for (const auto& value : row)
                sum += value.value_or(0);
        sum /= factor_;
        if (printed && std::abs(*printed - sum) > 0.005 * std::abs(*printed) + 0.05)
            add_note(notes_.flagged,
                     fmt::format("{}: its sum is printed as {:.6g}, the values give {:.6g}",
                                 matrix().test, *printed, sum));
    }

    std::vector<PairMatrix> matrices_;
    std::vector<std::size_t> widths_;
    ImportNotes notes_;
    std::string test_; // named by "Running ..."
    double factor_ = 1e9;
    bool open_ = false;
    std::size_t columns_ = 0;
    std::size_t columns_in_rows_ = 0;
};

} // namespace

ImportedPairs read_pair_text(std::string_view text)
{
    PairTextReader reader;
    for_each_line(text.substr(0, most_log_bytes),
                  [&reader](int, const std::string& line) { reader.read(line); });
    return reader.finish();
}

} // namespace trainyard
