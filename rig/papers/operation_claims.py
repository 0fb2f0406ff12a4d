"""Tables of operations with our counts, and the claims on them."""

import re

from dynamics import papers
from rig.papers.claims import Between, Claim, Near, Threshold
from rig.papers.study import Numbers, Sheet

JOINTS = 6
ROUNDING = 1e-11  # relative tolerance of equivalent formulations
_PAPERS = {"000": "Lee et al. 1982", "001": "Turney et al. 1980", "002": "the paper"}
KINDS = ("multiplications", "additions")


def spelt(reason: str) -> str:
    """Replace the papers' numbers in a reason by their names."""
    return re.sub(r"\b00[012]\b", lambda match: _PAPERS[match.group()], reason)


def signed(difference: int) -> str:
    """Format a difference of counts with its sign."""
    return f"{difference:+d}".replace("-", "−") if difference else "0"


def sheet(name: str) -> Sheet:
    """Make a table for a page: laws printed and counted, values at six joints, difference and reason."""
    source = papers.counted_table(name)
    shown = []
    for row in source.rows:
        cells = [row.term]
        for index in range(2):
            counted = row.counted[index]
            if row.published is None:
                cells += ["–", _cell(counted), "–"]
            else:
                printed = row.published[index]
                gap = counted.at(JOINTS) - printed.at(JOINTS)
                cells += [_cell(printed), _cell(counted), signed(gap)]
        shown.append((*cells, spelt(row.reason)))
    records = [{key: spelt(str(value)) for key, value in record.items()} for record in source.records(JOINTS)]
    number, here = _label(name)
    return Sheet(
        f"Table {number}{', counted of the algorithm used here' if here else ''}: {source.title}",
        f"Numbers at n = {JOINTS} joints, and their laws; revolute joints, numbers in general position. A row with a "
        "dash is not in the print.",
        ("Term", "Multiplications, published", "counted", "difference", "Additions, published", "counted",
         "difference", "Why"),
        tuple(shown),
        Numbers(
            f"table-{number}{'-here' if here else ''}",
            tuple(records[0]),
            tuple(tuple(record.values()) for record in records),
        ),
    )  # fmt: skip


def _label(name: str) -> tuple[str, bool]:
    """Return a table's number, and whether it counts the algorithm used here instead of the printed one."""
    return name.split(" table ")[1][0], name.endswith("here")


def _cell(law: papers.Law) -> str:
    value = str(law.at(JOINTS))
    return f"{value}\n{law}" if law.order else value


def sums(name: str) -> list[Claim]:
    """Claims that a printed table's rows add up to its printed total."""
    source = papers.counted_table(name)
    total = source.rows[-1].published
    if total is None:
        return []
    number, _ = _label(name)
    return [
        Claim(
            f"{number}-sum-{kind}",
            f"Table {number}: the rows add up to the printed total of {kind}, {total[index]}",
            f"table {number}",
            Near(total[index].at(JOINTS), 0.0),
            float(sum(row.published[index].at(JOINTS) for row in source.rows[:-1] if row.published is not None)),
            measure=f"sum of the printed rows at n = {JOINTS}",
            apart="arithmetic on printed numbers",
        )
        for index, kind in enumerate(KINDS)
    ]


def totals(name: str, share: float = 0.1) -> list[Claim]:
    """Claims on printed totals against counted ones, for the printed terms, multiplications and additions."""
    source = papers.counted_table(name)
    total = source.rows[-1]
    if total.published is None:
        return []
    rows = [row for row in source.rows[:-1] if row.published is not None]
    number, here = _label(name)
    found = []
    for index, kind in enumerate(KINDS):
        gaps = sorted(rows, key=lambda row: -abs(row.counted[index].at(JOINTS) - _printed(row, index)))
        gap = gaps[0].counted[index].at(JOINTS) - _printed(gaps[0], index)
        most = f" Most of the difference: {gaps[0].term} ({signed(gap)}), {spelt(gaps[0].reason)}" if gap else ""
        found.append(
            Claim(
                f"{name.replace(' table ', '-').replace(' ', '-')}-{kind}",
                f"Table {number}, {source.title}: {kind} for six joints",
                f"table {number}",
                Near(total.published[index].at(JOINTS), share),
                float(sum(row.counted[index].at(JOINTS) for row in rows)),
                measure=f"counted, of the terms in the print; in all {total.counted[index]}",
                why=f"{total.reason}.{most}",
                threshold=Threshold.OURS,
                apart="the algorithm used here, not the one that the table counts" if here else "",
            )
        )
    return found


def _printed(row: papers.OperationRow, index: int) -> int:
    return 0 if row.published is None else row.published[index].at(JOINTS)


def order(name: str, printed: int, what: str, source: str) -> Claim:
    """Claim on the highest power of n of a counted total."""
    return Claim(
        f"{name.replace(' ', '-')}-order",
        what,
        source,
        Near(printed, 0.0),
        float(papers.counted_order(name)),
        measure=f"order of the polynomial in n through the counts at {papers.SAMPLES[0]} to {papers.BEYOND[-1]} joints"
        f"; the laws are fitted to {papers.SAMPLES[0]} to {papers.SAMPLES[-1]}",
    )


def agreement(key: str, statement: str, source: str, error: float, measure: str) -> Claim:
    """Claim that two formulations, equivalent on paper, agree to rounding."""
    return Claim(
        key,
        statement,
        source,
        Between(None, ROUNDING),
        error,
        measure=measure,
        threshold=Threshold.OURS,
        apart="two forms of one thing, both as mended here: they cannot but agree",
    )
