#include "sim/traces/execution/execution_json.h"

#include "sim/traces/execution/trace_builder.h"
#include "sim/traces/list_text.h"
#include "sim/traces/trace_sax.h"

#include <fmt/core.h>

#include <limits>

namespace trainyard {
namespace {

constexpr std::size_t longest_text = std::size_t{16} << 20U; // characters of one node's list

// Takes nlohmann's events: each node to a draft, each draft to the builder.
class NodeEvents final : public TraceSax {
public:
    NodeEvents(const JsonStream& stream, const std::string& file, GraphText form)
        : TraceSax(stream, file),
          form_(form),
          builder_(file, form == GraphText::calls ? GraphForm::calls : GraphForm::nodes)
    {
        if (form == GraphText::apart)
            node_depth_ = 0;
    }

    bool boolean(bool value) override
    {
        return list_.active() ? add_to_list(value ? "True" : "False") : count(value ? 1 : 0);
    }
    bool number_integer(number_integer_t value) override
    {
        if (list_.active())
            return add_to_list(fmt::format("{}", value));
        if (value >= 0)
            return count(static_cast<std::uint64_t>(value));
        return true;
    }
    bool number_unsigned(number_unsigned_t value) override
    {
        return list_.active() ? add_to_list(fmt::format("{}", value)) : count(value);
    }
    bool number_float(number_float_t value, const string_t& written) override
    {
        if (list_.active())
            return add_to_list(written);
        if (value >= 0 && value < 9e18)
            return count(static_cast<std::uint64_t>(value));
        return true;
    }
    bool string(string_t& value) override
    {
        if (list_.active())
            return add_to_list(quoted(value));
        if (std::string* const list = list_here())
            *list = value; // written as text by protobuf
        else if (in_attribute())
            (at_name_ ? attribute_ : attribute_text_) = value;
        else if (in_node())
            draft_.text(field_, value);
        return true;
    }

    bool key(string_t& name) override
    {
        if (!node_depth_) {
            nodes_follow_ = depth_ == 1 && (name == "nodes" || name == "workload_graph");
        } else if (depth_ == *node_depth_ + 1) {
            field_ = node_field(name);
            part_ = NodeField::values;
        } else if (field_ == NodeField::attributes) {
            at_name_ = depth_ == *node_depth_ + 3 && name == "name";
            at_value_ = !at_name_ && depth_ == *node_depth_ + 3 &&
                        (name == "value" || name.ends_with("Val") || name.ends_with("_val"));
        } else if (depth_ == *node_depth_ + 2) {
            part_ = node_field(name);
        }
        return true;
    }

    bool start_object(std::size_t) override
    {
        if (node_depth_ && depth_ == *node_depth_)
            draft_ = {};
        else if (in_attribute_list())
            forget_attribute();
        return deeper();
    }
    bool end_object() override
    {
        --depth_;
        if (in_attribute_list())
            take_attribute();
        if (node_depth_ && depth_ == *node_depth_)
            return keep();
        return true;
    }
    bool start_array(std::size_t) override
    {
        if (nodes_follow_ && depth_ == 1 && !node_depth_)
            node_depth_ = 2;
        else if (std::string* const list = list_.active() ? nullptr : list_here())
            list_.begin(*list, depth_);
        if (list_.active())
            list_.open();
        return deeper();
    }
    bool end_array() override
    {
        --depth_;
        if (list_.active())
            list_.close(depth_);
        if (node_depth_ && depth_ + 1 == *node_depth_ && form_ != GraphText::apart)
            node_depth_.reset();
        return true;
    }

    ExecutionBuilder& builder() { return builder_; }

private:
    bool in_node() const { return node_depth_ && depth_ > *node_depth_; }
    bool in_attribute_list() const
    {
        return node_depth_ && depth_ == *node_depth_ + 2 && field_ == NodeField::attributes;
    }
    bool in_attribute() const
    {
        return node_depth_ && depth_ >= *node_depth_ + 3 && field_ == NodeField::attributes;
    }

    // The list that a value here is or begins.
    std::string* list_here()
    {
        if (!in_node() || field_ == NodeField::attributes)
            return nullptr;
        const std::size_t within = depth_ - *node_depth_;
        const bool beside = within == 1; // "inputs": [...], "input_shapes": [...]
        const bool inside =
            within == 2 && (field_ == NodeField::inputs || field_ == NodeField::outputs);
        return beside || inside ? draft_.list(field_, part_) : nullptr;
    }

    bool count(std::uint64_t value)
    {
        if (in_attribute()) {
            if (at_value_ && depth_ == *node_depth_ + 3)
                attribute_count_ = value;
        } else if (in_node() && depth_ <= *node_depth_ + 2) {
            draft_.count(field_, value);
        }
        return true;
    }

    void forget_attribute()
    {
        attribute_.clear();
        attribute_text_.clear();
        attribute_count_.reset();
    }

    // Attributes say their name and their value in any order.
    void take_attribute()
    {
        const NodeField field = node_field(attribute_);
        if (field <= NodeField::attributes)
            return; // an attribute cannot rename its node
        if (attribute_count_)
            draft_.count(field, *attribute_count_);
        else
            draft_.text(field, attribute_text_);
    }

    static std::string quoted(std::string_view text)
    {
        std::string out = "'";
        for (const char c : text) {
            if (c == '\'' || c == '\\')
                out += '\\';
            out += c;
        }
        return out + "'";
    }
    bool add_to_list(std::string_view word)
    {
        return list_.add(word) ||
               refuse(fmt::format("a list of more than {} characters", longest_text), "");
    }

    bool keep()
    {
        // What stands before the nodes of a trace of single objects says what it is of.
        if (form_ == GraphText::apart && !draft_.id && builder_.size() == 0)
            return true;
        std::string problem = builder_.add(draft_);
        return problem.empty() || refuse(std::move(problem), "");
    }

    GraphText form_;
    ExecutionBuilder builder_;
    NodeDraft draft_;
    std::optional<std::size_t> node_depth_; // inside the list of nodes: the depth of each
    bool nodes_follow_ = false;
    NodeField field_ = NodeField::other; // member of the node
    NodeField part_ = NodeField::values; // of its inputs or outputs
    ListText list_{longest_text};
    bool at_name_ = false; // of an attribute
    bool at_value_ = false;
    std::string attribute_;
    std::string attribute_text_;
    std::optional<std::uint64_t> attribute_count_;
};

} // namespace

Checked<ExecutionTrace> read_execution_json(JsonStream& stream, const std::string& file,
                                            GraphText form)
{
    NodeEvents events(stream, file, form);
    const bool several = form == GraphText::apart;
    do {
        if (!nlohmann::json::sax_parse(JsonStreamIterator(stream), JsonStreamIterator(), &events,
                                       nlohmann::json::input_format_t::json, !several))
            return tl::unexpected(std::move(events.problems()));
        while (!stream.ended() &&
               std::string_view(" \r\n\t").find(stream.current()) != std::string_view::npos)
            stream.advance();
    } while (several && !stream.ended());
    if (events.builder().size() == 0)
        return rejected(file, "holds no node of an execution trace",
                        "record a step with it; dumps of NCCL's flight recorder "
                        "are none");
    return events.builder().take();
}

} // namespace trainyard
