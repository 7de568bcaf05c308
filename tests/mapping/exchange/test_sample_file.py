"""Tests of files of samples: what is read, and what is refused."""

import json

import dimod
import numpy as np
import pytest

from tiger.errors import InputError
from tiger.mapping.exchange.sample_file import read_samples, read_variables

BITS = [[0, 1, 1], [1, 0, 0], [0, 1, 1]]


def read(tmp_path, content, name="samples.csv"):
    """Return the rows and counts of a file."""
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    rows = read_samples(path)
    return rows.bits.tolist(), rows.counts.tolist()


def sample_set(values=BITS, labels=None, pack=True, **more):
    """Return a sample set as dimod serialises it."""
    values = np.array(values)
    kind = "SPIN" if (values == -1).any() else "BINARY"
    labels = labels or list(range(values.shape[1]))
    found = dimod.SampleSet.from_samples((values, labels), kind, np.zeros(len(values)), **more)
    return found.to_serializable(pack_samples=pack)


@pytest.mark.parametrize(
    "text",
    [
        "0,1,1\n1,0,0\n0,1,1\n",
        "0 1 1\r\n1 0 0\r\n0 1 1",
        "# three reads\n\n0, 1, 1\n1, 0, 0\n  # one more\n0, 1, 1\n",
        "-1,1,1\n1,-1,-1\n-1,1,1\n",
        "0.0\t1.0\t1.0\n1e0 0e0 0e0\n0 +1 1\n",
    ],
)
def test_a_line_is_a_read(text, tmp_path):
    """Tests separators, ends of lines, notes, spins and numbers as numpy writes them."""
    assert read(tmp_path, text) == (BITS, [1, 1, 1])


@pytest.mark.parametrize("form", ["%d", "%.18e"])
def test_what_numpy_saves_is_read(form, tmp_path):
    """Tests numpy.savetxt with a header."""
    np.savetxt(tmp_path / "samples.txt", np.array(BITS), fmt=form, header="drawn today")
    assert read_samples(str(tmp_path / "samples.txt")).bits.tolist() == BITS


@pytest.mark.parametrize("values", [BITS, (2 * np.array(BITS) - 1).tolist()])
def test_a_sample_set_is_read(values, tmp_path):
    """Tests bits and spins, and that values are bits in the end."""
    assert read(tmp_path, sample_set(values), "samples.json") == (BITS, [1, 1, 1])


def test_variables_of_a_sample_set_may_stand_in_any_order(tmp_path):
    """Tests that columns are put in the order of the variables."""
    assert read(tmp_path, sample_set([[1, 0, 0]], [2, 0, 1]), "samples.JSON") == ([[0, 0, 1]], [1])
    assert read(tmp_path, sample_set([[1, 0, 0]], ["2", "0", "1"]), "samples.json") == ([[0, 0, 1]], [1])


@pytest.mark.parametrize("header", ["2,0,1", "x2 x0 x1", "# drawn today\nx[2],x[0],x[1]"])
def test_a_first_line_may_number_the_variables(header, tmp_path):
    """Tests that columns are put in the order of the variables."""
    assert read(tmp_path, f"{header}\n1,0,0\n0,1,1\n") == ([[0, 0, 1], [1, 1, 0]], [1, 1])


def test_bits_may_stand_without_blanks(tmp_path):
    """Tests lines of bits, and that two bits on the first line are a read."""
    assert read(tmp_path, "011\n100\n011\n") == (BITS, [1, 1, 1])
    assert read(tmp_path, "01\n0 1\n1,0\n") == ([[0, 1], [0, 1], [1, 0]], [1, 1, 1])


