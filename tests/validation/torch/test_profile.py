"""What a profile is made of, and what is said where PyTorch is missing. Needs no PyTorch.

    test_profile.py TRAINYARD TRAINYARD_MEASURE
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "loop")]

import networks  # noqa: E402
import torch_profile  # noqa: E402

TRAINYARD, MEASURE = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
RATE, BANDWIDTH = 40e9, 10e9  # of made kernels: FLOP/s, B/s
GROUP = {"name": "one node, 2 ranks", "members": [0, 1]}


def point(work, seconds):
    return {"point": {"point": {"group": GROUP, "work": work}, "batches [s/op]": [seconds] * 5}}


def samples():
    """Of a host that multiplies a thousand times slower than PyTorch does."""
    rank = {"host": "made", "facts": {"name": "gloo", "version": "0.5.0", "device": "Made",
                                      "memory": "16 GiB"}}
    lines = [{"format": "trainyard.samples/1",
              "run": {"backend": "gloo", "started": "2026-01-01T00:00:00Z",
                      "ranks": [{"place": {"rank": number, "ranks": 2, "local_rank": number,
                                           "local_ranks": 2}} | rank for number in range(2)]}}]
    for mebi in (1, 4, 16, 64):
        work = {"collective": {"collective": "all_reduce", "size": f"{mebi} MiB"}}
        lines.append(point(work, 1e-4 + mebi * 1e-3))
    lines.append(point({"local": {"m": 64, "n": 64, "k": 64}}, 1.0))
    lines.append(point({"local": {"kind": "memory_add", "size": "16 MiB"}}, 1.0))
    return "".join(json.dumps(line) + "\n" for line in lines)


def kernels():
    elements = 1 << 20
    times = [4 * elements / BANDWIDTH] * 5  # of one pass over so many elements
    sides = (16, 256, 4096)
    return {"torch": "made", "host": "made", "started": "2026-01-01T00:00:00Z",
            "products": [{"m": m, "n": n, "k": k, "seconds": [2 * m * n * k / RATE] * 5}
                         for m in sides for n in sides for k in sides],
            "memory": {"bytes": 12 * elements, "seconds": [3 * time for time in times]},
            "perceptron_layer": {"elements": elements, "seconds": [16 * time for time in times]},
            "decoder_layer": {"elements": elements, "seconds": [58 * time for time in times]},
            "attention": {"elements": elements, "forward": [5 * time for time in times],
                          "backward": [7 * time for time in times], "products": [0.002] * 5,
                          "products_as_one": [0.001] * 5},
            "loss": {"elements": elements, "forward": times, "backward": times},
            "update": {"parameters": elements, "seconds": [5 * time for time in times]},
            "beside": {"lost": [0.5] * 5, "longer": [2.0] * 5},
            "calls": {"2": {"forward": [1e-6] * 5, "backward": [1e-6] * 5, "step": [1e-5] * 5},
                      "42": {"forward": [8.1e-5] * 5, "backward": [1.61e-4] * 5,
                             "step": [1e-3] * 5}}}


def made_profile(folder):
    exchanged = folder / "exchanged.jsonl"
    exchanged.write_text(torch_profile.with_kernels(samples(), kernels()))
    profile = folder / "profile.json"
    subprocess.run([MEASURE, "--from", exchanged, "-o", profile], check=True, cwd=folder,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    complete = torch_profile.complete(json.loads(profile.read_text()), kernels())
    profile.write_text(json.dumps(complete))
    return complete


class Profile(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.profile = made_profile(self.folder)

    def predict(self, configuration):
        scenario = self.folder / "scenario.json"
        scenario.write_text(json.dumps(networks.scenario(configuration, 2, "profile.json")))
        done = subprocess.run([TRAINYARD, "simulate", scenario, "--json"], check=True,
                              stdout=subprocess.PIPE)
        return json.loads(done.stdout)["breakdown_s"]["critical"]

    def test_constants_are_ratios_of_times(self):
        software = self.profile["software"]
        # 16 passes took place where 8 are listed; 58 where 58 are; of SGD's 20 bytes, Adam's 28.
        self.assertAlmostEqual(software["normalisation_factor"]["value"], 2)
        self.assertAlmostEqual(software["elementwise_factor"]["value"], 1)
        self.assertAlmostEqual(software["optimizer_bytes_per_parameter"]["value"], 28)
        self.assertAlmostEqual(software["kernels"]["square_passes_backward"]["value"], 7)
        self.assertAlmostEqual(software["kernels"]["loss_bytes_per_logit_forward"]["value"], 4)
        # 40 layers of 2 kernels forward took 80 us more, of 4 backward 160 us.
        self.assertEqual(software["host_per_kernel_forward"]["value"], "1 us")
        self.assertEqual(software["host_per_kernel_backward"]["value"], "1 us")
        self.assertEqual(self.profile["hardware"]["device"]["square_gemm"]["value"], 0.5)

    def test_steps_take_what_pytorch_was_measured_to_take(self):
        width, batch = 1024, 256
        parts = self.predict({"name": "made", "network": networks.perceptron([width] * 3),
                              "batch": batch, "bucket": 0, "accumulate": 1})
        product = 2 * batch * width * width / RATE
        a_pass = 4 * batch * width / BANDWIDTH
        # Two layers of 4 passes, and a loss of 4; twice as slow as listed.
        forward = 2 * product + 2 * (2 * 4 + 4) * a_pass
        self.assertAlmostEqual(parts["forward"] / forward, 1, delta=0.01)
        backward = 4 * product + 2 * (2 * 4 + 3) * a_pass
        self.assertAlmostEqual(parts["backward"] / backward, 1, delta=0.01)
        update = 2 * (width * width + width) * 20 / BANDWIDTH
        self.assertAlmostEqual(parts["optimizer"] / update, 1, delta=0.01)

    def test_every_configuration_is_a_scenario(self):
        for configuration in networks.CONFIGURATIONS:
            with self.subTest(configuration["name"]):
                self.assertGreater(self.predict(configuration)["forward"], 0)


class WithoutPyTorch(unittest.TestCase):
    def say(self, preparation):
        command = (f"import sys; sys.path.insert(0, {str(FOLDER)!r}); {preparation}; "
                   "import rank_setup")
        done = subprocess.run([sys.executable, "-c", command], stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_it_says_what_to_install(self):
        self.assertIn("pip install torch", self.say("sys.modules['torch'] = None"))

    def test_it_says_that_gloo_is_missing(self):
        said = self.say("import types; torch = types.ModuleType('torch'); torch.__version__ = '9'; "
                        "dist = torch.distributed = types.ModuleType('torch.distributed'); "
                        "sys.modules |= {'torch': torch, 'torch.distributed': dist}; "
                        "dist.is_available = lambda: True; "
                        "dist.is_gloo_available = lambda: False")
        self.assertIn("without Gloo", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
