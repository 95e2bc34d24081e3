"""Scenarios: read, changed, compared, written."""

from __future__ import annotations

import copy
import json
import os
import pickle
import tempfile
import unittest

import trainyard
from paths import main, scenarios, small


class ReadsFields(unittest.TestCase):
    def setUp(self) -> None:
        self.s = trainyard.Scenario.load(main)

    def test_a_field_is_what_the_file_says_else_its_default(self) -> None:
        self.assertEqual(self.s.strategy.zero, 3)
        self.assertEqual(self.s.strategy.tp, 1)
        self.assertEqual(self.s["training.micro_batch"], 1)
        self.assertEqual(self.s.software.framework, "torch-fsdp")
        self.assertIsNone(self.s.training.lora)
        self.assertIsNone(self.s.run.fidelity)

    def test_quantities_are_text_with_a_unit(self) -> None:
        self.s.set("strategy.sharding.reduce_bucket", 1000)
        self.assertEqual(self.s.strategy.sharding.reduce_bucket, 1000)
        self.s.software.timeout = "10 min"
        self.assertEqual(self.s.software.timeout, "600 s")
        with self.assertRaises(trainyard.InputError) as caught:
            self.s.software.timeout = 600
        self.assertIn("unit", str(caught.exception))

    def test_an_unknown_field_is_named_with_what_was_meant(self) -> None:
        with self.assertRaisesRegex(AttributeError, 'did you mean "micro_batch"'):
            self.s.training.micro_bach
        with self.assertRaises(AttributeError):
            self.s.training.micro_bach = 2
        with self.assertRaises(AttributeError):
            self.s.stategy
        for field in ("strategy.tpp", "strategy.tp.x", "x", "", "strategy."):
            with self.assertRaises(KeyError, msg=field):
                self.s[field]
            with self.assertRaises(trainyard.InputError, msg=field):
                self.s.set(field, 1)

    def test_what_is_read_cannot_be_changed_in_place(self) -> None:
        self.s.set("perturbations", [{"device": 1, "slowdown": 1.1}])
        with self.assertRaises(AttributeError):
            self.s.perturbations.append({})
        with self.assertRaises(TypeError):
            self.s.perturbations[0]["slowdown"] = 2

    def test_fields_list_and_describe_themselves(self) -> None:
        self.assertIn("tp", dir(self.s.strategy))
        self.assertIn("strategy", dir(self.s))
        self.assertIn("default 1", self.s.strategy.describe("tp"))


class ChangesFields(unittest.TestCase):
    def setUp(self) -> None:
        self.s = trainyard.Scenario.load(main)

    def test_a_change_is_that_of_the_command_line(self) -> None:
        self.s.strategy.tp = 2
        self.s["training.global_batch"] = 16
        self.s.strategy.overlap.dp = False
        self.s.environment["NCCL_ALGO"] = "Ring"
        data = self.s.to_dict()
        self.assertEqual(data["strategy"]["tp"], 2)
        self.assertEqual(data["strategy"]["overlap"], {"dp": False})
        self.assertEqual(data["environment"], {"NCCL_ALGO": "Ring"})

    def test_none_takes_a_field_out(self) -> None:
        self.s.strategy.zero = None
        self.assertEqual(self.s.strategy.zero, 0)
        self.assertNotIn("zero", self.s.to_dict()["strategy"])
        del self.s["software"]
        self.assertEqual(self.s.software.framework, "megatron-core")

    def test_a_bad_value_changes_nothing_and_names_the_place(self) -> None:
        before = self.s.to_dict()
        with self.assertRaises(trainyard.InputError) as caught:
            self.s.update({"strategy.tp": 2, "training.precision": "bf17"})
        problem = caught.exception.problems[0]
        self.assertEqual(problem.pointer, "/training/precision")
        self.assertEqual(problem.file, 'training.precision = "bf17"')
        self.assertIn("bf16", problem.fix)
        self.assertEqual(self.s.to_dict(), before)

    def test_a_field_of_a_model_in_a_file_changes_a_copy_of_it(self) -> None:
        self.s.set("model.num_hidden_layers", 4)
        self.assertEqual(self.s["model.num_hidden_layers"], 4)
        self.assertEqual(trainyard.Scenario.load(main).model, "models/llama-3.1-8b/config.json")

    def test_copies_are_apart(self) -> None:
        for made in (self.s.copy(), copy.copy(self.s), copy.deepcopy(self.s), self.s.replace()):
            self.assertEqual(made, self.s)
            made.strategy.tp = 2
            self.assertNotEqual(made, self.s)
        self.assertEqual(self.s.replace({"strategy.tp": 4}).strategy.tp, 4)
        with self.assertRaises(TypeError):
            hash(self.s)


