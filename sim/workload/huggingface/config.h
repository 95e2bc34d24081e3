#pragma once

// The keys of a Hugging Face config.json, under any of their aliases; remembers which were looked
// at and what was assumed.

#include "sim/base/reader.h"
#include "sim/workload/huggingface/defaults.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace trainyard {

class HfConfig {
public:
    using Aliases = std::vector<std::string>; // the usual one first

    // Keys are looked for in the config, then in the objects of it that hold a part of its sizes
    // ("attn_config", "ffn_config", "linear_attn_config", "sparse_attention_config").
    explicit HfConfig(const Reader& reader) : HfConfig(reader, reader) {}
    // `outer`: of which `reader` is the part for text.
    HfConfig(const Reader& reader, const Reader& outer);

    // What `number` gives where a key is absent, whatever its alias; each use of one is said.
    void take_defaults(std::span<const HfDefault> defaults) { defaults_ = defaults; }

    // Far beyond any model; keeps products of sizes within 64 bits.
    static constexpr std::int64_t largest_size = std::int64_t{1} << 24;

    // Absent or null gives nullopt; another kind of value, or one outside 1 to `largest`, is
    // reported. Of a list with an entry per layer the most frequent one counts, of several such the
    // first; where entries differ, `sizes` tells them apart, and what nobody told apart is said
    // (see `assumed`).
    std::optional<std::int64_t> number(const Aliases& aliases, std::int64_t largest = largest_size);
    // 1 after having reported it missing.
    std::int64_t required(const Aliases& aliases, std::int64_t largest = largest_size);
    std::int64_t count(const Aliases& aliases, std::int64_t otherwise,
                       std::int64_t largest = largest_size); // may be 0
    bool flag(const std::string& key, bool otherwise);
    double share(const std::string& key, double otherwise); // from 0 to 1
    std::optional<double> multiple(const Aliases& aliases); // above 0, at most 1000
    std::string text(const std::string& key);               // empty when absent
    bool has(const std::string& key);                       // present and not null
    // Present, not null and nothing else than what a reader takes: null otherwise.
    const Json* value(const std::string& key);
    // Lists of the layers, one entry each; empty when absent. Another kind of value is reported.
    std::vector<std::string> texts(const std::string& key);
    std::vector<std::int64_t> numbers(const std::string& key); // also as text: "4,5,6"
    // A size that differs by layer, 0 where it is null; empty where the key is absent or one
    // number. Entries are not reported again.
    std::vector<std::int64_t> sizes(const Aliases& aliases);
    // Whether any key of the config has this as a part, whatever it says.
    bool mentions(std::string_view part) const;
    std::vector<std::string> keys_with_part(std::string_view part) const;

    void assume(std::string sentence) { assumed_.push_back(std::move(sentence)); }
    bool assumes(const std::string& sentence) const
    {
        return std::ranges::find(assumed_, sentence) != assumed_.end();
    }
    void missing(const std::string& key, std::string hint) const;
    void error_at(const std::string& key, std::string message, std::string hint = {}) const;
    // Of the list under `key`.
    void error_at(const std::string& key, std::size_t entry, std::string message,
                  std::string hint) const;

    const Reader& reader() const { return sources_.front(); }
    const Reader& outer() const { return outer_; }
    std::vector<std::string> assumed() const;
    std::vector<std::string> ignored() const; // keys never looked at

private:
    const Json* find(const Aliases& aliases, std::string& key);
    std::optional<std::int64_t> usual_entry(const std::string& key, const Json& list,
                                            std::int64_t largest);

    std::optional<std::int64_t> default_of(const Aliases& aliases);

    Reader place_of(const std::string& key) const; // the whole config where it is absent

    Reader outer_;
    std::vector<Reader> sources_;
    std::set<std::string> seen_;   // of the first
    std::set<std::string> differ_; // lists whose entries differ by layer, not told apart so far
    std::span<const HfDefault> defaults_;
    std::set<std::string> defaulted_; // keys whose default was taken
    std::vector<std::string> assumed_;
};

} // namespace trainyard
