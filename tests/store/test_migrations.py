"""A store of every earlier revision becomes one of the newest, with all that is in it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import assay.store
from assay.core.errors import UsageError
from assay.data import Run
from assay.store import Store
from assay.store.database import Database
from assay.store.schema import HEAD, TABLES, judgments, machine_labels, machine_seen, sa, tallies
from assay.store.tallies import Counts
from tests.store.conftest import BACKENDS

SCRIPTS = ScriptDirectory(str(Path(assay.store.__file__).parent / "migrations"))
REVISIONS = [script.revision for script in SCRIPTS.walk_revisions()][::-1]


def database_of(where: str) -> Database:
    if "://" in where:
        return Database(where)
    Path(where).mkdir()
    return Database(f"sqlite:///{where}/store.db")


def test_the_newest_revision_is_the_one_that_the_code_knows() -> None:
    assert REVISIONS[-1] == HEAD
    assert len(REVISIONS) >= 2


def test_the_migrations_make_the_tables_of_the_code(store: Store) -> None:
    with store.database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, TABLES) == []


@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_a_store_of_an_earlier_revision_is_brought_up_with_its_content(
    address: tuple[str, Path], revision: str
) -> None:
    where, files = address
    old = database_of(where)
    old.upgrade(revision)
    with old.writing() as connection:
        connection.execute(
            sa.text("INSERT INTO collections (name, title, description, measure, lookup, made)"
                    " VALUES ('pets', 'Pets', '', 'AP', '', 1.5)")
        )  # fmt: skip
    assert old.revision() == revision
    old.close()
    with Store(where, files=files) as store:
        assert store.database.revision() == HEAD
        assert store.collections["pets"].title == "Pets"
        store.runs.add("pets", Run.from_lists("a", {"1": ["x"]}))
        store.people.add("ann")
        campaign = store.campaigns.add("c", "pets")
        (asked,) = campaign.next("ann")
        campaign.judge("ann", asked.item, 1)
        assert store.check().errors == 0


# A campaign as revision 0002 kept it: one doc, which ann judged twice.
CAMPAIGN_OF_0002 = """
INSERT INTO collections (name, title, description, measure, lookup, made) VALUES ('pets', '', '', 'AP', '', 1);
INSERT INTO people (name, role, made) VALUES ('ann', 'assessor', 1);
INSERT INTO campaigns (name, collection_id, plan, is_open, made)
 VALUES ('c', 1, '{"order": null, "labels": 1}', :yes, 1);
INSERT INTO items (campaign_id, place, topic, doc, other, gold, answers) VALUES (1, 0, '1', 'x', '', NULL, 1);
INSERT INTO judgments (id, campaign_id, item_id, person_id, kind, label, reason, takes_back, counted, made)
 VALUES ('first', 1, 1, 1, 'label', 2, '', NULL, :yes, 1);
INSERT INTO judgments (id, campaign_id, item_id, person_id, kind, label, reason, takes_back, counted, made)
 VALUES ('second', 1, 1, 1, 'label', 3, '', 'first', :yes, 2);
INSERT INTO answers (item_id, person_id, campaign_id, judgment, label, counted) VALUES (1, 1, 1, 2, 3, :yes);
"""


def test_judgments_of_revision_0002_stay_as_first_looks(address: tuple[str, Path]) -> None:
    where, files = address
    old = database_of(where)
    old.upgrade("0002")
    with old.writing() as connection:
        for statement in filter(str.strip, CAMPAIGN_OF_0002.split(";")):
            connection.execute(sa.text(statement.replace(":yes", "true")))
    old.close()
    with Store(where, files=files) as store:
        assert store.database.revision() == HEAD
        with store.database.reading() as connection:
            log = connection.execute(sa.select(judgments).order_by(judgments.c.number)).all()
            assert [(row.id, row.label, row.second_look) for row in log] == [("first", 2, False), ("second", 3, False)]
            assert connection.execute(sa.select(machine_labels)).all() == []
            assert connection.execute(sa.select(machine_seen)).all() == []
        assert store.campaigns["c"].labels().to_dict()["label"] == [3.0]
        assert store.check().errors == 0


# A campaign as revision 0004 kept it: two labels for each of two docs, and a gold doc. Ann judged all of it, Ben one
# doc; Ann took one judgment back and skipped that doc.
CAMPAIGN_OF_0004 = """
INSERT INTO collections (name, title, description, measure, lookup, made) VALUES ('pets', '', '', 'AP', '', 1);
INSERT INTO people (name, role, made) VALUES ('ann', 'assessor', 1);
INSERT INTO people (name, role, made) VALUES ('ben', 'assessor', 1);
INSERT INTO campaigns (name, collection_id, plan, is_open, made)
 VALUES ('c', 1, '{"order": null, "labels": 2}', :yes, 1);
