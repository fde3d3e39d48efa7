"""trec_eval's own C code, timed without Python between its steps: it is inside pytrec-eval-terrier, all but its `main`.

`python benchmarks/trec_eval_in_c.py QRELS MEASURES RUN…` does what `trec_eval -c -m … QRELS RUN` does for each run,
in a process for each run as that program needs: trec_eval's functions read both files, sort, join, compute and average.
Prints the means of each run, and last the CPU seconds of these processes, which do not load Python again.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import resource
import sys
from collections.abc import Iterator
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_double, c_int, c_long, c_void_p

TO_DO = -2
"""What the index of a measure is when it is asked for and not yet set up."""
ALL_DOCS = 2**31 - 1


class _MeasureArgument(Structure):
    _fields_ = (("measure", c_char_p), ("parameters", c_char_p))


class _Settings(Structure):
    """EPI of trec_eval.h: what the options of the program set."""

    _fields_ = (
        ("by_query", c_long),
        ("summary", c_long),
        ("debug_level", c_long),
        ("debug_query", c_char_p),
        ("relational", c_long),
        ("average_complete", c_long),
        ("judged_only", c_long),
        ("docs_in_collection", c_long),
        ("relevance_level", c_long),
        ("docs_per_topic", c_long),
        ("qrels_format", c_char_p),
        ("results_format", c_char_p),
        ("zscores", c_long),
        ("arguments", POINTER(_MeasureArgument)),
    )


class _Value(Structure):
    _fields_ = (("name", c_char_p), ("value", c_double))


class _Values(Structure):
    """TREC_EVAL: the values of all measures for one query, or their sums."""

    _fields_ = (
        ("query", c_char_p),
        ("queries", c_long),
        ("values", POINTER(_Value)),
        ("count", c_long),
        ("room", c_long),
    )


class _Results(Structure):
    _fields_ = (("query", c_char_p), ("run", c_char_p), ("format", c_char_p), ("results", c_void_p))


class _AllResults(Structure):
    _fields_ = (("count", c_long), ("room", c_long), ("of_query", POINTER(_Results)))


class _Judged(Structure):
    _fields_ = (("query", c_char_p), ("format", c_char_p), ("judgments", c_void_p))


class _AllJudged(Structure):
    _fields_ = (("count", c_long), ("room", c_long), ("of_query", POINTER(_Judged)))


class _Measure(Structure):
    """TREC_MEAS: the functions of one measure."""


_Initial = CFUNCTYPE(c_int, POINTER(_Settings), POINTER(_Measure), POINTER(_Values))
_Calculated = CFUNCTYPE(
    c_int, POINTER(_Settings), POINTER(_Judged), POINTER(_Results), POINTER(_Measure), POINTER(_Values)
)
_Added = CFUNCTYPE(c_int, POINTER(_Settings), POINTER(_Measure), POINTER(_Values), POINTER(_Values))
_Averaged = CFUNCTYPE(c_int, POINTER(_Settings), POINTER(_Measure), POINTER(_AllJudged), POINTER(_Values))
_Measure._fields_ = (
    ("name", c_char_p),
    ("explanation", c_char_p),
    ("initial", _Initial),
    ("calculated", _Calculated),
    ("added", _Added),
    ("averaged", _Averaged),
    ("print_one", c_void_p),
    ("print_last", c_void_p),
    ("parameters", c_void_p),
    ("index", c_long),
)


class TrecEval:
    """The C code, with judgments and measures set up."""

    def __init__(self, qrels: str, measures: list[str]) -> None:
        """Read the judgments; measures as trec_eval names them, a cutoff behind a dot: map, ndcg_cut.10."""
        spec = importlib.util.find_spec("pytrec_eval_ext")
        if spec is None or spec.origin is None:
            raise SystemExit("trec_eval's C code is that of pytrec-eval-terrier, which is not installed")
        self.code = ctypes.PyDLL(spec.origin)
        parts = [name.partition(".") for name in measures]
        arguments = [_MeasureArgument(name.encode(), cut.encode()) for name, _, cut in parts if cut]
        self.arguments = (_MeasureArgument * (len(arguments) + 1))(*arguments)  # the last one, empty, ends the list
        self.settings = _Settings(
            summary=1,
            relational=1,
            average_complete=1,
            relevance_level=1,
            docs_per_topic=ALL_DOCS,
            qrels_format=b"qrels",
            results_format=b"trec_results",
            arguments=self.arguments,
        )
        names = {name.encode() for name, _, _ in parts}
        self.measures = [measure for measure in self._known() if measure.contents.name in names]
        self.sums = _Values()
        for measure in self.measures:
            measure.contents.index = TO_DO
            self._check(measure.contents.initial(byref(self.settings), measure, byref(self.sums)))
        self.judged = _AllJudged()
        self._check(self.code.te_get_qrels(byref(self.settings), qrels.encode(), byref(self.judged)))
        self.place = {self.judged.of_query[i].query: i for i in range(self.judged.count)}

    def means(self, run: str) -> dict[str, float]:
        """The mean of each measure over the judged topics."""
        results = _AllResults()
        self._check(self.code.te_get_trec_results(byref(self.settings), run.encode(), byref(results)))
        room = (_Value * self.sums.count)()
        one = _Values(b"", 0, room, self.sums.count, self.sums.count)
        for i in range(results.count):
            place = self.place.get(results.of_query[i].query)
            if place is not None:
                self._add(one, self.judged.of_query[place], results.of_query[i])
        for measure in self.measures:
            average = measure.contents.averaged
            self._check(average(byref(self.settings), measure, byref(self.judged), byref(self.sums)))
        values = [self.sums.values[i] for i in range(self.sums.count)]
        return {value.name.decode(): value.value for value in values}

    def _add(self, one: _Values, judged: _Judged, results: _Results) -> None:
        self._set_to_zero(one)
        for measure in self.measures:
            functions = measure.contents
            self._check(functions.calculated(byref(self.settings), byref(judged), byref(results), measure, byref(one)))
            self._check(functions.added(byref(self.settings), measure, byref(one), byref(self.sums)))
        self.sums.queries += 1

    def _known(self) -> Iterator[ctypes._Pointer[_Measure]]:
        count = c_int.in_dll(self.code, "te_num_trec_measures").value
        table = (POINTER(_Measure) * count).in_dll(self.code, "te_trec_measures")
        yield from table

    @staticmethod
    def _set_to_zero(values: _Values) -> None:
        for i in range(values.count):
            values.values[i].value = 0.0

    @staticmethod
    def _check(answer: int) -> None:
        if answer == -1:
            raise SystemExit("trec_eval could not do it")


def main() -> None:
    """Means of each run, and the CPU seconds."""
    qrels, measures, *runs = sys.argv[1:]
    for run in runs:
        process = os.fork()
        if not process:
            means = TrecEval(qrels, measures.split(",")).means(run)
            values = [f"{name}={mean:.4f}" for name, mean in means.items()]
            print(run.rpartition("/")[2], *values, flush=True)
            os._exit(0)
        _, status = os.waitpid(process, 0)
        if status:
            sys.exit(f"{run}: trec_eval failed")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(used.ru_utime + used.ru_stime)


if __name__ == "__main__":
    main()
