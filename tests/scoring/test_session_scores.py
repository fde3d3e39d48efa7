"""Sessions of runs and answers in words: the numbers of the measures on records, from files and commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.core.errors import AssayError
from assay.data import Qrels, Run
from assay.io.answers import read_matches, read_texts
from assay.io.scores import read_scores
from assay.measures import SESSION_MEASURES, TEXT_MEASURES, Nugget, NuggetMatch, Session
from assay.measures.text import PyramidMatch
from assay.scoring.answer_scores import evaluate_matches, evaluate_texts, evaluate_units
from assay.scoring.session_scores import evaluate_sessions
from tests.conftest import real_data
from tests.hostile.calls import call

JUDGED = Qrels.from_dict({"9": {"a": 1, "b": 2, "z": 2, "p": -1}, "10": {"c": 1}})
RUN = Run.from_lists("mine", {"9-1": ["x", "a", "p"], "9-2": ["b", "a"], "9-10": ["z"], "8-1": ["a"]})


def test_a_session_has_the_lists_of_its_queries_in_their_order() -> None:
    lists = Session([[0, 1, 0], [2, 1], [2]], judged=[1, 2, 2], docs=[["x", "a", "p"], ["b", "a"], ["z"]])
    for measure in ("sDCG(k=3)", "nsDCG(k=3)", "nsDCG(k=3,ideal=once)", "sDCGjarvelin(k=3)", "esnDCG(k=3)"):
        found = evaluate_sessions([RUN], JUDGED, [measure])[0]
        assert found.topics == ("9", "10")
        assert found.values[0].tolist() == [pytest.approx(SESSION_MEASURES.call(measure, lists)), 0.0]


def test_sessions_that_cannot_be_scored() -> None:
    with pytest.raises(AssayError, match=r"run 'mine' has no session of qrels; its topics are written session\.query"):
        evaluate_sessions([RUN], JUDGED, ["sDCG"], separator=".")
    with pytest.raises(AssayError, match="no session measure 'nDCG'"):
        evaluate_sessions([RUN], JUDGED, ["nDCG"])
    with pytest.raises(AssayError, match="the separator is empty"):
        evaluate_sessions([RUN], JUDGED, separator="")


def test_sessions_on_the_command_line_can_be_compared(tmp_path: Path) -> None:
    (tmp_path / "s.qrels").write_text("1 0 a 2\n1 0 b 1\n2 0 c 1\n3 0 d 1\n")
    for name, docs in (("good", "a b"), ("bad", "y b")):
        first, second = docs.split()
        lines = [f"1-1 Q0 x 1 9 {name}", f"1-2 Q0 {first} 1 9 {name}", f"1-2 Q0 {second} 2 8 {name}"]
        lines += [f"2-1 Q0 c 1 9 {name}", f"3-1 Q0 {'d' if name == 'good' else 'q'} 1 9 {name}"]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    saved = tmp_path / "scores.csv"
    files = [str(tmp_path / "good.run"), str(tmp_path / "bad.run")]
    done = call(["sessions", "--qrels", str(tmp_path / "s.qrels"), *files, "-m", "nsDCG(k=2)", "--save", str(saved)])
    assert (done.code, done.fell_over) == (0, None), done.err
    [scores] = read_scores(saved)
    assert scores.runs == ("good", "bad")
    assert (scores.values[0] >= scores.values[1]).all()
    compared = call(["compare", str(saved), "--baseline", "bad", "--format", "json"])
    assert json.loads(compared.out)["measure"] == "nsDCG(k=2)"


def test_units_of_ntcireval() -> None:
    """Sakai's sample of one-click access: S, T and S# as NTCIREVAL prints them."""
    folder = real_data("peer-samples/ntcireval-diversity")
    runs = {name: folder / name for name in ("1CLICKRUN-D-1", "1CLICKRUN-D-2")}
    s, t, sharp = evaluate_units(folder / "1C0-test.nuggets", runs, ["S(L=500)", "T", "S#(L=500)"])
    assert s.values[0, 0] == pytest.approx(0.482456, abs=5e-7)
    assert t.values[0, 0] == pytest.approx(0.03)
    assert sharp.values[0, 0] == pytest.approx(0.4198, abs=5e-5)


MATCHED = """run,topic,nugget,vital,matched,length,votes
mine,1,n1,yes,yes,450,4
mine,1,n2,yes,no,450,3
mine,1,n3,no,yes,450,1
mine,2,n1,yes,yes,80,2
other,1,n1,yes,no,10,4
other,1,n2,yes,yes,10,3
other,1,n3,no,no,10,1
"""


def test_matched_nuggets(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(MATCHED)
    measures = ["NuggetR", "NuggetP", "NuggetF(beta=5)", "PyramidF"]
    found = evaluate_matches(read_matches(tmp_path / "m.csv"), measures)
    record = NuggetMatch(vital=1, okay=1, vital_in_key=2, length=450)
    for matrix in found[:3]:
        assert matrix.values[0, 0] == pytest.approx(TEXT_MEASURES.call(matrix.measure, record))
    pyramid = PyramidMatch([4, 3, 1], [True, False, True], 450)
    assert found[3].values[0, 0] == pytest.approx(TEXT_MEASURES.call("PyramidF", pyramid))
    assert found[0].values[1].tolist() == [0.5, 0.0]  # a topic without an answer
    for line, message in (
        ("mine,1,n1,yes,yes,450,4", "nugget 'n1' of topic '1' is there twice"),
        ("mine,1,n9,yes,yes,451,4", "has two lengths, 450 and 451"),
        ("mine,1,n9,perhaps,yes,450,4", "column 'vital' is 'perhaps'; write yes or no"),
    ):
        (tmp_path / "bad.csv").write_text(MATCHED + line + "\n")
        done = call(["answers", "matches", str(tmp_path / "bad.csv")])
        assert done.code == 2
        assert message in done.err
        assert len(done.err.splitlines()) == 1


def test_texts_of_answers(tmp_path: Path) -> None:
    (tmp_path / "key.csv").write_text("topic,text,vital\n1,founded in 1911,yes\n1,by Bingham,no\n2,the cat sat,yes\n")
    (tmp_path / "mine.csv").write_text("topic,text\n1,It was founded by Bingham.\n1,In Peru.\n")
    key, mine = read_texts(tmp_path / "key.csv"), read_texts(tmp_path / "mine.csv")
    pourpre, rouge = evaluate_texts(key, {"mine": mine}, ["POURPRE", "ROUGE(kind=rouge1)"])
    nuggets = [Nugget("founded in 1911"), Nugget("by Bingham", vital=False)]
    answers = ["It was founded by Bingham.", "In Peru."]
    assert pourpre.values[0].tolist() == [pytest.approx(TEXT_MEASURES.call("POURPRE", nuggets, answers)), 0.0]
    references = ["founded in 1911", "by Bingham"]
    assert rouge.values[0, 0] == pytest.approx(TEXT_MEASURES.call("ROUGE", references, "\n".join(answers)))
    done = call(["answers", "texts", "--key", str(tmp_path / "key.csv"), str(tmp_path / "mine.csv"), "-m", "NuggetF"])
    assert "NuggetF cannot be computed from texts; take one of POURPRE, ROUGE" in done.err
    with pytest.raises(AssayError, match="run 'x' answers none of the 2 topics of the key"):
        evaluate_texts(key, {"x": {"7": [("a", True)]}})
