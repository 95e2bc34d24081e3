#include "sim/cost/profile_library.h"
#include "sim/cost/software_choice.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;

TEST_CASE("a framework's name and age choose its software class")
{
    struct Case {
        const char* framework;
        const char* version;
        const char* name;
    };
    for (const Case& c :
         {Case{"megatron-core", "0.12", "mcore-2024"},
          Case{"Megatron-Core", "0.15.0", "mcore-2025"},
          Case{"Megatron-LM", "2021", "megatron-2021"},
          Case{"Megatron-DeepSpeed", "2022-05", "megatron-2021"},
          Case{"Megatron-LM", "23.04", "mcore-2024"}, Case{"NeMo", "24.09", "mcore-2024"},
          Case{"Megatron-Bridge", "25.09", "mcore-2025"}, Case{"MaxText", "", "jax-xla"},
          Case{"Pax", "23.10", "jax-xla"}, Case{"torchtitan", "", "torch-compile-fsdp"},
          Case{"llm-foundry", "", "fsdp-eager"}, Case{"PyTorch FSDP", "2.1", "fsdp-eager"},
          Case{"PyTorch DDP", "", "ddp-eager"}, Case{"ddp-eager", "", "ddp-eager"}})
    {
        INFO(c.framework << " " << c.version);
        CHECK(software_class_for(c.framework, c.version).name == c.name);
    }
}

TEST_CASE("newer PyTorch brings cuDNN attention")
{
    CHECK_FALSE(software_class_for("torchtitan", "2024.10").attention);
    CHECK(software_class_for("torchtitan", "2025.03").attention == AttentionKernel::sdpa_cudnn);
    CHECK_FALSE(software_class_for("PyTorch FSDP", "2.4").attention);
    CHECK(software_class_for("PyTorch FSDP", "2.10").attention == AttentionKernel::sdpa_cudnn);
}

TEST_CASE("the loss is compiled since 2025, and llm-foundry's keeps the logits alone")
{
    CHECK_FALSE(software_class_for("torchtitan", "2024.12").loss);
    CHECK(software_class_for("torchtitan", "2025.03").loss == LossKernel::fused);
    CHECK(software_class_for("llm-foundry", "").loss == LossKernel::fused);
    CHECK_FALSE(software_class_for("PyTorch FSDP", "2.10").loss);
}

TEST_CASE("a framework nobody knows is taken for eager FSDP, and that is said")
{
    const ClassChoice choice = software_class_for("hypertrain", "1.0");
    CHECK(choice.name == "fsdp-eager");
    CHECK_THAT(choice.note, ContainsSubstring("hypertrain"));
    CHECK(software_class_for("torchtitan", "").note.empty());
}

TEST_CASE("every class that can be chosen is shipped")
{
    const std::vector<std::string> shipped = known_software();
    for (const char* name : {"megatron-2021", "mcore-2024", "mcore-2025", "jax-xla",
                             "torch-compile-fsdp", "fsdp-eager", "ddp-eager"})
        CHECK(std::count(shipped.begin(), shipped.end(), name) == 1);
}
