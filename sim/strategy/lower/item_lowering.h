#pragma once

// Turns a layer's items (kernels and communications in order) into ops: kernels between
// communications become one compute op per part of the layer, communications go to the stream of
// their group, and compute waits where it needs their result.

#include "sim/strategy/lower/block_draft.h"
#include "sim/strategy/lower/layer_memory.h"
#include "sim/strategy/lower/plan_builder.h"
#include "sim/strategy/rank_layout.h"

#include <optional>
#include <string_view>

namespace trainyard {

// The events a layer block shares with its surroundings; bound at each use.
namespace layer_event {
inline constexpr LocalEvent input{0};      // the pass's input has been received
inline constexpr LocalEvent parameters{1}; // the layer's parameters have been gathered
inline constexpr LocalEvent tail{2};     // communication that ends a block; waited for by the next
inline constexpr LocalEvent computed{3}; // the block's last compute op
inline constexpr std::uint16_t count = 4;
} // namespace layer_event

// How the exchange between experts is hidden: behind the product beside it, as the software class
// does; or not here, where another pass runs beside it.
enum class ExpertExchange : std::uint8_t { fused, whole };

class ItemLowering {
public:
    ItemLowering(PlanBuilder& plan, const Job& job, std::string block_name,
                 ExpertExchange exchange = ExpertExchange::fused);

    // Appends the items and what they take and give back; a block may hold several lists
    // (recompute, then backward).
    void lower(const WorkList& items, Phase phase, const ItemChanges& memory);

    // A weight's gradient: the compute op of phase backward with which it is ready, and the
    // operations of its product, as a measure of its size.
    struct GradientWork {
        LocalEvent ready = {};
        double dense = 0;
        double expert = 0;
    };
    struct Result {
        Block block;
        std::vector<GradientWork> gradients; // in order; empty without backward
    };
    // Closes the block: its last compute op records `computed`, trailing communication `tail`.
    // Changes besides the items': those at the start happen with the first compute op, those at the
    // end with the last one.
    Result finish(const TensorChanges& memory) &&;

private:
    struct Pending {
        std::size_t op;
        std::size_t due;          // compute from this item on waits
        bool until_heavy = false; // due after the next product or attention core instead
    };
    struct Fusion { // a collective cut into an exposed and a hidden part
        double exposed;
        bool beside_next; // hidden beside the heavy kernel that follows; else the one before
    };

    void add(const Kernel& kernel);
    void add(const Communication& communication, const WorkList& items, std::size_t index);
    void flush();
    std::size_t add_transfer(const Communication& communication, double share,
                             Interference interference);
    // Waits for what is due at item `at`.
    void wait_for_due(std::size_t op, std::size_t at);
    void wait_for_surroundings(std::size_t op);
    std::optional<Fusion> fusion_of(const Communication& communication, const WorkList& items,
                                    std::size_t index) const;
    void add_fused(const Communication& communication, const Fusion& fusion);
    std::vector<Kernel> take_from_last_heavy();
    TensorChanges& memory_of(std::size_t op);
    void place(const TensorChanges& taken, const TensorChanges& given_back);
    void place_rest(const TensorChanges& besides);

    PlanBuilder& plan_;
    const Job& job_;
    RankLayout layout_;
    ExpertExchange exchange_;
    bool uneven_; // expert ranks get unequal shares of the tokens
    BlockDraft draft_;
    Phase phase_ = Phase::forward;
    std::vector<Kernel> run_;   // kernels of the compute op to come
    std::size_t run_start_ = 0; // item of its first kernel
    std::string_view part_;     // of the run
    std::vector<Pending> pending_;
    std::optional<std::size_t> last_compute_;
    std::optional<std::size_t> first_compute_;
    std::vector<std::pair<std::size_t, GradientWork>> gradient_ops_; // by compute op
    std::size_t item_ = 0;                                           // items seen
    std::vector<TensorChanges> memory_;                              // by op
    TensorChanges changes_;                                          // of the op to come
    TensorChanges given_back_; // likewise, behind its latest kernel
};

} // namespace trainyard
