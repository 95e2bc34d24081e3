#include "calibrate/measure/nccl/collective_layout.h"
#include "calibrate/measure/nccl/prepared_work.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

// One end of a message on this rank.
struct MessageEnd {
    int peer = 0;
    bool sends = false;
    std::uint64_t at = 0;   // bytes into the slot
    std::uint64_t mark = 0; // makes the contents of messages differ
};

class PreparedMessages : public PreparedWork {
public:
    PreparedMessages(CudaApi& cuda, const NcclGroup& group, Bytes size, std::string doing)
        : cuda_(cuda), group_(group), size_(size), doing_(std::move(doing))
    {}

    // In the order in which all ranks name their messages.
    void add(const PairMessage& message)
    {
        for (const int rank : {message.from, message.to})
            if (rank < 0 || rank >= group_.ranks())
                throw MeasureFailure{
                    FailureKind::refused,
                    fmt::format("{}: {} has no rank {}", doing_, group_.spec().name, rank), ""};
        if (message.from == group_.rank())
            add_end({message.to, true, 0, marks_});
        if (message.to == group_.rank())
            add_end({message.from, false, 0, marks_});
        ++marks_;
    }

    Bytes slot() const override { return Bytes(slot_); }
    ElementType type() const override { return ElementType::uint8; }

    void fill_known(std::byte* slot, CudaStream stream) override
    {
        for (const MessageEnd& end : ends_)
            if (end.sends)
                require(cuda_, cuda_.fill(slot + end.at, contents(end, group_.rank()), stream),
                        "filling buffers");
    }

    std::optional<std::int64_t> wrong(std::byte* slot, CudaStream stream) override
    {
        std::int64_t sum = 0;
        for (const MessageEnd& end : ends_)
            if (!end.sends)
                sum += require(cuda_,
                               cuda_.count_wrong(slot + end.at, contents(end, end.peer), stream),
                               "checking a result");
        return sum;
    }

protected:
    NcclResult queue(const MessageEnd& end, std::byte* slot, CudaStream stream) const
    {
        const NcclApi& nccl = group_.api();
        return end.sends ? nccl.send(slot + end.at, size_.value(), NcclType::uint8, end.peer,
                                     group_.comm(), stream)
                         : nccl.receive(slot + end.at, size_.value(), NcclType::uint8, end.peer,
                                        group_.comm(), stream);
    }

    const NcclGroup& group() const { return group_; }
    const std::string& doing() const { return doing_; }
    const std::vector<MessageEnd>& ends() const { return ends_; }

private:
    void add_end(MessageEnd end)
    {
        end.at = slot_;
        slot_ += aligned(size_.value());
        ends_.push_back(end);
    }

    DataPattern contents(const MessageEnd& end, int from) const
    {
        return {PatternKind::plain, ElementType::uint8, size_.value(), end.mark << 40, from,
                group_.ranks()};
    }

    CudaApi& cuda_;
    const NcclGroup& group_;
    Bytes size_;
    std::string doing_;
    std::vector<MessageEnd> ends_;
    std::uint64_t slot_ = 0;
    std::uint64_t marks_ = 0;
};

class PreparedExchange : public PreparedMessages {
public:
    using PreparedMessages::PreparedMessages;

    void issue(int, std::byte* slot, CudaStream stream) override
    {
        if (ends().empty())
            return;
        NcclResult result = group().api().group_start();
        for (const MessageEnd& end : ends())
            if (result == NcclResult::success)
                result = queue(end, slot, stream);
        const NcclResult ended = group().api().group_end();
        group().require(result == NcclResult::success ? ended : result, doing());
    }
};

class PreparedPingPong : public PreparedMessages {
public:
    using PreparedMessages::PreparedMessages;

    // Both ends know two messages: there, and back.
    void issue(int op, std::byte* slot, CudaStream stream) override
    {
        if (!ends().empty())
            group().require(queue(ends()[static_cast<std::size_t>(op % 2)], slot, stream), doing());
    }

    int checked_ops() const override { return 2; }
};

} // namespace

std::unique_ptr<PreparedWork> prepare_exchange(CudaApi& cuda, const NcclGroup& group,
                                               const ExchangeWork& work)
{
    auto prepared =
        std::make_unique<PreparedExchange>(cuda, group, work.size, describe(TimedWork(work)));
    for (const PairMessage& message : work.messages)
        prepared->add(message);
    return prepared;
}

std::unique_ptr<PreparedWork> prepare_ping_pong(CudaApi& cuda, const NcclGroup& group,
                                                const PingPongWork& work)
{
    const std::string doing = describe(TimedWork(work));
    if (work.first == work.second)
        throw MeasureFailure{FailureKind::refused, doing + ": a rank with itself", ""};
    auto prepared = std::make_unique<PreparedPingPong>(cuda, group, work.size, doing);
    prepared->add({work.first, work.second});
    prepared->add({work.second, work.first});
    return prepared;
}

} // namespace trainyard
