"""Which constants fit_constants.py fits, what was believed of them before, and which records can feel them."""

FAMILY = {
    "V100": ["v100"], "A100": ["a100", "a800"], "H100": ["h100", "h200", "h800", "h20-", "gh200"],
    "Blackwell": ["b200", "gb200", "gb300", "b300"],
}
MEASURED = ("A100", "H100", "Blackwell")  # of which kernels were timed one by one
SOFTWARE = ["megatron-2021", "mcore-2024", "mcore-2025", "jax-xla", "torch-compile-fsdp", "fsdp-eager", "ddp-eager"]


def devices(family):
    return [f"devices/{prefix}*.json" for prefix in FAMILY[family]]


def every_device(path):
    return [("devices/*.json", path)]


def software(path, names=SOFTWARE):
    return [(f"software/{name}.json", path) for name in names]


def is_class(*names):
    return lambda r: r["class"] in names


def in_use(dimension):
    return lambda r: dimension in r["strategy"].split("+")


def is_parallel(r):
    return r["strategy"] != "single"


def anything(_):
    return True


def table():
    """(name, places, prior of the value at the first place, sigma of its logarithm, records that can feel it).

    Only what these records narrow: they leave host times of late frameworks, SM shares and the like at their priors,
    and cannot tell the slowdown of overlapped compute (0.3 to 0.9 predict left-out dense runs alike) from GEMM rates.
    The three Blackwell parts share their factors.
    """
    out = []

    def add(name, places, prior, sigma, felt_by=anything):
        out.append((name, places, prior, sigma, felt_by))

    # What a step reaches of the rates that single kernels were measured at.
    # On GB200 a second set of tables, slow and bimodal, reaches about 0.6 of the first's bf16 rates from 8,192 rows on; on other
    # Blackwell parts both sets agree.
    for family, prior, sigma in (("A100", .90, .10), ("H100", .90, .10), ("Blackwell", .80, .20)):
        add(f"GEMM 16 bit, {family}",
            [(f, f"under_load.gemm.{p}") for f in devices(family) for p in ("bf16", "fp16")], prior, sigma)
    for family in ("H100", "Blackwell"):
        add(f"GEMM fp8, {family}", [(f, f"under_load.gemm.{p}") for f in devices(family) for p in ("fp8", "mxfp8")],
            .90, .10)
    # Not the kernels that a training framework calls.
    add("GEMM nvfp4", [(f, "under_load.gemm.nvfp4") for f in devices("Blackwell")], .90, .25)
    add("attention", [(f, "under_load.attention") for family in MEASURED for f in devices(family)], .90, .10)
    for family in FAMILY:
        add(f"HBM, {family}", [(f, "hbm_efficiency") for f in devices(family)], .80, .20)
    hopper = devices("H100")
    add("SDPA on Hopper", [(f, f"attention.{k}") for k in ("sdpa", "flash2") for f in hopper], .39 * .75, .20)
    add("Triton attention", [(f, "attention.triton") for f in hopper], .39 * .55, .20)
    add("GEMM tf32", every_device("gemm_efficiency.tf32"), .80, .15, is_class("encoder", "cnn"))
    add("launch gap, A100", [(f, "launch_gap") for f in devices("A100")], 4, .40)
    add("convolution", every_device("convolution"), .85, .15, is_class("cnn"))
    add("NVLink in situ, A100", [("fabrics/nvlink3.json", "in_situ"), ("fabrics/nvlink2.json", "in_situ")], 1.34, .15,
        is_parallel)
    add("NVLink in situ, H100", [("fabrics/nvlink4.json", "in_situ")], 1.1, .12, is_parallel)
    add("NVLink in situ, Blackwell", [("fabrics/nvlink5.json", "in_situ")], 1.2, .15, is_parallel)
    add("network in situ", [("networks/*.json", "in_situ")], 1.1, .12, is_parallel)
    add("all-to-all in situ", [(f"{kind}/*.json", "in_situ_all_to_all") for kind in ("fabrics", "networks")], 1.3, .25,
        in_use("ep"))

    add("host, megatron-2021", software("host_per_kernel_forward", ["megatron-2021"]) +
        software("host_per_kernel_backward", ["megatron-2021"]), 46, .30)
    for name, prior in {"megatron-2021": 1, "mcore-2024": 1, "mcore-2025": 1, "fsdp-eager": 1.4, "ddp-eager": 1.2}.items():
        add(f"elementwise, {name}", software("elementwise_factor", [name]), prior, .20)
    core = ["mcore-2024", "mcore-2025"]
    add("TP exposed, Megatron-Core", software("tp_exposed_share", core), .47, .25, in_use("tp"))
    add("TP exposed, compiled FSDP", software("tp_exposed_share", ["torch-compile-fsdp"]), .6, .25, in_use("tp"))
    add("EP exposed", software("ep_exposed_share", core), .9, .20, in_use("ep"))
    add("attention across CP", software("attention_across_cp"), .9, .10, in_use("cp"))
    unfused = ["megatron-2021", "ddp-eager", "jax-xla"]
    add("square passes", software("kernels.square_passes_forward", unfused) +
        software("kernels.square_passes_backward", unfused), 9, .20)
    add("expert GEMM", software("expert_gemm_16") + software("expert_gemm_8"), .80, .15, is_class("moe-decoder"))
    add("MoE elementwise", software("moe_elementwise_factor"), 1.3, .30, is_class("moe-decoder"))
    add("normalisation", software("normalisation_factor"), 1.1, .15, is_class("cnn"))
    return out
