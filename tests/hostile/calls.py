"""A command called in this process as the shell would call it, and what it did; calls of every command that reads."""

from __future__ import annotations

import io
import sys
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from unittest import mock

import click

from assay.cli.main import cli, main

CALLS = [
    "score --qrels {qrels} {run} {runs}",
    "score --qrels {table qrels} {table run} -m 'ERR nDCG@5 RBP AP bpref' -q",
    "score --qrels {qrels} {run} {runs} --bounds --save {out}/scores.csv",
    "score --qrels {sampled qrels} {run} -m 'infAP AP'",
    "score --qrels {qrels} {run} --format trec_eval -q -c",
    "score --qrels {qrels} {run} --ties average -m 'AP nDCG RR'",
    "score --qrels {qrels} {run} --ties rank",
    "score --qrels {qrels} {run} --lenient",
    "score --qrels {qrels} {run} -m TBG --lengths {lengths}",
    "score --qrels {qrels} {run} --format trec_eval -Z {zscores}",
    "score --intents {intents} {run} -m 'alpha-nDCG@5 ndeval-ERR-IA ERR-IA@5 P+Q'",
    "score --intents {intents} --intent-info {intent info} {run} -m 'D#-nDCG@5 P+Q# I-rec'",
    "score --uncertainty {doubt} {run} {runs} -m AP",
    "score --qrels {beir qrels} {msmarco run} {runs} -m AP",
    "score --qrels {ntcir qrels} {nested run} -m AP",
    "score --qrels {nested qrels} {lines run} -m AP",
    "convert {run} {out}/bm25.parquet",
    "convert {ntcir qrels} {out}/qrels.txt",
    "convert {nested run} {out}/bm25.run --kind run",
    "convert {msmarco run} {out}/bm25.jsonl --kind run",
    "convert {label studio} {out}/labels.csv --grades yes=1 --grades no=0",
    "convert {doccano} {out}/labels.jsonl --grades yes=1 --grades no=0",
    "convert {leaderboard} {out}/scores.csv --kind scores",
    "convert {corpus} {out}/docs.csv --kind docs",
    "convert {queries} {out}/topics.txt --kind topics",
    "check --qrels {qrels} {run} {runs}",
    "check --qrels {table qrels} {table run}",
    "check --intents {intents} --intent-info {intent info} {run} {runs}",
    "sessions --qrels {qrels} {session run} -m 'nsDCG(k=3) esnDCG(k=2)'",
    "answers nuggets {assigned} --save {out}/scores.csv",
    "answers nuggets {nuggetizer} --bank {nugget bank} -m 'V_strict W_lenient' --missing drop --per-topic",
    "answers support {cited} -m 'SupportP SentenceP'",
    "answers reports {assigned} --support {cited}",
    "answers agreement {assessed} -m A_strict",
    "answers units --nuggets {nuggets} {units} -m 'T S#(L=50)'",
    "answers matches {matches} -m 'NuggetF PyramidF'",
    "answers texts --key {key} {answers} -m POURPRE",
    "fairness --qrels {qrels} --groups {doc groups} {run} {runs} -m 'AWRF M1 EE-L(k=3)' --unknown skip",
    "fairness --qrels {qrels} --groups {doc groups} --population {population} --target both --unknown skip {run}",
    "interleave {impressions} --baseline old",
    "interleave analyse {teams} --system new --baseline old --method impressions",
    "interleave pairs {teams} --no-clicks tie",
    "interleave plan --effect .05 --pilot {impressions} --save {out}/plan.json",
    "compare runs {scores} --correction holm -m AP",
    "compare pairs {matrix} --test randomised-tukey -B 50",
    "compare anova {matrix}",
    "compare one-way {matrix}",
    "compare friedman {matrix}",
    "compare runs --intents {intents} --intent-info {intent info} {run} {runs}",
    "compare normality {matrix}",
    "compare density {matrix} --baseline sys0",
    "compare runs --qrels {qrels} {run} {runs} -m AP",
    "compare runs {scores} -m AP --baseline sys0 --info {groups} --show group,year --worst 2 --topics {topics}",
    "compare runs {scores} -m AP --places --info {groups} --best-of group=g0 --by group --power .9",
    "compare table {scores} --baseline sys0 --info {groups} --by group",
    "topic 1 --qrels {qrels} {run} {runs} --topics {topics} --docs {texts}",
    "compare sets {scores} {scores} -m AP",
    "compare factorial {grid} --only analysis",
    "compare uncertain {doubt} {run} {runs} -m AP",
    "compare uncertain {doubt} {run} {runs} -m P@2 --reference {sampled qrels}",
    "gate {run} --baseline {one run} --qrels {qrels} -m 'AP RR' --max-drop .9 --max-drop RR=99%",
    "gate {run scores} --baseline {run scores} --max-drop .99",
    "standardize fit {scores} --save {out}/factors.csv",
    "standardize apply {matrix} --factors {factors} --save {out}/z.csv",
    "standardize apply {matrix} --reference {matrix}",
    "standardize items {matrix}",
    "standardize variance {matrix}",
    "standardize compare {matrix} {matrix} --permutations 20",
    "standardize errors {matrix} {matrix} --splits 5",
    "standardize longevity {matrix} --reference {matrix}",
    "standardize references {matrix} --reference {matrix} --sizes 2,3 --samples 5",
    "board systems {matrix} {matrix}",
    "board conclusions {matrix} {matrix}",
    "board effects {matrix} {matrix} --baseline sys0",
    "board leave-out {matrix} {matrix}",
    "board subsets {matrix} {matrix} {matrix}",
    "replicate improvement {run} {one run} --baseline {run} --qrels {qrels} -m AP",
    "replicate improvement {matrix} {matrix} --baseline sys0 --system sys1 --interval percentile -B 20",
    "replicate series {matrix} {matrix} -B 20",
    "replicate series {matrix} {matrix} --baseline sys0 -B 20",
    "split {run} --qrels {qrels} --parts 2 -o {out}/parts",
    "plan audit {matrix}",
    "plan one-sigma {matrix} -B 5",
    "plan bias {matrix} --pairs 2 --samples 5 --minimum 3",
    "plan topics {matrix}",
    "plan trial {matrix} --delta .1 --runs sys0,sys1",
    "plan next {matrix} --plan {out}/plan.json --delta .1 --sigma .2 --minimum 3 --runs sys0,sys1",
    "plan depth {run} {runs} --qrels {qrels} --depths 2,5 --pairs 5",
    "plan sigma {matrix} --topics 3 --samples 20 --pairs 5",
    "plan inclusion {matrix} --runs sys0,sys1 --delta .3 --minimum 3 --trials 50",
    "score --qrels {qrels} {run} {runs} -m AP --info {groups} --by group --where year=2004",
    "similarity runs {run} {runs}",
    "similarity topics {run} {one run}",
    "similarity depths {run} {one run} -m kendall-top-k --at 2,5",
    "similarity sweep {run} {one run} --at '.5 .9'",
    "similarity scores {matrix} {matrix} -B 20",
    "similarity series {run} {runs}",
    "similarity preferences --qrels {qrels} {run} {runs}",
    "similarity d-rank {matrix} {matrix}",
    "agreement {labels} --level 0.9",
    "agreement --qrels {qrels} {table qrels} -m kappa",
    "topics best {matrix} --at 2 --repetitions 20",
    "topics choose {run} {runs} --qrels {qrels} --count 2 -m AP",
    "topics choose {matrix} --count 2 --truth {matrix}",
    "topics best {matrix} --at 2 --repetitions 20 --no-holdout --truth {matrix} --save {out}/sets.csv",
    "topics clusters {matrix} --repetitions 5",
    "topics clusters {matrix} --clusters 2 --list --linkage k-means",
    "topics conclusions {matrix} --at 2",
    "topics good {matrix} --at 2 --repetitions 20",
    "topics growth {matrix} --sizes 3,5 --draws 2",
    "topics hits {matrix}",
    "topics means {matrix} --at 2",
    "topics sets {matrix} --count 2",
    "topics simulate {matrix} --runs 4 --topics 5 --save {out}/made.csv",
    "topics stability {matrix}",
    "topics top-stability {matrix} --at 2",
    "topics map {matrix}",
    "topics holdout {matrix} --splits 2 --at 2",
    "topics transfer {matrix} --to {matrix} --at 2",
    "topics groups {turns} --save {out}/groups.csv",
    "topics variants {turns} --plan",
    "compare conversations {turns} --baseline sys0",
    "predict {run} {runs}",
    "predict {run} {runs} --qrels {qrels} --save {out}/predicted.csv",
    "predict {run} {runs} --manual-list {names}",
    "predict accuracy {run} {runs} --qrels {qrels} --method sakai-lin",
    "predict difficulty {run} {runs} --qrels {qrels} --method sakai-lin",
    "predict accuracy {run} {runs} --qrels {qrels} --method sakai-lin --level cells --info {groups} --by group",
    "predict difficulty {run} {runs} --qrels {qrels} --method sakai-lin --quarters --order true",
    "predict agreement {run} {runs} --method sakai-lin --method emap",
    "predict ease {matrix} {scores} -m AP",
    "predict calibration {run} {runs} --qrels {qrels}",
    "predict reweight {run} {runs} --qrels {qrels} --rounds 1 --save {out}/judged.txt",
    "predict inject {run} {runs} --qrels {qrels} --method sakai-lin --sizes 2 --repetitions 2",
    "pool make {run} {runs} --info {groups} --by group --save {out}/pool.txt",
    "pool contributions {run} {runs} --qrels {qrels} --info {groups} --by group",
    "pool sample {run} {runs} --qrels {qrels} --save {out}/sample.txt",
    "pool confidence {run} {runs} --journal {journal}",
    "pool next {run} {runs} --journal {journal}",
    "pool curve {run} {runs} --qrels {qrels} --budgets 2 --order depth --order mtc",
    "pool bias {run} {runs} --qrels {qrels} --info {groups} --by group",
    "pool adjust {run} {runs} --qrels {qrels} --run b --common '1 2'",
    "pool widths {run} {runs} --qrels {qrels} --widths 2 --samples 2",
    "pool accuracy {run} {runs} --qrels {qrels} --widths 2 --common 2 --samples 2 --topic-samples 2",
    "crowd aggregate {labels} --scale 4 --qrels {out}/crowd.txt",
    "crowd aggregate {labels} --scale 4 --method dawid-skene --reference {qrels}",
    "crowd check {labels} --scale 4 --reference {qrels} --accepted {out}/ok.csv --rejected {out}/no.csv",
    "crowd compare {labels} --by worker --scale 4",
    "crowd allocate {labels} --scale 4 --run {run} --run {one run} -m DCG@5",
    "crowd allocate {labels} --scale 4 --made-runs 3 --reference {qrels} --replay --repeats 2",
    "crowd cuts {labels} --scale 4 --way Tw_alpha --halves 4 --cut 1 --run {run} --run {one run}",
    "crowd cut-groups {labels} --scale 4 --levels 3 --size 1 --reference {qrels}",
    "crowd cuts-by-tau {labels} --scale 4 --way Tw_alpha --run {run} --run {one run} --reference {qrels}",
    "crowd effort {labels} --scale 4 --reference {qrels} --repeats 2",
    "crowd preferences {preferences}",
    "crowd profile {labels} --scale 4 --reference {qrels}",
    "crowd tasks {qrels} --to {out}/tasks.csv --gold {qrels} --gold-docs 2 --workers 2",
    "judge audit --human {qrels} --machine {labels} {run} {runs} -B 20 --show summary",
    "judge audit --human {qrels} --machine {labels} --humans {labels} -B 20 --show agreement",
    "judge estimate --human {few scores} --machine {matrix}",
    "judge estimate --human {few qrels} --machine {labels} {run} {runs} --judge w0 --method tuned",
    "judge docs --human {sampled qrels} --machine {labels} {run} {runs} --judge w0 -m nDCG@5",
    "judge prevalence --human {few qrels} --machine {qrels}",
    "judge fill --human {few qrels} --machine {labels} {run} --judge w0 --draws 2",
    "judge coverage --human {qrels} --machine {labels} {run} {runs} --topics 4 --others 4 --samples 3",
    "plan labels --human {qrels} --machine {labels} {run} {runs} --judge w0 --width .5",
    "pool next {run} {runs} --order label-variance --labels {labels} --judge-name w0",
    "crowd tasks {qrels} --to {out}/tasks.csv --html {out}/pages --topics {topics} --texts {texts} "
    "--questions {questions} --docs 4 --workers 1",
    "crowd answers {crowd answers} --tasks {tasks} --questions {questions} --labels {out}/labels.csv "
    "--open {out}/open.csv",
    "crowd transform {labels} --scale 4 --run {run} --run {one run} --reference {qrels}",
    "study concordance {scores} --pair AP,P@10 --gold RR",
    "study discriminative {scores} --test randomisation -B 20",
    "study incompleteness {run} {runs} --qrels {qrels} --shares '1 .5' --draws 2 -m 'AP bpref'",
    "study measure-tau {scores}",
    "study predictivity {scores} --splits 5",
    "study swaps {scores} --sizes 2 --draws 5",
    "study entropy {run} {runs} --qrels {qrels} -m 'AP P@5' --depth 10",
    "study votes {scores} --votes {votes}",
    "study similarity {run} {runs} --qrels {qrels} --info {groups} --by group",
    "study exchange {run} {runs} --qrels {qrels}",
    "study reusability {run} {runs} --qrels {qrels} --info {groups} --by group",
    "report --qrels {qrels} {run} {runs} -o {out}/report.html",
    "report {scores} -o {out}/report.html",
    "report --labels {labels} --scale 4 -o {out}/report.html",
    "study survey {published}",
]
"""What is called; {kind} is a file of that kind, {runs} are five good runs, {out} is a folder for what is written."""
WITHOUT_FILES = {
    "help",
    "demo",
    "measures",
    "plan curve",
    "plan power",
    "crowd methods",
    "study rbo-and-ap",
    "similarity list",
    "predict methods",
    "replicate coverage",
}
ANSWERS = {"check": (0, 1), "gate": (0, 1, 3)}
"""Exit codes of the commands that answer with one."""
IN_FOLDERS = {"standardize trend", "study methods", "predict learn", "predict compare", "predict transfer"}
IN_FOLDERS |= {"similarity days"}
"""Commands that read files by naming several in one option; each reads as other commands do."""


