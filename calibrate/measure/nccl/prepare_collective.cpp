#include "calibrate/measure/nccl/collective_layout.h"
#include "calibrate/measure/nccl/prepared_work.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

NcclType nccl_type(ElementType type)
{
    switch (type) {
    case ElementType::float32:
        return NcclType::float32;
    case ElementType::float16:
        return NcclType::float16;
    case ElementType::bfloat16:
        return NcclType::bfloat16;
    case ElementType::uint8:
    case ElementType::float8_e4m3: // refused before
        break;
    }
    return NcclType::uint8;
}

class PreparedCollective : public PreparedWork {
public:
    PreparedCollective(CudaApi& cuda, const NcclGroup& group, const CollectiveWork& work)
        : cuda_(cuda),
          group_(group),
          work_(work),
          doing_(describe(TimedWork(work))),
          layout_(layout_of(work, group.rank(), group.ranks()))
    {}

    Bytes slot() const override { return Bytes(layout_.slot); }
    ElementType type() const override { return work_.type; }

    void issue(int, std::byte* slot, CudaStream stream) override
    {
        group_.require(queue(slot + layout_.send_at, slot + layout_.receive_at, stream), doing_);
    }

    void fill_known(std::byte* slot, CudaStream stream) override
    {
        const DataPattern sent = sent_pattern(work_, group_.rank(), group_.ranks());
        require(cuda_, cuda_.fill(slot + layout_.send_at, sent, stream), "filling buffers");
    }

    std::optional<std::int64_t> wrong(std::byte* slot, CudaStream stream) override
    {
        std::int64_t sum = 0;
        for (const ExpectedPart& part : expected_parts(work_, group_.rank(), group_.ranks()))
            sum += require(cuda_, cuda_.count_wrong(slot + part.at, part.pattern, stream),
                           "checking a result");
        return sum;
    }

private:
    NcclResult queue(const std::byte* send, std::byte* receive, CudaStream stream) const
    {
        const NcclApi& nccl = group_.api();
        const NcclComm comm = group_.comm();
        const NcclType type = nccl_type(work_.type);
        const std::size_t count = layout_.count;
        switch (work_.collective) {
        case CollectiveKind::all_reduce:
        case CollectiveKind::barrier:
            return nccl.all_reduce(send, receive, count, type, NcclOperator::sum, comm, stream);
        case CollectiveKind::all_gather:
            return nccl.all_gather(send, receive, count, type, comm, stream);
        case CollectiveKind::reduce_scatter:
            return nccl.reduce_scatter(send, receive, count, type, NcclOperator::sum, comm, stream);
        case CollectiveKind::broadcast:
            return nccl.broadcast(send, receive, count, type, work_.root, comm, stream);
        case CollectiveKind::reduce:
            return nccl.reduce(send, receive, count, type, NcclOperator::sum, work_.root, comm,
                               stream);
        case CollectiveKind::all_to_all:
            if (nccl.all_to_all)
                return nccl.all_to_all(send, receive, count, type, comm, stream);
            return all_to_all_by_messages(send, receive, stream);
        case CollectiveKind::send_receive:
            break;
        }
        return NcclResult::invalid_argument;
    }

    NcclResult all_to_all_by_messages(const std::byte* send, std::byte* receive,
                                      CudaStream stream) const
    {
        const NcclApi& nccl = group_.api();
        const std::uint64_t part =
            layout_.count * static_cast<std::uint64_t>(element_bytes(work_.type));
        NcclResult result = nccl.group_start();
        for (int peer = 0; peer < group_.ranks(); ++peer) {
            const std::uint64_t at = part * static_cast<std::uint64_t>(peer);
            if (result == NcclResult::success)
                result = nccl.send(send + at, layout_.count, nccl_type(work_.type), peer,
                                   group_.comm(), stream);
            if (result == NcclResult::success)
                result = nccl.receive(receive + at, layout_.count, nccl_type(work_.type), peer,
                                      group_.comm(), stream);
        }
        const NcclResult ended = nccl.group_end(); // also after an error, which it says again
        return result == NcclResult::success ? ended : result;
    }

    CudaApi& cuda_;
    const NcclGroup& group_;
    CollectiveWork work_;
    std::string doing_;
    CollectiveLayout layout_;
};

} // namespace

std::unique_ptr<PreparedWork> prepare_collective(CudaApi& cuda, const NcclGroup& group,
                                                 const CollectiveWork& work)
{
    if (work.root < 0 || work.root >= group.ranks())
        throw MeasureFailure{FailureKind::refused,
                             fmt::format("{}: {} has no rank {} for the root",
                                         describe(TimedWork(work)), group.spec().name, work.root),
                             ""};
    return std::make_unique<PreparedCollective>(cuda, group, work);
}

} // namespace trainyard
