#include "sim/base/fields.h"
#include "sim/study/job_hash.h"
#include "tests/catch.h"

#include <map>
#include <set>

namespace trainyard::test {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// What initialises a member of one sort and no other.
struct AnyOptional {
    template <class T>
    requires is_optional<T>
    operator T() const;
};
struct AnyClass {
    template <class T>
    requires(std::is_class_v<T> && !is_optional<T>) operator T() const;
};
struct AnyScalar {
    template <class T>
    requires(!std::is_class_v<T>) operator T() const;
};

} // namespace trainyard::test

using namespace trainyard;
using namespace trainyard::test;

namespace {

// How many members an aggregate has: as many values as initialise it. Classes first, lest values
// spread over the members of a member.
template <class T, class... Found>
constexpr std::size_t member_count()
{
    if constexpr (requires { T{Found()..., AnyClass()}; })
        return member_count<T, Found..., AnyClass>();
    else if constexpr (requires { T{Found()..., AnyOptional()}; })
        return member_count<T, Found..., AnyOptional>();
    else if constexpr (requires { T{Found()..., AnyScalar()}; })
        return member_count<T, Found..., AnyScalar>();
    else
        return sizeof...(Found);
}

template <class Part>
void check_members()
{
    INFO(fields_of<Part>().name());
    const bool tells_sources = requires(const Part& part)
    {
        part.provenance;
    };
    CHECK(fields_of<Part>().fields().size() + tells_sources == member_count<Part>());
}

// What a field may be set to, of an object one member at a time, and more.
std::vector<Json> values(const Json& schema)
{
    std::vector<Json> out{true, false, 3, 4, "x"};
    for (const char* list : {"enum", "examples"})
        if (const Json* const named = schema.find(list))
            for (const Json& value : named->items()) {
                out.emplace_back(value);
                out.emplace_back("1" + value.as_string()); // an example may be the default
            }
    if (const Json* const item = schema.find("items"))
        for (const Json& value : values(*item))
            out.emplace_back(Json::Array{value});
    if (const Json* const members = schema.find("properties"))
        for (const Json::Member& member : members->members())
            for (const Json& value : values(member.second))
                out.emplace_back(Json::Object{{member.first, value}});
    return out;
}

// Each value of each field of the part has a hash of its own.
template <class Part>
void check_hashes(Part& (*part_of)(Job&))
{
    for (const FieldList::Field& field : fields_of<Part>().fields()) {
        INFO(fields_of<Part>().name() << "." << field.description.name);
        std::map<std::string, std::uint64_t> by_value;
        const auto see = [&](const Json* value) {
            Job job;
            job.data.emplace();
            void* const member = reinterpret_cast<std::byte*>(&part_of(job)) + field.offset;
            Problems problems;
            if (value == nullptr || field.access.read(Reader(*value, "value", problems), member))
                by_value.emplace(to_text(field.access.write(member)), hash_of(job, 0));
        };
        see(nullptr); // the default
        for (const Json& value : values(field.description.schema))
            see(&value);
        const Json* const members = field.description.schema.find("properties");
        // One with required members is a part of its own.
        if (field.description.schema.find("required") == nullptr)
            CHECK(by_value.size() > (members != nullptr ? members->members().size() : 1));
        std::set<std::uint64_t> hashes;
        for (const auto& [value, hash] : by_value)
            hashes.insert(hash);
        CHECK(hashes.size() == by_value.size());
    }
}

} // namespace

TEST_CASE("every member of what makes a job has a field in files")
{
    check_members<Training>();
    check_members<Lora>();
    check_members<Packing>();
    check_members<NumberFormats>();
    check_members<Strategy>();
    check_members<PipelineOptions>();
    check_members<TensorParallel>();
    check_members<ContextParallel>();
    check_members<ExpertParallel>();
    check_members<Overlap>();
    check_members<DdpOptions>();
    check_members<ShardingOptions>();
    check_members<FsdpOptions>();
    check_members<OffloadOptions>();
    check_members<GroupBackends>();
    check_members<SoftwareClass>();
    check_members<KernelStyle>();
    check_members<DataLoading>();
    check_members<StorageClass>();
    check_members<HostClass>();
    check_members<PerDecoder>();
}

TEST_CASE("jobs that differ in one field of a part have different hashes")
{
    check_hashes<Training>([](Job& job) -> Training& { return job.training; });
    check_hashes<Lora>([](Job& job) -> Lora& {
        return job.training.lora ? *job.training.lora : job.training.lora.emplace();
    });
    check_hashes<Strategy>([](Job& job) -> Strategy& { return job.strategy; });
    check_hashes<SoftwareClass>([](Job& job) -> SoftwareClass& { return job.software; });
    check_hashes<DataLoading>([](Job& job) -> DataLoading& { return job.data->loading; });
    check_hashes<StorageClass>([](Job& job) -> StorageClass& { return job.data->storage; });
    check_hashes<HostClass>([](Job& job) -> HostClass& { return job.data->host; });
}

TEST_CASE("jobs that differ beside their parts have different hashes")
{
    std::vector<Job> jobs(8);
    jobs[1].gpus_per_node = 4;
    jobs[2].cuda_graphs = true;
    jobs[3].launches.blocking = true;
    jobs[4].launches.ordered = false;
    jobs[5].communicator_creation = Seconds(1);
    jobs[6].data.emplace();
    jobs[7].training.lora.emplace();
    std::set<std::uint64_t> hashes{hash_of(jobs[0], 1)};
    for (const Job& job : jobs)
        hashes.insert(hash_of(job, 0));
    CHECK(hashes.size() == 9);
}
