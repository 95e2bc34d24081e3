#pragma once

// Hugging Face config.json, as it is.

#include "sim/base/reader.h"
#include "sim/workload/model_reader.h"

#include <set>

namespace trainyard {

bool is_huggingface_config(const Json& node);
std::optional<ImportedModel> read_huggingface(const Reader& reader);

// Laws that hold for any transformer, native or not.
void check_head_size(const Reader& reader, const Transformer& model);
void check_transformer(const Reader& reader, const Transformer& model);

// The keys of a config, under any of their aliases; remembers which were looked at and what was
// assumed.
class HfConfig {
public:
    using Aliases = std::vector<std::string>; // the usual one first

    // Keys are looked for in the config, then in the objects of it that hold a part of its sizes
    // ("attn_config", "ffn_config", "linear_attn_config").
    explicit HfConfig(const Reader& reader) : HfConfig(reader, reader) {}
    // `outer`: of which `reader` is the part for text.
    HfConfig(const Reader& reader, const Reader& outer);

    // Far beyond any model; keeps products of sizes within 64 bits.
    static constexpr std::int64_t largest_size = std::int64_t{1} << 24;

    // Absent or null gives nullopt; another kind of value, or one outside 1 to `largest`, is
    // reported.
    std::optional<std::int64_t> number(const Aliases& aliases, std::int64_t largest = largest_size);
    // 1 after having reported it missing.
    std::int64_t required(const Aliases& aliases, std::int64_t largest = largest_size);
    std::int64_t count(const Aliases& aliases, std::int64_t otherwise); // may be 0
    bool flag(const std::string& key, bool otherwise);
    double share(const std::string& key, double otherwise); // a number
    std::string text(const std::string& key);               // empty when absent
    bool has(const std::string& key);                       // present and not null
    // Present, not null and nothing else than what a reader takes: null otherwise.
    const Json* value(const std::string& key);
    // Lists of the layers, one entry each; empty when absent. Another kind of value is reported.
    std::vector<std::string> texts(const std::string& key);
    std::vector<std::int64_t> numbers(const std::string& key);
    // Whether any key of the config has this as a part, whatever it says.
    bool mentions(std::string_view part) const;

    void assume(std::string sentence) { assumed_.push_back(std::move(sentence)); }
    void error_at(const std::string& key, std::string message, std::string hint = {}) const;
    // Of the list under `key`.
    void error_at(const std::string& key, std::size_t entry, std::string message,
                  std::string hint) const;

    const Reader& reader() const { return sources_.front(); }
    const Reader& outer() const { return outer_; }
    std::vector<std::string> assumed() const { return assumed_; }
    std::vector<std::string> ignored() const; // keys never looked at

private:
    const Json* find(const Aliases& aliases, std::string& key);

    Reader place_of(const std::string& key) const; // the whole config where it is absent

    Reader outer_;
    std::vector<Reader> sources_;
    std::set<std::string> seen_; // of the first
    std::vector<std::string> assumed_;
};

// Which layers are of which kind, where a config says so: by a list of the layers, by a period, or
// by a word of letters. Sets the model's forms and pattern.
void read_pattern(HfConfig& config, Transformer& model);

// Of the MLP, under any of its keys; empty when absent.
std::string activation_name(HfConfig& config);

// What a family of models fixes, and how it departs from the common keys.
struct HfFamily {
    std::string_view model_type;
    Transformer base; // structure and defaults of the family
    void (*refine)(HfConfig& config, Transformer& model) = nullptr;
};

// The structure of a family that is not known, told by its keys; says what was taken for granted.
Transformer unknown_family(HfConfig& config);

const HfFamily* find_hf_family(std::string_view model_type); // null when unknown
std::vector<std::string> hf_family_names();

} // namespace trainyard
