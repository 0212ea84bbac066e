"""Slips of small models in scripts."""

from __future__ import annotations

import pytest

from tools.compute.code_mend import mend

FILES = ["festival tickets.csv", "Q1.xlsx", "销售 表.csv"]


@pytest.mark.parametrize(
    ("code", "mended"),
    [
        ("open('festival_tickets.csv')", "open('festival tickets.csv')"),
        ('open("./Festival-Tickets.csv" , "r")', "open('festival tickets.csv' , \"r\")"),
        ("x = '销售'; open( '销售_表.csv')  # 表", "x = '销售'; open( '销售 表.csv')  # 表"),
        ("open('/mnt/data/q1.xlsx', 'rb')", "open('Q1.xlsx', 'rb')"),
        ("s = 'q1.xlsx'\r\nopen(s)\r\nprint('\u2028')\r\n", "s = 'Q1.xlsx'\r\nopen(s)\r\nprint('\u2028')\r\n"),
        ("b = f('q1.xlsx', '')\nopen('q1.xlsx')", None),
        ("open('q1.xlsx')\nb.save('q1.xlsx')", "open('Q1.xlsx')\nb.save('Q1.xlsx')"),
        ("open('q1.xlsx', 'w')", None),
        ("open('Q1.xlsx')", None),
        ("open('https://x.org/q1.xlsx')", None),
        ("open('../q1.xlsx')", None),
        ("open(f'{a}q1.xlsx')", None),
        ("print('q1.xlsx')", None),
        ("open('other.csv')", None),
        ("open('q1.xlsx'", None),
        ("\x00", None),
        ("", None),
    ],
)
def test_file_names(code: str, mended: str | None) -> None:
    made, notes = mend(code, FILES)
    assert made == (code if mended is None else mended)
    assert bool(notes) == (mended is not None)
    if mended:
        assert notes[0].startswith("There is no file ") and "it was taken for" in notes[0]


def test_what_is_ambiguous_stays() -> None:
    assert mend("open('ab.csv')", ["a b.csv", "a-b.csv"]) == ("open('ab.csv')", [])


@pytest.mark.parametrize(
    ("code", "mended"),
    [
        ("d = pd.DataFrame()\nplt.plot(d)", "import pandas as pd; import matplotlib.pyplot as plt\nd = pd.DataFrame()\nplt.plot(d)"),  # noqa: E501
        ('"""Doc."""\nfrom __future__ import annotations\n\nDocument()', '"""Doc."""\nfrom __future__ import annotations\n\nfrom docx import Document\nDocument()'),  # noqa: E501
        ("@np.vectorize\ndef f(x): return x", "import numpy as np\n@np.vectorize\ndef f(x): return x"),
        ("for n in openpyxl.x: pass", "import openpyxl\nfor n in openpyxl.x: pass"),
        ("import pandas as pd\npd.x", None),
        ("import matplotlib.pyplot as plt, numpy as np\nplt.x, np.y", None),
        ("pd = 3\nprint(pd)", None),
        ("def f(pd): return pd", None),
        ("from pylab import *\nplt.plot(np.x)", None),
        ("x.pd.np", None),
    ],
)  # fmt: skip
def test_imports(code: str, mended: str | None) -> None:
    made, notes = mend(code, [])
    assert made == (code if mended is None else mended)
    assert bool(notes) == (mended is not None)
    compile(made, "made", "exec")


def test_both_at_once() -> None:
    made, notes = mend("d = pd.read_csv('q1.xlsx')", FILES)
    assert made == "import pandas as pd\nd = pd.read_csv('Q1.xlsx')"
    assert len(notes) == 2