class GoesThroughForms(unittest.TestCase):
    def test_dict_text_and_pickle_give_it_back(self) -> None:
        for path in sorted(scenarios.glob("*.json")):
            s = trainyard.Scenario.load(path)
            folder = path.parent
            self.assertEqual(trainyard.Scenario.from_dict(s.to_dict(), folder=folder), s, path)
            self.assertEqual(trainyard.Scenario.from_json(s.to_json(), folder=folder), s, path)
            self.assertEqual(pickle.loads(pickle.dumps(s)), s, path)

    def test_saved_elsewhere_it_leads_to_the_same_files(self) -> None:
        s = trainyard.Scenario.load(main)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "there.json")
            s.save(path)
            saved = trainyard.Scenario.load(path)
            self.assertNotEqual(saved.model, s.model)
            here = trainyard.simulate(s, advice=0, scaling=False)
            there = trainyard.simulate(saved, advice=0, scaling=False)
            self.assertEqual(here.step_time, there.step_time)
            with self.assertRaises(trainyard.WorldError):
                s.save(os.path.join(folder, "none", "there.json"))

    def test_problems_of_a_file_have_lines(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bad.json")
            with open(path, "w") as out:
                out.write('{"model": "llama-3.1-8b",\n "training": {"global_batch": 8},\n')
                out.write(' "topology": "h100-1x8",\n "strategy": {"tpp": 8}}\n')
            with self.assertRaises(trainyard.InputError) as caught:
                trainyard.Scenario.load(path)
            problem = caught.exception.problems[0]
            self.assertEqual((problem.file, problem.line), (path, 4))
            self.assertEqual(problem.pointer, "/strategy/tpp")
            self.assertTrue(trainyard.check(path))
        self.assertEqual(trainyard.check(main), [])

    def test_a_pickled_scenario_finds_its_files_from_anywhere(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            s = trainyard.Scenario.load(main)
            inside = trainyard.Scenario.from_json(s.to_json(), folder=folder, name="sub/one.json")
            again = pickle.loads(pickle.dumps(inside))
            self.assertEqual(again, inside)
            here = os.getcwd()
            os.chdir("/")
            try:
                moved = pickle.loads(pickle.dumps(again))
            finally:
                os.chdir(here)
            self.assertEqual(moved, inside)

    def test_a_copy_of_a_section_is_a_dict(self) -> None:
        s = trainyard.Scenario.load(main)
        for made in (copy.copy(s.strategy), copy.deepcopy(s.strategy)):
            self.assertEqual(made, s.strategy.to_dict())
        self.assertEqual(pickle.loads(pickle.dumps(s.strategy)), s.strategy.to_dict())
        self.assertEqual(dict(s.strategy)["zero"], s.strategy.zero)

    def test_errors_survive_pickling(self) -> None:
        with self.assertRaises(trainyard.InputError) as caught:
            trainyard.Scenario.from_dict({})
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(again.problems, caught.exception.problems)
        self.assertEqual(str(again), str(caught.exception))

    def test_what_depends_on_several_fields_is_found_by_check(self) -> None:
        s = trainyard.Scenario.load(main)
        self.assertEqual(s.check(), [])
        s.strategy.tp = 3
        self.assertTrue([p for p in s.check() if p.severity == "error"])
        with self.assertRaises(trainyard.InputError):
            trainyard.simulate(s)


class ComesFromElsewhere(unittest.TestCase):
    def test_a_model_and_machines_make_a_first_scenario(self) -> None:
        config = json.loads((scenarios / "models/llama-3.1-8b/config.json").read_text())

        class Config:  # as transformers has them
            def to_dict(self) -> dict[str, object]:
                return dict(config)

        by_name = trainyard.Scenario.from_hf("llama-3.1-8b", gpu="h100", gpus=8)
        by_object = trainyard.Scenario.from_hf(Config(), gpu="h100", gpus=8)
        self.assertEqual(by_name.strategy, by_object.strategy)
        first = trainyard.first_scenario("llama-3.1-8b", gpu="h100", gpus=8)
        self.assertTrue(first.reasons)
        with self.assertRaises(TypeError):
            trainyard.Scenario.from_hf("llama-3.1-8b")
        with self.assertRaises(trainyard.InputError):
            trainyard.Scenario.from_hf("no-such-model", gpu="h100", gpus=8)

    def test_a_small_scenario_is_small(self) -> None:
        self.assertEqual(trainyard.simulate(small).gpus, 2)


if __name__ == "__main__":
    unittest.main()