@dataclass(frozen=True)
class Outcome:
    """What a call did: its exit code, what it wrote, and whether it fell over or warned."""

    code: object
    out: str
    err: str
    fell_over: str | None
    warned: list[str]


def call(arguments: list[str]) -> Outcome:
    """Run a command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code: object = 0
    fell_over = None
    with (
        mock.patch.object(sys, "argv", ["assay", *arguments]),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO())),
        mock.patch("atexit.register"),
        mock.patch("gc.set_threshold"),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        except BaseException:
            fell_over = traceback.format_exc()
    return Outcome(code, _said(out), _said(err), fell_over, [f"{w.filename}:{w.lineno}: {w.message}" for w in caught])


def _said(stream: io.TextIOWrapper) -> str:
    """What was written to a stream."""
    stream.seek(0)
    return stream.read()


def problem_with(outcome: Outcome, arguments: list[str], written: Path) -> str | None:
    """What breaks the law: an answer, or exit 2 with one line on standard error and nothing written."""
    if outcome.fell_over:
        return outcome.fell_over
    if outcome.warned:
        return f"warned: {outcome.warned[0]}"
    if "Traceback" in outcome.err or "Warning" in outcome.err:
        return outcome.err
    may = ANSWERS.get(arguments[0], (0,))
    if outcome.code in may:
        return None
    if outcome.code != 2:
        return f"exit code {outcome.code}"
    if outcome.err.count("\n") != 1 or len(outcome.err.splitlines()) != 1:
        return f"{outcome.err.count(chr(10))} lines on standard error: {outcome.err[:300]!r}"
    if outcome.out:
        return f"it failed, and wrote {outcome.out[:100]!r}"
    left = sorted(str(p.relative_to(written)) for p in written.rglob("*"))
    return f"it failed, and left {left}" if left else None


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> list[str]:
    """The names of all commands that are no groups."""
    if not isinstance(command, click.Group):
        return [" ".join(path)]
    context = click.Context(command)
    found = []
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        found += leaves(inner, (*path, name))
    return found


def every_command() -> list[str]:
    """The names of all commands."""
    return leaves(cli)


def on_a_store(command: str) -> bool:
    """Whether a command works on a store, which one call fills and another reads: `tests/cli/test_store.py` does."""
    return command.split()[0] in ("store", "serve", "site")


def named(template: str) -> str:
    """The command that a call names, or that runs where it names none of a group."""
    words, command, path = template.split(), cast(click.Command, cli), list[str]()
    while isinstance(command, click.Group):
        context = click.Context(command)
        name = words.pop(0) if words[0] in command.list_commands(context) else getattr(command, "default", None)
        inner = None if name is None else command.get_command(context, name)
        assert inner is not None, template
        path.append(str(name))
        command = inner
    return " ".join(path)
