// Lives of tensors begin and end at items that are found by name: a name that no layer has would
// silently mean the begin or the end of a pass.

#include "sim/base/build_info.h"
#include "sim/base/json.h"
#include "sim/strategy/lower/job_work.h"
#include "sim/workload/model_reader.h"
#include "tests/catch.h"
#include "tests/support/pick.h"
#include "tests/support/random_jobs.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

using Names = std::set<std::string, std::less<>>;

void add_names(Names& names, const WorkList& items)
{
    for (const WorkItem& item : items)
        names.insert(name_of(item));
}

// Where each of the names in `text`, separated by '|', is said.
using Said = std::map<std::string, std::string, std::less<>>;

void add_said(Said& said, std::string_view text, const LayerTensor& tensor)
{
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('|', begin), text.size());
        said.emplace(text.substr(begin, end - begin), tensor.name);
        begin = end + 1;
    }
}

struct Lives {
    Names forward, backward;          // items that some layer has
    Said said_forward, said_backward; // by tensors

    void add(const LayerWork& layer)
    {
        add_names(forward, layer.forward);
        add_names(backward, layer.backward);
        for (const LayerTensor& tensor : layer.tensors) {
            const bool gradient = tensor.use == TensorUse::gradient;
            Said& pass = gradient ? said_backward : said_forward;
            add_said(pass, tensor.made_by, tensor);
            add_said(pass, tensor.until, tensor);
            add_said(said_backward, tensor.kept_until, tensor);
            add_said(said_backward, tensor.put_off, tensor);
        }
    }
};

void check_names(const Said& said, const Names& items)
{
    for (const auto& [name, tensor] : said) {
        INFO("a life of \"" << tensor << "\" hangs on \"" << name << "\"");
        CHECK(items.contains(name));
    }
}

std::vector<Model> shipped_models()
{
    std::vector<Model> models;
    for (const auto& folder :
         std::filesystem::directory_iterator(data_dir() / "scenarios" / "models")) {
        const std::string path = (folder.path() / "config.json").string();
        if (!exists(folder.path() / "config.json"))
            continue;
        const Checked<Json> json = read_json_file(path);
        REQUIRE(json);
        const Checked<Model> model = read_model(*json, path);
        REQUIRE(model);
        models.push_back(*model);
    }
    return models;
}

} // namespace

TEST_CASE("every item that a tensor's life hangs on is there in some layer")
{
    Lives lives;
    const auto add = [&](const JobRequest&, const Job& job) {
        for (const KindOfLayer& kind : job_work(job).kinds)
            lives.add(kind.work);
    };
    each_job({.seed = 31, .jobs = 1500}, random_request, add);
    const std::vector<Model> models = shipped_models();
    REQUIRE(models.size() > 100);
    each_job(
        {.seed = 32, .jobs = 1500},
        [&](Random& random, const std::vector<SoftwareClass>& software) {
            JobRequest request = random_request(random, software);
            request.model = pick(random, models);
            if (request.training.lora)
                request.training.lora->targets = {AdapterTarget::q_proj, AdapterTarget::o_proj,
                                                  AdapterTarget::up_proj, AdapterTarget::down_proj};
            return request;
        },
        add);
    check_names(lives.said_forward, lives.forward);
    check_names(lives.said_backward, lives.backward);
}
