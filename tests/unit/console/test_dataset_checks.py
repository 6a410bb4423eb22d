"""What is found out about a data set, in the number of what is found."""

from handoff_console.console.commands.dataset_checks import check_dataset
from handoff_console.console.commands.datasets import read_dataset
from handoff_console.console.commands.flows import load_flow


def checked(folder, *cases: tuple[str, str]):
    """Check requests, each with the agent of the service desk that should get it."""
    path = folder / "asked.csv"
    path.write_text("input,expected\n" + "".join(f"{text},{agent}\n" for text, agent in cases))
    return checked_file(path)


def checked_file(path):
    read = read_dataset(str(path), unique=False)
    return check_dataset(read, load_flow("servicedesk"), path.parent / "none.db", None)


def test_one_case_is_told_as_one(tmp_path):
    found = checked(tmp_path, ("where is my parcel", "orders"))

    assert found.problems == (
        "1 of 1 case stands word for word in version v3, which therefore knows its answer; it is "
        "'where is my parcel'.",
    )
    assert "Only 1 case is for 'orders'." in found.notes
    assert found.notes[-1].startswith("With 1 case, differences under")


def test_several_cases_are_told_as_several(tmp_path):
    found = checked(
        tmp_path, ("where is my parcel", "orders"), ("my parcel came open and empty", "orders")
    )

    assert found.problems == (
        "1 of 2 cases stands word for word in version v3, which therefore knows its answer; it is "
        "'where is my parcel'.",
    )
    assert "Only 2 cases are for 'orders'." in found.notes


def test_every_text_that_stands_there_more_than_once_is_listed(tmp_path):
    found = checked(
        tmp_path,
        ("one thing", "orders"),
        ("one  Thing", "orders"),
        ("another thing", "orders"),
        ("another thing", "billing"),
        ("a third thing", "orders"),
        ("a third thing", "orders"),
        ("a third thing", "orders"),
    )

    first, second, third = found.problems
    assert first.startswith("The text 'one thing' stands there as c-")
    assert first.endswith(", so it counts twice.")
    assert second == "The text 'another thing' stands there twice, with different labels."
    assert third == "The text 'a third thing' stands there 3 times, so it counts 3 times."


def test_an_id_that_belongs_to_several_texts_is_listed(tmp_path):
    path = tmp_path / "asked.csv"
    path.write_text("id,input,expected\n" + "".join(f"x,text {n} of it,orders\n" for n in range(5)))

    assert checked_file(path).problems == (
        "The id 'x' belongs to 'text 0 of it', 'text 1 of it', 'text 2 of it' and 2 more; give "
        "each its own.",
    )


def test_of_many_that_stand_there_twice_the_first_are_named(tmp_path):
    twice = [(f"thing number {n}", "orders") for n in range(1_100) for _ in range(2)]

    problems = checked(tmp_path, *twice).problems

    assert len(problems) == 21
    assert problems[-1] == "1,080 texts stand there more than once besides."
