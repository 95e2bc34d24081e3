#pragma once

// Execution traces as PyTorch's ExecutionTraceObserver writes them (1.1.0), node by node.

#include "sim/traces/execution/graph_ranks.h"
#include "sim/traces/trace_file.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace trainyard::test {

class WrittenGraph {
public:
    // What is around others, or starts no kernel: a thread, an annotation, a node of autograd.
    WrittenGraph& around(int id, int parent, const std::string& name)
    {
        return named(id, parent, name, "[], []");
    }
    // Without a schema: a backend's collective on these tensors, what the observer says of groups.
    WrittenGraph& named(int id, int parent, const std::string& name, const std::string& inputs)
    {
        return node(id, parent, name, inputs, "[], []", "");
    }
    // An op of ATen on tensors "[id, storage, offset, elements, 4, 'cuda:0']".
    WrittenGraph& op(int id, int parent, const std::string& name, const std::string& inputs,
                     const std::string& outputs, const std::string& schema = "")
    {
        return node(id, parent, name, inputs, outputs,
                    fmt::format(", {{\"name\": \"op_schema\", \"type\": \"string\", \"value\": "
                                "\"{}({}) -> {}\"}}",
                                name, schema.empty() ? "Tensor self" : schema,
                                schema.find("(a)") == schema.npos ? "Tensor" : "Tensor(a)"));
    }
    WrittenGraph& all_reduce(int id, int parent, int elements, int rank = 0)
    {
        return node(
            id, parent, "record_param_comms",
            fmt::format("[[[900, 90, 0, {0}, 4, \"cuda:0\"]], 3, [\"0\", \"default_pg\"], {1}, "
                        "\"allreduce\", [], [], 0, 1, 2], [[[{0}]]]",
                        elements, rank),
            "[], []",
            fmt::format(", {{\"name\": \"op_schema\", \"type\": \"string\", \"value\": \"\"}}, "
                        "{{\"name\": \"collective_name\", \"type\": \"string\", \"value\": "
                        "\"allreduce\"}}, {{\"name\": \"dtype\", \"type\": \"string\", \"value\": "
                        "\"Float\"}}, {{\"name\": \"in_msg_nelems\", \"type\": \"uint64\", "
                        "\"value\": {0}}}, {{\"name\": \"out_msg_nelems\", \"type\": \"uint64\", "
                        "\"value\": {0}}}, {{\"name\": \"pg_name\", \"type\": \"string\", "
                        "\"value\": \"0\"}}, {{\"name\": \"pg_desc\", \"type\": \"string\", "
                        "\"value\": \"default_pg\"}}, {{\"name\": \"pg_size\", \"type\": "
                        "\"uint64\", \"value\": 2}}",
                        elements));
    }

    std::string text() const
    {
        return fmt::format(
            "{{\"schema\": \"1.1.0-chakra.0.0.4\", \"pid\": 7, \"nodes\": [\n{}\n]}}\n",
            fmt::join(nodes_, ",\n"));
    }

private:
    // `inputs` and `outputs` are values and shapes.
    WrittenGraph& node(int id, int parent, const std::string& name, const std::string& inputs,
                       const std::string& outputs, const std::string& attributes)
    {
        const auto lists = [](const std::string& text) {
            const std::size_t values = end_of_first(text);
            return fmt::format("\"values\": {}, \"shapes\": {}, \"types\": []",
                               text.substr(0, values), text.substr(values + 2));
        };
        nodes_.push_back(fmt::format("{{\"id\": {}, \"name\": \"{}\", \"ctrl_deps\": {}, "
                                     "\"inputs\": {{{}}}, \"outputs\": {{{}}}, \"attrs\": "
                                     "[{{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": "
                                     "{}}}{}]}}",
                                     id, name, parent, lists(inputs), lists(outputs), id,
                                     attributes));
        return *this;
    }
    // Where the first of two lists ends.
    static std::size_t end_of_first(const std::string& text)
    {
        int depth = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
            if (depth == 0)
                return i + 1;
        }
        return text.size();
    }

    std::vector<std::string> nodes_;
};

// A tensor of floats on the device.
inline std::string tensor(int storage, int elements, const std::string& device = "cuda:0")
{
    return fmt::format("[{}, {}, 0, {}, 4, \"{}\"]", storage + 1000, storage, elements, device);
}

inline Checked<TraceFile> read_text(const std::string& text, const std::string& name = "et.json")
{
    const testing::Folder folder;
    return read_trace_file(folder.file(name, text));
}

// The first problem's message, the line before it where there is one.
inline std::string refusal_of(const std::string& text, const std::string& name = "et.json")
{
    const Checked<TraceFile> read = read_text(text, name);
    if (read)
        return "accepted";
    const Diagnostic& problem = read.error().front();
    return problem.line > 0 ? fmt::format("{}: {}", problem.line, problem.message)
                            : problem.message;
}

inline RankActivity activity_read(const std::string& text, const std::string& name = "et.json")
{
    Checked<TraceFile> read = read_text(text, name);
    if (!read)
        FAIL(render(read.error(), ""));
    REQUIRE(read->ranks.size() == 1);
    return std::move(read->ranks.front().activity);
}

} // namespace trainyard::test
