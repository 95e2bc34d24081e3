#include "sim/study/jobs/shell/launch.h"
#include "sim/study/jobs/shell/shell_pattern.h"
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
    CHECK_FALSE(regular_match("(a{200}){200}", "a"));
    CHECK_FALSE(regular_match("(", "a"));
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
          Words{"run", "${TP}", "${PP}", "$(hostname)", "$((${TP} * 2))"});
}

TEST_CASE("arithmetic follows the usual precedence")
{
    // 2 + 3 * 4 - 10 / 3 = 2 + 12 - 3 = 11
    CHECK(words("A=3\nrun $((2 + A * 4 - 10 / $A)) $(((2+${A})*4)) $((2**5)) $((-A % 2))") ==
          Words{"run", "11", "20", "32", "-1"});
    CHECK(words("run $((1/0)) $((9223372036854775807+1))") ==
          Words{"run", "$((1/0))", "$((9223372036854775807+1))"});
}

TEST_CASE("lists are counted, taken by number or by key, and cut")
{
    CHECK(words("A=(x y z)\ni=1\nrun ${#A[@]} ${A[1]} ${A[$i]} ${A[i+1]} ${A[-1]} ${#i} ${A[@]:1} "
                "${A[@]:0:1}") == Words{"run", "3", "y", "y", "z", "z", "1", "y", "z", "x"});
    CHECK(words("declare -A L=([7b]=32 [\"13b\"]=40)\nL[70b]=80\nS=7b\n"
                "run ${L[$S]} ${L[13b]} ${L[\"70b\"]} ${L[1b]:-2} ${#L[@]}") ==
          Words{"run", "32", "40", "80", "2", "3"});
    CHECK(words("f() {\n run ${@:2} $#\n}\nf a b c") == Words{"run", "b", "c", "3"});
    CHECK(words("E=()\nX=(--a)\nrun ${E[@]+\"${E[@]}\"} ${X[@]+\"${X[@]}\"} ${#Y[@]} ${Y[0]}") ==
          Words{"run", "--a", "${#Y[@]}", "${Y[0]}"});
    CHECK(words("IFS=',' read -ra G <<< \"0,1,2\"\nrun ${#G[@]} ${G[2]}") ==
          Words{"run", "3", "2"});
}

TEST_CASE("operators cut, replace and change the case of a text")
{
    CHECK(
        words(
            "A=gpt-L24-T2.json\nB=${A#*-L}\n"
            "run ${B%%-*} ${A##*T} ${A%.json} ${A%.*} ${A/-/_} ${A//-/_} ${A/%json/x} ${A/#gpt/b} "
            "${A/[0-9]*/}") == Words{"run", "24", "2.json", "gpt-L24-T2", "gpt-L24-T2",
                                     "gpt_L24-T2.json", "gpt_L24_T2.json", "gpt-L24-T2.x",
                                     "b-L24-T2.json", "gpt-L"});
    CHECK(words("A=7Bx\nrun ${A,,} ${A^^} ${A,} ${A:0:1} ${A:1} ${A: -1}") ==
          Words{"run", "7bx", "7BX", "7Bx", "7", "Bx", "x"});
    // What is not known stays: of the variable itself, or the whole.
    CHECK(words("A=${B}/x\nrun ${A%/x} ${C%x} ${!D}") == Words{"run", "${B}/x", "${C%x}", "${!D}"});
    CHECK(words("A=5\nD=A\nrun ${!D}") == Words{"run", "5"});
}

TEST_CASE("double brackets compare with patterns and regular expressions, single ones with texts")
{
    const std::string branches = "; then L=1; else L=0; fi\nrun $L";
    const auto taken = [&](const std::string& condition) {
        return words("M=llama-7b\nS='*'\nif " + condition + branches) == Words{"run", "1"};
    };
    CHECK(taken("[[ $M == *\"7b\" ]]"));
    CHECK(!taken("[[ $M == \"*7b\" ]]")); // quoted: itself
    CHECK(!taken("[ $M = \"$S\" ]"));
    CHECK(taken("[[ $M == $S ]]"));
    CHECK(taken("[[ $M != *13b* && $M =~ ^llama-[0-9]+b$ ]]"));
    CHECK(!taken("[[ $M =~ 13b|70b ]]"));
    CHECK(!taken("[[ $M =~ 7\\. ]]"));
    CHECK(taken("[ $M = x -o 1 -lt 2 ]"));
    CHECK(words("M=gpt_L24_T2\nif [[ $M =~ L([0-9]+)_T([0-9]+) ]]; then\n"
                "  run ${BASH_REMATCH[1]} ${BASH_REMATCH[2]}\nfi") == Words{"run", "24", "2"});
}

