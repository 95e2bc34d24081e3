#include "sim/study/jobs/shell/launch.h"
#include "sim/study/jobs/shell/shell_test.h"
#include "tests/catch.h"

#include <fmt/core.h>

using namespace trainyard;

namespace {

ShellScript script(std::string_view text, const std::map<std::string, std::string>& defined = {})
{
    const Checked<ShellScript> out = read_shell(traced(text), "run.sh", defined);
    REQUIRE(out);
    return *out;
}

// The words of the only command.
std::vector<std::string> words(std::string_view text,
                               const std::map<std::string, std::string>& defined = {})
{
    const ShellScript read = script(text, defined);
    REQUIRE(read.commands.size() == 1);
    std::vector<std::string> out;
    for (const TracedText& word : read.commands.front().words)
        out.push_back(word.text);
    return out;
}

using Words = std::vector<std::string>;

} // namespace

TEST_CASE("quotes join words and keep what is special as it is")
{
    CHECK(words("run 'a b' \"c  d\" e\\ f g'h'\"i\"") == Words{"run", "a b", "c  d", "e f", "ghi"});
    CHECK(words("A=1\nrun '$A' \"$A\" $A ''") == Words{"run", "$A", "1", "1", ""});
}

TEST_CASE("a line goes on after a backslash, with either kind of line end")
{
    CHECK(words("run \\\n  --a 1 \\\r\n  --b 2\r\n") == Words{"run", "--a", "1", "--b", "2"});
}

TEST_CASE("comments end with their line and do not begin inside words")
{
    CHECK(words("# first\nrun a#b # c\n") == Words{"run", "a#b"});
}

TEST_CASE("unquoted variables are split at blanks, quoted ones and lists are not")
{
    CHECK(words("A='x  y'\nrun $A \"$A\"") == Words{"run", "x", "y", "x  y"});
    CHECK(words("A=(x 'y z'\n # between\n w)\nA+=(v)\nrun \"${A[@]}\"") ==
          Words{"run", "x", "y z", "w", "v"});
    CHECK(words("A=\"x\"\nA+=\" y\"\nrun $A") == Words{"run", "x", "y"});
}

TEST_CASE("lengths and entries of lists are known where the list is")
{
    CHECK(words("A=(x 'y z' w)\nB=llama\nrun ${#A[@]} ${#B} ${A[1]} ${A[-1]} $((2 * ${#A[*]}))") ==
          Words{"run", "3", "5", "y", "z", "w", "6"});
    CHECK(words("I=2\nA=(a b c)\nrun ${A[I]} ${A[$I]} ${A[3]} ${#C[@]}") ==
          Words{"run", "c", "c", "${A[3]}", "${#C[@]}"});
    // How many words the output of a program has is not known.
    CHECK(words("A=($(scontrol show hostnames))\nrun ${#A[@]}") == Words{"run", "${#A[@]}"});
    CHECK(words("G=0,1,2,3\nIFS=',' read -ra IDS <<< \"$G\"\nrun ${#IDS[@]} ${IDS[2]}") ==
          Words{"run", "4", "2"});
}

TEST_CASE("a text is held against an expression as bash does, and its groups are known")
{
    const auto taken = [](std::string_view condition) {
        return words(fmt::format("M=llama-13b\nif [[ {} ]]; then N=yes; else N=no; fi\nrun $N",
                                 condition))[1];
    };
    CHECK(taken("$M =~ ^llama") == "yes");
    CHECK(taken("$M =~ 7b") == "no");
    CHECK(taken("$M =~ ^(llama|qwen)-[0-9]+b$") == "yes");
    CHECK(taken("! $M =~ 13b") == "no");
    CHECK(taken("$M =~ 7b || $M =~ 13b") == "yes");
    CHECK(words("M=llama-13b\nif [[ $M =~ -([0-9]+)b ]]; then S=${BASH_REMATCH[1]}; fi\nrun $S") ==
          Words{"run", "13"});
    CHECK(script("if [[ $HOSTNAME =~ ^gpu ]]; then N=1; fi\nrun x").skipped.size() == 1);
    CHECK_FALSE(regex_groups("a", "(a{200}){200}"));
    CHECK_FALSE(regex_groups("a", "("));
}

