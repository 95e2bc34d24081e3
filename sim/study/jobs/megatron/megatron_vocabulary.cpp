// The vocabulary that Megatron-LM's arguments state, or that their tokenizer has.

#include "sim/base/spelling.h"
#include "sim/study/inputs.h"
#include "sim/study/jobs/megatron/megatron.h"
#include "sim/study/jobs/megatron/megatron_forms.h"
#include "sim/study/jobs/megatron/vocabulary_name.h"
#include "sim/study/jobs/named_model.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

struct Tokenizer {
    std::string_view type;
    std::int64_t vocabulary;
};
// Vocabularies that the type alone fixes.
constexpr std::array tokenizers{
    Tokenizer{"GPT2BPETokenizer", 50257}, Tokenizer{"BertWordPieceLowerCase", 30522},
    Tokenizer{"BertWordPieceCase", 28996}, Tokenizer{"Llama2Tokenizer", 32000},
    Tokenizer{"Llama3Tokenizer", 128256}};

// Arguments that name a tokenizer: a published model's, or where its files are.
constexpr std::array<std::string_view, 4> tokenizer_arguments{
    "--tokenizer-model", "--tokenizer-name-or-path", "--tokenizer-file", "--hf-checkpoint"};

std::optional<Transformer> shipped_layers(const std::string& name)
{
    const std::optional<Model> model = name.empty() ? std::nullopt : shipped_model(name);
    const auto* const layers = model ? std::get_if<Transformer>(&model->architecture) : nullptr;
    return layers == nullptr ? std::nullopt : std::optional(*layers);
}

// The last name of a path that is a folder's: "x/starcoder/tokenizer.json" has "starcoder".
std::string_view last_folder(std::string_view path)
{
    for (const std::string_view ending : {".json", ".model", ".txt", ".bin"})
        if (path.ends_with(ending))
            path = path.substr(0, std::min(path.find_last_of('/'), path.size()));
    while (path.ends_with('/'))
        path.remove_suffix(1);
    return path.substr(path.find_last_of('/') + 1);
}

// Of the family that a word of its folder's name begins: "tokenizer_llama2" is that of llama-2-7b.
// Where models of the family differ, that of the one with the same layers; else nothing.
std::optional<std::int64_t> vocabulary_of_family(std::string_view path, const Transformer& model)
{
    const std::string_view folder = last_folder(path);
    const std::vector<std::string> shipped = shipped_inputs(InputKind::model);
    std::optional<std::int64_t> first;
    bool differ = false;
    for (std::size_t at = 0; at < folder.size();) {
        const std::size_t end = std::min(folder.find_first_of("_-", at), folder.size());
        for (const std::string& name : names_beginning(folder.substr(at, end - at), shipped)) {
            const std::optional<Transformer> one = shipped_layers(name);
            if (!one)
                continue;
            if (one->hidden == model.hidden && one->layers == model.layers)
                return one->vocabulary;
            differ = differ || (first && *first != one->vocabulary);
            first = one->vocabulary;
        }
        at = end + 1;
    }
    return differ ? std::nullopt : first;
}

class VocabularyReader {
public:
    VocabularyReader(MegatronReader& reader, Transformer& model)
        : reader_(reader), values_(reader.values), draft_(reader.draft), model_(model)
    {}

    void read()
    {
        const auto size = values_.whole("--vocab-size");
        if (const auto padded = values_.whole("--padded-vocab-size")) {
            take("--padded-vocab-size", *padded);
            values_.whole("--make-vocab-size-divisible-by");
            return;
        }
        if (size)
            take("--vocab-size", *size);
        else
            of_tokenizer();
        pad();
    }

private:
    void take(std::string_view name, std::int64_t value)
    {
        draft_.take(model_.vocabulary, value, "model.vocabulary", values_.origin(name));
    }

    void of_tokenizer()
    {
        std::string type = values_.text("--tokenizer-type");
        if (type.empty() && (is_bert(reader_) || is_t5(reader_)))
            type = "BertWordPieceLowerCase"; // the default of those programs
        const Argument* const named = tokenizer_named();
        const std::string path = named == nullptr ? std::string() : named->values.front();
        const auto* const known =
            std::find_if(tokenizers.begin(), tokenizers.end(),
                         [&](const Tokenizer& tokenizer) { return tokenizer.type == type; });
        if (const auto shipped = shipped_layers(shipped_model_named(path)))
            take(named->name, shipped->vocabulary);
        else if (const std::int64_t words_told = vocabulary_named(path); words_told > 0)
            assume(words_told, fmt::format("as the tokenizer's file is called ({})", another));
        else if (known != tokenizers.end())
            assume(known->vocabulary, fmt::format("of {}", type));
        else if (const auto family = vocabulary_of_family(path, model_))
            assume(*family, fmt::format("that of the family that {} is called by ({})",
                                        named->text(), another));
        else if (named == nullptr && type.empty())
            assume(tokenizers.front().vocabulary,
                   "GPT-2's: no argument states it (--set model.vocabulary=128256 does)");
        else
            not_known(named == nullptr ? values_.origin("--tokenizer-type")
                                       : Origin{named->line, named->text()});
        if (const auto extra = values_.whole("--vocab-extra-ids");
            extra && *extra > 0 && *extra <= 1'000'000)
            take("--vocab-extra-ids", model_.vocabulary + *extra);
    }

    void assume(std::int64_t words, std::string_view why)
    {
        model_.vocabulary = words;
        draft_.assume(fmt::format("vocabulary {}, {}", words, why));
    }

    void not_known(const Origin& origin)
    {
        model_.vocabulary = tokenizers.front().vocabulary;
        draft_.flag(origin, fmt::format("its vocabulary is not known here: GPT-2's {} in its place "
                                        "(--set model.vocabulary=128256 states it)",
                                        model_.vocabulary));
    }

    // The first that is there, with a value; it stays one of the data unless it tells something.
    const Argument* tokenizer_named() const
    {
        for (const std::string_view name : tokenizer_arguments)
            if (const Argument* const one = reader_.arguments.last(name);
                one != nullptr && one->values.size() == 1)
                return one;
        return nullptr;
    }

    void pad()
    {
        const std::int64_t multiple =
            values_.whole("--make-vocab-size-divisible-by").value_or(usual_multiple);
        // The layers of Megatron-Core are padded so by themselves.
        const bool padded_later = multiple == usual_multiple && !values_.on("--deepspeed");
        if (padded_later || multiple < 1 || multiple > 1'000'000)
            return;
        const std::int64_t unit =
            multiple * std::clamp<std::int64_t>(
                           values_.whole("--tensor-model-parallel-size").value_or(1), 1, 100'000);
        const std::int64_t padded = (model_.vocabulary + unit - 1) / unit * unit;
        if (reader_.arguments.contains("--make-vocab-size-divisible-by"))
            take("--make-vocab-size-divisible-by", padded);
        else if (padded != model_.vocabulary) {
            model_.vocabulary = padded;
            draft_.assume(fmt::format("vocabulary padded to {}: a multiple of {}, Megatron-LM's "
                                      "default for each tensor-parallel rank",
                                      padded, usual_multiple));
        }
    }

    static constexpr std::int64_t usual_multiple = 128;
    static constexpr std::string_view another = "--set model.vocabulary=128256 says another";
    MegatronReader& reader_;
    ArgumentValues& values_;
    JobDraft& draft_;
    Transformer& model_;
};

} // namespace

void read_megatron_vocabulary(MegatronReader& reader, Transformer& model)
{
    VocabularyReader(reader, model).read();
}

} // namespace trainyard