TEST_CASE("a text that no line sets is empty where it is compared, arguments and ranks are not")
{
    const std::string branches = " ]; then L=12; else L=32; fi\nrun $L";
    CHECK(words("if [ \"$M\" = small" + branches) == Words{"run", "32"});
    CHECK(words("if [ $M != small" + branches) == Words{"run", "12"});
    CHECK(script("if [ $M = small" + branches).assumed ==
          Words{"line 1: M is empty: no line sets it"});
    for (const std::string name : {"1", "RANK", "SLURM_JOB_PARTITION"})
        CHECK(words("if [ $" + name + " = small" + branches) == Words{"run", "${L}"});
    CHECK(words("M=${N}-x\nif [ $M = small" + branches) == Words{"run", "${L}"});
}

TEST_CASE("an expression that is none or would grow without end decides nothing")
{
    for (const std::string expression : {"[a", "(a{9}){9}"})
        CHECK(script("if [[ aaa =~ " + expression + " ]]; then\n A=1\nfi\nrun").skipped.size() ==
              1);
}

TEST_CASE("arithmetic compares, chooses and sets variables")
{
    CHECK(words("N=8\n((M=N*2))\nlet K=N/4\n((K++))\n((M+=1))\n"
                "run $M $K $((N > 4 ? 4 : 2)) $((N == 8 && !0)) $((1 << 3 | 1))") ==
          Words{"run", "17", "3", "4", "1", "9"});
    CHECK(words("N=8\nif ((N >= 8)); then A=1; fi\n(( N < 8 )) && A=2\nrun $A") ==
          Words{"run", "1"});
    CHECK(words("((M=N*2))\nrun $M") == Words{"run", "$((N*2))"});
}

TEST_CASE("counted loops run as long as their condition holds")
{
    const ShellScript read = script("for ((t=1; t<=4; t*=2)); do\n  A+=($t)\ndone\n"
                                    "for i in $(seq 2 2 6) {1..2}; do\n  B+=($i)\ndone\n"
                                    "for ((i=0; i<$N; i++)); do\n  C=1\ndone\nrun");
    CHECK(read.variables.at("A").values.size() == 3);
    CHECK(read.variables.at("B").values.size() == 5);
    CHECK(!read.variables.contains("C"));
    CHECK(read.skipped.size() == 1);
}

TEST_CASE("a loop ends where it is left, and a round where the next one is wanted")
{
    CHECK(words("for i in 1 2 3 4; do\n  if [ $i = 2 ]; then continue; fi\n"
                "  if [ $i = 4 ]; then\n    break\n  fi\n  A+=($i)\ndone\nrun ${A[@]} $i") ==
          Words{"run", "1", "3", "4"});
}

TEST_CASE("variables are forgotten and parameters move on")
{
    CHECK(words("A=1\nunset A\nrun ${A:-2}") == Words{"run", "2"});
    CHECK(words("f() {\n  shift 2\n  run $1 $# \"$@\"\n}\nf a b c d") ==
          Words{"run", "c", "2", "c", "d"});
}

TEST_CASE("a call that a comment shows gives a script its arguments, places for them do not")
{
    const std::string use = "\nL=$1\nrun $L ${2:-1} $#\n";
    CHECK(words("#!/bin/bash\n# bash jobs/run.sh 7B 2" + use) == Words{"run", "7B", "2", "2"});
    CHECK(script("# sh run.sh 7B\n" + use).shown_call.line() == 1);
    for (const std::string comment : {"# bash run.sh <size> 2", "# bash run.sh $SIZE 2",
                                      "# run.sh [size]", "# bash other.sh 7B 2", "# run.sh -h"})
        CHECK(words(comment + use) == Words{"run", "${1}", "1", "${#}"});
    CHECK(words("# bash run.sh 7B 2" + use, {{"1", "13B"}}) == Words{"run", "13B", "1", "${#}"});
}

TEST_CASE("commands that only compute with their words are computed, others stay")
{
    CHECK(words("N=2\nD=0,1,2,3\nP=a/b-7b/run.sh\n"
                "run $(expr $N \\* 4) `expr $N + 1` $(echo $D | tr ',' '\\n' | wc -l) "
                "$(basename $P .sh) $(echo \"$N*3\" | bc) $(echo $D | cut -d ',' -f 2) $(ls | wc "
                "-l)") == Words{"run", "8", "3", "4", "run", "6", "1", "$(ls | wc -l)"});
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
    CHECK(words("export X=1\ncat > j.sh <<'EOF'\n" + inner + "EOF\nsbatch j.sh\n") == ran);
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
    for (const std::string folder :
         {"$(dirname $0)", "${HERE}", "$(cd \"$(dirname \"$0\")\" && pwd)"})
        CHECK(read_shell(traced("source \"" + folder + "/env.sh\"\nrun $TP"), "run.sh", {}, files)
                  ->commands.back()
                  .words.back()
                  .text == "4");
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
