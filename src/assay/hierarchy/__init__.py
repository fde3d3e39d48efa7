"""What if topics come in groups? Variants of one query, and turns of one conversation.

Topics of a group are not independent: a test that counts each of them as a topic finds too much. Here groups are read
from topic ids such as `7/2` or `31_4`, and scores become one number for each group, or keep both levels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.hierarchy.conversations import compare_conversations
    from assay.hierarchy.groups_of_ids import TopicGroups, by_group, topic_groups
    from assay.hierarchy.variants import query_variants

_HOMES = {
    "TopicGroups": "groups_of_ids",
    "by_group": "groups_of_ids",
    "compare_conversations": "conversations",
    "query_variants": "variants",
    "topic_groups": "groups_of_ids",
}
__all__ = ["TopicGroups", "by_group", "compare_conversations", "query_variants", "topic_groups"]
__getattr__ = loader(__name__, _HOMES)
