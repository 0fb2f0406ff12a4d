"""Tables of operations with our counts, and the claims on them."""

import re
from collections.abc import Mapping

from dynamics import papers
from rig.papers.claims import Between, Claim, Mended, Near, Range
from rig.papers.study import Numbers, Sheet

JOINTS = 6
ROUNDING = 1e-11
"""Relative tolerance of equivalent formulations."""
EQUAL = (1e-12, 1e-6)
"""What may count as equal."""
TOLERANCES = (0.05, 0.1)
"""Of a printed count: how its terms are programmed is not printed, and moves it by up to 5 %."""
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


def counts(name: str) -> tuple[int, int]:
    """Return the counted multiplications and additions at six joints of the terms that a printed table has."""
    multiplications, additions = papers.printed_terms(papers.counted_table(name))
    return multiplications.at(JOINTS), additions.at(JOINTS)


def totals(
    name: str,
    others: Mapping[str, tuple[int, int]] | None = None,
    fitted: str = "",
    mended: tuple[str, tuple[papers.Law, papers.Law]] | None = None,
) -> list[Claim]:
    """Claims on printed totals against counted ones, for the printed terms, multiplications and additions.

    others: counts at six joints if the terms are programmed otherwise, by how; fitted: why the claims are not counted.
    mended: of a paper that prints its program, so that the counts are exact: the mend, and the totals with it.
    """
    source = papers.counted_table(name)
    total = source.rows[-1].published
    if total is None:
        return []
    number, here = _label(name)
    programmed = {"as counted": counts(name)} | dict(others or {})
    found = []
    for index, kind in enumerate(KINDS):
        results = tuple(float(pair[index]) for pair in programmed.values())
        rows = [row for row in source.rows[:-1] if row.published is not None]
        gaps = [row for row in rows if row.counted[index].at(JOINTS) != _printed(row, index)]
        found.append(
            Claim(
                f"{name.replace(' table ', '-').replace(' ', '-')}-{kind}",
                f"Table {number}, {source.title}: {kind} for six joints",
                f"table {number}",
                Near(total[index].at(JOINTS), 0.0 if mended else TOLERANCES[1]),
                results[0],
                measure=f"counted, of the terms in the print{', by the steps that it prints' if mended else ''}",
                why=f"other rows: {', '.join(row.term for row in gaps)}" if gaps else "row by row the same",
                apart=fitted or ("the algorithm used here, not the one that the table counts" if here else ""),
                thresholds=() if mended else TOLERANCES,
                mended=Mended(mended[0], results[0], Near(mended[1][index].at(JOINTS), 0.0)) if mended else None,
                ranges=(Range("program", tuple(programmed), results, "as counted"),) if others else (),
            )
        )
    return found


def _printed(row: papers.OperationRow, index: int) -> int:
    return 0 if row.published is None else row.published[index].at(JOINTS)


def order(name: str, printed: int, what: str, source: str, others: Mapping[str, str] | None = None) -> Claim:
    """Claim on the highest power of n of a counted total; others: tables of its other programs, by how they differ."""
    names = {"as counted": name} | dict(others or {})
    orders = tuple(float(papers.counted_order(one)) for one in names.values())
    return Claim(
        f"{name.replace(' ', '-')}-order",
        what,
        source,
        Near(printed, 0.0),
        orders[0],
        measure=f"order of the polynomial in n through the counts at {papers.SAMPLES[0]} to {papers.BEYOND[-1]} joints",
        ranges=(Range("program", tuple(names), orders, "as counted"),) if others else (),
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
        words="equivalent",
        apart="two forms of one thing, both as mended here: they cannot but agree",
    )