TEST_CASE("options that a script reads keep their defaults where it is run without")
{
    CHECK(words(R"(TP=2
MODEL=7b
while getopts "t:m:h" opt; do
  case $opt in
    t) TP=$OPTARG ;;
    m) MODEL="$OPTARG" ;;
    h) echo help; exit 0 ;;
    \?) echo "Invalid option: -$OPTARG" >&2; exit 1 ;;
    *) exit 1;;
  esac
done
shift $((OPTIND - 1))
run $TP $MODEL)") == Words{"run", "2", "7b"});
}

TEST_CASE("a function shifts its parameters, and the script's are as before")
{
    CHECK(words("go() {\n  A=$1\n  shift\n  run $A $# $1 \"$@\"\n}\ngo a b c") ==
          Words{"run", "a", "2", "b", "b", "c"});
    CHECK(words("go() {\n  shift 2\n  run ${1:-none} $#\n}\ngo a b c") == Words{"run", "c", "1"});
    CHECK(words("shift\nrun ${1:-8}") == Words{"run", "8"});
}

TEST_CASE("defaults stand in for variables that nothing sets")
{
    CHECK(words("run ${TP:-4} ${PP-2} ${TP:-${PP:-8}}") == Words{"run", "4", "2", "8"});
    CHECK(words("run ${TP:-4}", {{"TP", "2"}}) == Words{"run", "2"});
    CHECK(words("run ${1:-8} \"$@\"") == Words{"run", "8"});
}

TEST_CASE("what is not known stays visible")
{
    CHECK(words("run $TP ${PP} $(hostname) $((TP * 2))") ==
          Words{"run", "${TP}", "${PP}", "$(hostname)", "$((TP * 2))"});
}

TEST_CASE("arithmetic follows the usual precedence")
{
    // 2 + 3 * 4 - 10 / 3 = 2 + 12 - 3 = 11
    CHECK(words("A=3\nrun $((2 + A * 4 - 10 / $A)) $(((2+${A})*4)) $((2**5)) $((-A % 2))") ==
          Words{"run", "11", "20", "32", "-1"});
    CHECK(words("run $((1/0)) $((9223372036854775807+1))") ==
          Words{"run", "$((1/0))", "$((9223372036854775807+1))"});
}

TEST_CASE("conditions that the text decides choose their branch")
{
    CHECK(words("if [ -z \"$TP\" ]; then TP=2; fi\nrun $TP") == Words{"run", "2"});
    CHECK(words("M=7B\nif [[ $M == 13B && 1 -lt 2 ]]; then L=40; elif [ \"$M\" = 7B ]\nthen L=32\n"
                "else L=80; fi\nrun $L") == Words{"run", "32"});
    CHECK(words("N=2\n[ $N -gt 1 ] && A=many || A=one\nrun $A") == Words{"run", "many"});
}

TEST_CASE("conditions that depend on the machine are left out and told")
{
    const ShellScript read =
        script("if [ -f config ]; then\n  export A=1\nelse\n  export A=2\nfi\nrun");
    CHECK(read.exported.empty());
    REQUIRE(read.skipped.size() == 1);
    CHECK(read.skipped.front() ==
          "lines 1 to 5: an if whose condition is not known here was left out: -f config");
}

TEST_CASE(
    "loops over known words run, others, functions nobody calls and input for programs do not")
{
    const ShellScript read =
        script("for i in 1 2; do\n  X=$i\n  A+=(--x $i)\ndone\nwhile read l; do\n  W=1\ndone\n"
               "f() {\n  Y=1\n}\npython - <<EOF\nZ=1\nEOF\nrun");
    CHECK(read.variables.at("X").values.front().text == "2");
    CHECK(read.variables.at("A").values.size() == 4);
    CHECK(!read.variables.contains("W"));
    CHECK(!read.variables.contains("Y"));
    CHECK(!read.variables.contains("Z"));
    CHECK(read.skipped.size() == 3);
}

