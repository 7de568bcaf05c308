"""Where tables of times come from."""

import subprocess
import sys

import pytest

from tiger.errors import InputError
from tiger.training.timings.operations import Product
from tiger.training.timings.sources import read_tables


def test_a_file_has_times_of_devices(tmp_path):
    """By its path or the text of it."""
    file = tmp_path / "times.csv"
    file.write_text("device,operation,dtype,seconds,m,n,k\na100,product,fp8,1,8,8,8\n", encoding="utf-8")
    product = Product(m=8, n=8, k=16, dtype="fp8")
    for source in (file, str(file)):
        assert read_tables(source, ["a100"])["a100"].find(product) == (pytest.approx(2), "extrapolated")


@pytest.mark.parametrize("name", ["none.csv", "."])
def test_no_file_and_a_folder_of_no_devices_are_refused(tmp_path, name):
    """By the field of the option."""
    with pytest.raises(InputError) as caught:
        read_tables(tmp_path / name, ["a100"])
    assert caught.value.field == "costs"


def test_importing_loads_no_heavy_library():
    """Parquet is read by a library that is loaded when a file is."""
    code = "import sys, tiger.training.timings.sources; print(*{'pyarrow', 'pandas', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
