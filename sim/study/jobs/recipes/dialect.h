#pragma once

// Recipes: jobs of other frameworks as trees of settings (YAML, JSON), in whose words the readers
// of arguments are told what they say. A framework is a table.

#include "sim/base/json.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// Whose words the arguments are that a recipe becomes.
enum class RecipeWords { megatron, trainer };

// A setting as an argument.
struct RecipeKey {
    std::string_view key;       // "trainer.precision", or the last part alone: "num_moe_experts"
    std::string_view when;      // how its value begins; empty: any
    std::string_view argument;  // empty: it says nothing of a job
    std::string_view value;     // empty: its own; "-": the argument is a switch, "off": not on
    std::string_view with = {}; // a setting beside it without which it says nothing: "fp8"
};

// An argument as the framework has it where nothing says so.
struct UnsaidArgument {
    std::string_view argument;                   // "--bf16"
    std::string_view value = {};                 // empty: it is a switch
    std::array<std::string_view, 3> unless = {}; // arguments in whose presence it is not so
    std::string_view where = {}; // and one beside which alone it says anything: "--adapter"
    std::string_view is = {};    // of this value
};

class Arguments;
class JobDraft;

struct RecipeDialect {
    std::string_view name;
    std::string_view mark;       // a setting that its recipes have: "modules.pre_trainer"
    std::string_view other_mark; // and this one; empty: none
    RecipeWords words = RecipeWords::megatron;
    std::span<const RecipeKey> keys; // what is not in it is called as it is: "seq_length"
    std::span<const UnsaidArgument> unsaid;
    // What no table of keys can say, where there is such: more arguments from a recipe, and the
    // configuration of DeepSpeed from the recipe's section of it (nothing where it is not used).
    void (*own_words)(const Json& root, Arguments& arguments, JobDraft& draft) = nullptr;
    std::optional<Json> (*deepspeed)(const Json& section) = nullptr;
};

// The first whose marks a tree has; null when it is no recipe known here.
const RecipeDialect* dialect_of(const Json& root);

const RecipeDialect* dialect_named(std::string_view name); // null when there is none

// That of a launch whose arguments are settings of its recipes: of "llamafactory-cli train", of
// "composer"; null when there is none.
const RecipeDialect* dialect_of_launch(std::string_view launcher, std::string_view program);

// That of a program which only its arguments tell: slime's "--actor-num-gpus-per-node", Llama
// Cookbook's "--enable-fsdp". Null when there is none.
const RecipeDialect* dialect_of_arguments(const Arguments& arguments);

const Json* setting_at(const Json& root, std::string_view dotted);

// The row for a setting by its whole name or by its last part; null when there is none.
const RecipeKey* key_of(const RecipeDialect& dialect, std::string_view name,
                        std::string_view value);

} // namespace trainyard