@pytest.mark.parametrize("text", ["x0,x1,x1\n1,0,0\n", "x1,x2,x3\n1,0,0\n", "0,1,2\n0,1\n", "x0,x1\n", "012\n"])
def test_other_first_lines_are_refused(text, tmp_path):
    """Tests columns that are there twice, that no variable has, and a header alone."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert caught.value.field == "samples"


def test_reads_of_a_sample_set_are_counted(tmp_path):
    """Tests rows that stand for several reads."""
    counted = sample_set(BITS[:2], num_occurrences=[7, 2])
    assert read(tmp_path, counted, "samples.json") == (BITS[:2], [7, 2])


def test_floats_of_a_constrained_model_are_bits(tmp_path):
    """Tests what hybrid solvers return."""
    floats = dimod.SampleSet.from_samples_cqm([{0: 1.0, 1: 0.0}], make_constrained())
    assert read(tmp_path, floats.to_serializable(pack_samples=False), "samples.json") == ([[1, 0]], [1])


def make_constrained():
    """Return a constrained model of two bits."""
    model = dimod.ConstrainedQuadraticModel()
    model.set_objective(dimod.BinaryQuadraticModel({0: 1.0, 1: 1.0}, {}, 0.0, "BINARY"))
    return model


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected text, got an empty file"),
        ("# nothing\n", "a read in each line, got no read"),
        ("0,1\n1\n", "line 2: expected 2 values, as before, got 1"),
        ("0,1\n\n0,1,1\n", "line 3: expected 2 values, as before, got 3"),
        ("0,2\n", "line 1: expected bits 0 and 1, or spins -1 and 1, got '2'"),
        ("0,1\n0,x\n", "line 2: expected bits 0 and 1, or spins -1 and 1, got 'x'"),
        ("0,nan\n", "got 'nan'"),
        ("0,0.5\n", "got '0.5'"),
        ("0;1\n", "got '0;1'"),
        ("0,1\n-1,1\n", "expected bits 0 and 1, or spins -1 and 1, got 0 and -1 together"),
        ("sample,energy\n0,1\n", "line 1: .* got 'sample'"),
    ],
)
def test_other_text_is_refused(text, reason, tmp_path):
    """Tests ragged lines, values that are no bits, and files without reads."""
    with pytest.raises(InputError, match=reason) as caught:
        read(tmp_path, text)
    assert caught.value.field == "samples"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "expected JSON"),
        ([], "expected a dimod SampleSet"),
        ({}, "expected a dimod SampleSet"),
        ({"type": "SampleSet"}, "expected a dimod SampleSet"),
        (sample_set() | {"sample_data": None}, "expected a dimod SampleSet"),
        (sample_set() | {"vectors": {}}, "expected a dimod SampleSet"),
        (sample_set() | {"variable_type": "TERNARY"}, "expected a dimod SampleSet"),
        (sample_set() | {"variable_labels": [0, 1]}, "expected a dimod SampleSet"),
        (sample_set(labels=["0", "1", "00"]), "expected the model's variables, 0 to 2, got '0'"),
        (sample_set(labels=["x0", "x1", "x2"]), "expected the model's variables, 0 to 2, got 'x0'"),
        (sample_set(labels=[0, 1, 3]), "expected the model's variables, 0 to 2, got 3"),
        (sample_set([[0, -1, 1]], pack=False), "got 0 and -1 together"),
        (sample_set(np.zeros((0, 3))), "expected at least one read, got none"),
        (sample_set(num_occurrences=[1, 0, 1]), "expected num_occurrences of 1 or more"),
        (sample_set(num_occurrences=[1.5, 1, 1]), "expected num_occurrences of 1 or more"),
        (sample_set(num_occurrences=[2**62, 2**62, 2**62]), "expected num_occurrences of 1 or more"),
    ],
)
def test_other_sample_sets_are_refused(content, reason, tmp_path):
    """Tests what is no sample set, other variables, and counts that are none."""
    with pytest.raises(InputError, match=reason) as caught:
        read(tmp_path, content, "samples.json")
    assert caught.value.field == "samples"


def test_whole_values_other_than_bits_are_refused(tmp_path):
    """Tests integer variables, which a constrained model of something else may have."""
    drawn = dimod.SampleSet.from_samples([[0, 7]], "INTEGER", [0]).to_serializable()
    with pytest.raises(InputError, match="expected bits 0 and 1, or spins -1 and 1, got 7"):
        read(tmp_path, drawn, "samples.json")


@pytest.mark.parametrize("name", ["missing.csv", "missing.json", "."])
def test_files_that_cannot_be_read_are_named(name, tmp_path, monkeypatch):
    """Tests what is not there, and a folder."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="samples: cannot read"):
        read_samples(name)


def test_bytes_are_no_text(tmp_path):
    """Tests an array that numpy saved as it is."""
    np.save(tmp_path / "samples.npy", np.array(BITS))
    with pytest.raises(InputError, match=r"samples: cannot read .* expected UTF-8 text"):
        read_samples(tmp_path / "samples.npy")


def test_energies_and_the_fingerprint_of_a_sample_set_are_read(tmp_path):
    """Tests both, and an info that holds something else."""
    found = dimod.SampleSet.from_samples(np.array(BITS), "BINARY", [3.0, 1.5, 3.0], info={"fingerprint": "0a"})
    path = tmp_path / "samples.json"
    path.write_text(json.dumps(found.to_serializable()))
    rows = read_samples(path)
    assert (rows.energies.tolist(), rows.fingerprint, rows.offset) == ([3.0, 1.5, 3.0], "0a", None)
    path.write_text(json.dumps(found.to_serializable() | {"info": {"fingerprint": 5}}))
    assert read_samples(path).fingerprint is None


def test_a_note_may_state_the_fingerprint(tmp_path):
    """Tests lines of bits."""
    path = tmp_path / "samples.csv"
    path.write_text("# drawn today\n# fingerprint=0a1b\n0,1\n")
    assert (read_samples(path).fingerprint, read_samples(path).energies) == ("0a1b", None)


def test_bug_a_sample_set_of_no_numbers_is_refused(tmp_path):
    """Tests a set that dimod reads into records without fields."""
    with pytest.raises(InputError, match=r"samples: expected a dimod SampleSet .* no numbers"):
        read(tmp_path, sample_set() | {"sample_type": []}, "samples.json")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"fingerprint": "0a", "offset": 2}, None),
        ({"fingerprint": "0b", "offset": 2.5}, "expected fingerprint '0a', as in the samples, got '0b'"),
        ({"fingerprint": "0a"}, "expected the file that tiger encode --variables writes"),
        ({"fingerprint": "0a", "offset": True}, "expected the file"),
        ({"fingerprint": "0a", "offset": 10**400}, "expected the file"),
        ([["a", "x"]], "expected the file"),
    ],
)
def test_the_file_of_variables_goes_with_samples(content, reason, tmp_path):
    """Tests that of the same model, of another, and other files."""
    (tmp_path / "samples.csv").write_text("# fingerprint=0a\n0,1\n")
    (tmp_path / "v.json").write_text(json.dumps(content))
    rows = read_samples(tmp_path / "samples.csv")
    if reason is None:
        assert read_variables(tmp_path / "v.json", rows)[3:] == ("0a", 2.0)
        return
    with pytest.raises(InputError, match=reason) as caught:
        read_variables(tmp_path / "v.json", rows)
    assert caught.value.field == "variables"
