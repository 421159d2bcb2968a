"""The list of faults of `python -m bench.mutants`: each can still be applied."""

from __future__ import annotations

from dataclasses import replace

from bench.mutants import first_failure, named_tests, problems, read_mutants, related_tests


def test_every_mutant_can_be_applied_and_has_a_test() -> None:
    assert problems(read_mutants()) == []
    assert named_tests().keys() == {mutant.id for mutant in read_mutants()}


def test_a_fault_that_cannot_be_applied_is_named() -> None:
    fault = read_mutants()[0]

    assert problems([replace(fault, old="in no file")]) == [
        f"{fault.id}: its text occurs 0 times in {fault.file}, not once"
    ]
    assert problems([fault, fault]) == [f"{fault.id}: another fault has the same id"]


def test_the_tests_of_the_module_of_a_fault_come_first() -> None:
    fault = next(each for each in read_mutants() if each.file == "donna_tui/text/merge.py")

    assert related_tests(fault)[0] in {"tests/property/test_merge_properties.py", "tests/unit/test_merge.py"}


def test_the_first_failure_is_read_from_what_pytest_prints() -> None:
    printed = "..F\nFAILED tests/unit/test_a.py::test_b[a - b] - assert 1 == 2\nERROR tests/unit/test_c.py\n"

    assert first_failure(printed) == "tests/unit/test_a.py::test_b"
    assert first_failure("...\n") == ""