INSERT INTO items (campaign_id, place, topic, doc, other, gold, answers) VALUES (1, 0, '1', 'x', '', NULL, 2);
INSERT INTO items (campaign_id, place, topic, doc, other, gold, answers) VALUES (1, 1, '1', 'y', '', NULL, 0);
INSERT INTO items (campaign_id, place, topic, doc, other, gold, answers) VALUES (1, 2, '1', 'g', '', 1, 1);
INSERT INTO judgments (id, campaign_id, item_id, person_id, kind, label, reason, takes_back, counted, made)
 VALUES ('a', 1, 1, 1, 'label', 2, '', NULL, :yes, 1);
INSERT INTO judgments (id, campaign_id, item_id, person_id, kind, label, reason, takes_back, counted, made)
 VALUES ('b', 1, 3, 1, 'label', 1, '', NULL, :yes, 2);
INSERT INTO judgments (id, campaign_id, item_id, person_id, kind, label, reason, takes_back, counted, made)
 VALUES ('c', 1, 2, 1, 'label', 1, '', NULL, :yes, 3);
INSERT INTO judgments (id, campaign_id, item_id, person_id, kind, label, reason, takes_back, counted, made)
 VALUES ('d', 1, 2, 1, 'undo', NULL, '', 'c', :no, 4);
INSERT INTO judgments (id, campaign_id, item_id, person_id, kind, label, reason, takes_back, counted, made)
 VALUES ('e', 1, 2, 1, 'skip', NULL, '', NULL, :no, 5);
INSERT INTO judgments (id, campaign_id, item_id, person_id, kind, label, reason, takes_back, counted, made)
 VALUES ('f', 1, 1, 2, 'label', 0, '', NULL, :yes, 6);
INSERT INTO answers (item_id, person_id, campaign_id, judgment, label, counted) VALUES (1, 1, 1, 1, 2, :yes);
INSERT INTO answers (item_id, person_id, campaign_id, judgment, label, counted) VALUES (3, 1, 1, 2, 1, :yes);
INSERT INTO answers (item_id, person_id, campaign_id, judgment, label, counted) VALUES (1, 2, 1, 6, 0, :yes);
"""


def test_what_people_did_before_revision_0005_is_counted(address: tuple[str, Path]) -> None:
    where, files = address
    old = database_of(where)
    old.upgrade("0004")
    with old.writing() as connection:
        for statement in filter(str.strip, CAMPAIGN_OF_0004.split(";")):
            connection.execute(sa.text(statement.replace(":yes", "true").replace(":no", "false")))
    old.close()
    with Store(where, files=files) as store:
        with store.database.reading() as connection:
            counted = connection.execute(sa.select(tallies).order_by(tallies.c.person_id)).all()
        assert [tuple(row) for row in counted] == [(1, 1, 5, 2, 2, 1, 0), (1, 2, 1, 1, 1, 1, 1)]
        assert store.campaigns["c"].counts("ann") == Counts(docs=2, done=1, left=2, mine=2)
        assert [asked.doc for asked in store.campaigns["c"].next("ann", 5)] == ["y"]
        assert store.check().errors == 0


def test_a_store_of_a_newer_version_is_refused(address: tuple[str, Path]) -> None:
    where, files = address
    with Store(where, files=files) as store, store.database.writing() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(UsageError, match=r"revision 9999 of the schema.*install a newer assay"):
        Store(where, files=files)


@pytest.mark.parametrize("backend", BACKENDS)
def test_many_may_make_one_store_at_once(backend: str, new_database: Callable[[str], tuple[str, Path]]) -> None:
    where, files = new_database(backend)
    ids: list[str] = []

    def open_one() -> None:
        with Store(where, files=files) as store:
            ids.append(store.facts()["id"])

    threads = [threading.Thread(target=open_one) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 6
    assert len(set(ids)) == 1