TEST_CASE("a file that a script writes holds what its variables say, unless its mark is quoted")
{
    const ShellScript read = script("S=2\ncat <<EOT > $D/z.json\n{\"stage\": $S}\nEOT\n"
                                    "tee t.json <<'EOT'\n$S\nEOT\nrun");
    CHECK(read.files.at("${D}/z.json") == "{\"stage\": 2}\n");
    CHECK(read.files.at("t.json") == "$S\n");
    CHECK(read.skipped.empty());
    CHECK(read.commands.back().words.front().text == "run");
}

TEST_CASE("a script that is given to a shell or to Slurm runs, one that is only written does not")
{
    const std::string inner = "#SBATCH --nodes=4\nrun --n $SLURM_NNODES --x $X\n";
    const Words ran{"run", "--n", "4", "--x", "1"};
    CHECK(words("X=1\nsbatch <<EOF\n#SBATCH --nodes=4\nrun --n \\$SLURM_NNODES --x $X\nEOF\n") ==
          ran);
    CHECK(words("X=1\ncat > j.sh <<'EOF'\n" + inner + "EOF\nsbatch j.sh\n") == ran);
    CHECK(script("cat > j.sh <<'EOF'\n" + inner + "EOF\n").commands.empty());
}

TEST_CASE("quotes hold a default value together and are none of it")
{
    CHECK(words("N=${N:-\"8\"}\nA=${B:-'x'}\nrun $N $A ${C:-\"\"} \"${D:-\"a b\"}\"") ==
          Words{"run", "8", "x", "a b"});
    CHECK(words("run --n $((8 * $COUNT)) --x 1") ==
          Words{"run", "--n", "$((8 * ${COUNT}))", "--x", "1"});
}

TEST_CASE("a script that would give up for want of a variable is read on, one that ends is not")
{
    CHECK(words("if [[ -z $W ]]; then\n  exit 1\nfi\nrun x") == Words{"run", "x"});
    const ShellScript ended = script("if [ -z $W ]; then\n  exit 0\nfi\nrun x");
    CHECK(ended.commands.empty());
}

TEST_CASE("variables that a branch left out may set otherwise are told")
{
    const ShellScript read = script("TP=2\nA=x\nif grep -q fast config; then\n  TP=1\n  PP=4\n"
                                    "  A=\"$A y\"\nfi\nrun $TP");
    REQUIRE(read.doubtful.size() == 1);
    CHECK(read.doubtful.front() == "lines 3 to 7: what was left out may set TP");
    CHECK(script("TP=2\nif [ $TP -gt 4 ]; then\n  TP=1\nfi\nrun").doubtful.empty());
}

TEST_CASE("a function runs with its own parameters, which are the caller's again behind it")
{
    CHECK(words("f() { g=\"$1-$#\"; h=$2; }\nf a b\nrun $g $h") == Words{"run", "a-2", "b"});
    CHECK(words("f() { run \"$@\" end; }\nf --x 'a b'") == Words{"run", "--x", "a b", "end"});
    // A function that calls itself ends.
    CHECK(words("f() { f; }\nf\nrun x") == Words{"run", "x"});
}

TEST_CASE("a list that is made of itself keeps what it was")
{
    CHECK(words("A=(--x 1)\nA=( \"${A[@]}\" --y 2 )\nrun ${A[@]}") ==
          Words{"run", "--x", "1", "--y", "2"});
}

TEST_CASE("words that are read from a text are put into their variables")
{
    CHECK(words("C=1,2,4,8\nIFS=',' read -r EP TP REST <<< \"$C\"\nrun $EP $TP $REST") ==
          Words{"run", "1", "2", "4,8"});
}

TEST_CASE("a default that a script gives its variable stays")
{
    CHECK(words(": \"${TP:=4}\"\nPP=2\n: ${PP:=8}\nrun $TP $PP") == Words{"run", "4", "2"});
}

TEST_CASE("a file that a script reads as part of itself sets variables, or is named")
{
    const ShellFiles files = [](const std::string& path) {
        return path == "env.sh" ? std::optional<std::string>("TP=4\n") : std::nullopt;
    };
    const Checked<ShellScript> read =
        read_shell(traced("source env.sh\n. other.sh\nrun $TP"), "run.sh", {}, files);
    REQUIRE(read);
    CHECK(read->commands.back().words.back().text == "4");
    REQUIRE(read->skipped.size() == 1);
    CHECK(read->skipped.front() == "line 2: other.sh was not read, which may set variables");
}

