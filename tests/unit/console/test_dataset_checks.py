"""What is found out about a data set, in the number of what is found."""

from handoff_console.console.commands.dataset_checks import check_dataset
from handoff_console.console.commands.datasets import read_dataset
from handoff_console.console.commands.flows import load_flow


def checked(folder, *cases: tuple[str, str]):
    """Check requests, each with the agent of the service desk that should get it."""
    path = folder / "asked.csv"
    path.write_text("input,expected\n" + "".join(f"{text},{agent}\n" for text, agent in cases))
    desk = load_flow("servicedesk")
    return check_dataset(read_dataset(str(path)), desk, folder / "none.db", None)


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