TEST_CASE("loops in loops beyond all reason are refused")
{
    std::string text;
    for (int i = 0; i < 12; ++i)
        text += "for i" + std::to_string(i) + " in 1 2 3 4 5 6 7 8 9; do ";
    text += "X=1; ";
    for (int i = 0; i < 12; ++i)
        text += "done; ";
    CHECK(!read_shell(traced(text), "run.sh", {}));
}

TEST_CASE("every word knows the line it was written in, through variables too")
{
    const ShellScript read = script("ARGS=\"\n  --tp 2\n  --pp 4\n\"\n\nrun $ARGS");
    REQUIRE(read.commands.size() == 1);
    const auto& all = read.commands.front().words;
    REQUIRE(all.size() == 5);
    CHECK(all[1].line() == 2);
    CHECK(all[3].line() == 3);
    CHECK(all[0].line() == 6);
}

TEST_CASE("variables that double without end are refused")
{
    std::string text = "A=xxxxxxxx\n";
    for (int i = 0; i < 60; ++i)
        text += "A=\"$A$A\"\n";
    CHECK(!read_shell(traced(text + "run $A"), "run.sh", {}));
}

TEST_CASE("scripts nested without end are read at once, and what lies too deep stays as it is")
{
    const auto repeated = [](std::string_view text, int times) {
        std::string out;
        for (int i = 0; i < times; ++i)
            out += text;
        return out;
    };
    // Depth would be the stack's, or each level would read the rest once more.
    for (const std::string& text :
         {"a=" + repeated("(a=", 20'000), "run " + repeated("$((", 20'000),
          "run " + repeated("$((", 20'000) + "1" + repeated("))", 20'000),
          "run " + repeated("${a:-", 20'000), "run " + repeated("\"$(", 20'000),
          repeated("if ", 100'000), repeated("{ ", 100'000), repeated("{\n", 100'000)})
        CHECK(read_shell(traced(text), "run.sh", {}));
    CHECK(words("run $(( 1 + $((2)) ))") == Words{"run", "3"});
    // It is said where.
    for (const char* open : {"$(", "${a:-", "$(("})
        CHECK(read_shell(traced("a=1\nrun " + repeated(open, 20'000)), "run.sh", {})->too_deep ==
              2);
    CHECK(read_shell(traced("run ${a:-${b:-$((1 + (2 * (3))))}}"), "run.sh", {})->too_deep == 0);
    // What is open inside what does not run does not run either.
    CHECK(script("if false; then\n{\nif true; then\nX=1\nfi\n}\nfi\n").variables.empty());
}

TEST_CASE("a launch is found behind its launchers, with sizes and environment")
{
    const ShellScript read = script("#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\n"
                                    "export NCCL_ALGO=Ring\n"
                                    "srun --label torchrun --nproc_per_node=8 \\\n"
                                    "  --nnodes $SLURM_NNODES pretrain_gpt.py --num-layers 32\n");
    const std::optional<Launch> launch = find_launch(read);
    REQUIRE(launch);
    CHECK(launch->launcher == "srun torchrun");
    CHECK(launch->nodes == LaunchSize{4, 2});
    CHECK(launch->gpus_per_node == LaunchSize{8, 5});
    CHECK(launch->program == "pretrain_gpt.py");
    CHECK(launch->arguments.size() == 2);
    CHECK(launch->environment.contains("NCCL_ALGO"));
}

TEST_CASE("modules and quoted commands are launches too")
{
    const auto program = [](std::string_view text) {
        const std::optional<Launch> launch = find_launch(script(text));
        return launch ? launch->launcher + "|" + launch->program : std::string();
    };
    CHECK(program("python -m torch.distributed.run --nnodes 2 -m torchtitan.train --a 1") ==
          "torchrun|torchtitan.train");
    CHECK(program("srun bash -c \"torchrun --nnodes 2 train.py --a 1\"") == "torchrun|train.py");
    CHECK(program("NCCL_DEBUG=INFO deepspeed --num_gpus 8 train.py") == "deepspeed|train.py");
    CHECK(program("echo nothing to see").empty());
}
