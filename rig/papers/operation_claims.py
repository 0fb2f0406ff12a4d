"""Tables of operations beside the counts here: how they are shown, and what is claimed of them."""

import re

from dynamics import Law, OperationRow, OperationTable, operation_tables
from rig.papers.claims import Between, Claim, Near
from rig.papers.study import Numbers, Sheet

JOINTS = 6
_ROUNDING = 1e-11  # relative, that equivalent formulations may differ by
_PAPERS = {"000": "Lee et al. 1982", "001": "Turney et al. 1980", "002": "the paper"}
KINDS = ("multiplications", "additions")


def spelt(reason: str) -> str:
    """A reason with the papers' names in place of their numbers."""
    return re.sub(r"\b00[012]\b", lambda match: _PAPERS[match.group()], reason)


def signed(difference: int) -> str:
    """A difference of counts."""
    return f"{difference:+d}".replace("-", "−") if difference else "0"


def table(name: str) -> OperationTable:
    """One of `operation_tables`, by name."""
    return next(table for table in operation_tables() if table.name == name)


def sheet(name: str) -> Sheet:
    """A table for a page: laws printed and counted, values at six joints, difference and reason."""
    source = table(name)
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
    return Sheet(
        f"Table {name[-1]}: {source.title}",
        f"Numbers at n = {JOINTS} joints, and their laws; revolute joints, numbers in general position. A row with a "
        "dash is not in the print.",
        ("Term", "Multiplications, published", "counted", "difference", "Additions, published", "counted",
         "difference", "Why"),
        tuple(shown),
        Numbers(f"table-{name[-1]}", tuple(records[0]), tuple(tuple(record.values()) for record in records)),
    )  # fmt: skip


def _cell(law: Law) -> str:
    value = str(law.at(JOINTS))
    return f"{value}\n{law}" if law.order else value


def sums(name: str) -> list[Claim]:
    """That a printed table's rows add up to its printed total."""
    source = table(name)
    total = source.rows[-1].published
    found = []
    for index, kind in enumerate(KINDS):
        printed = [row.published[index] for row in source.rows[:-1] if row.published is not None]
        if total is None:
            continue
        found.append(
            Claim(
                f"{name.split()[-1]}-sum-{kind}",
                f"Table {name[-1]}: the rows add up to the printed total of {kind}, {total[index]}",
                f"table {name[-1]}",
                Near(total[index].at(JOINTS), 0.0),
                float(sum(entry.at(JOINTS) for entry in printed)),
                measure=f"sum of the printed rows at n = {JOINTS}",
            )
        )
    return found


def totals(name: str, share: float = 0.1) -> list[Claim]:
    """Printed totals beside counted ones, of the terms that the print has, multiplications and additions."""
    source = table(name)
    total = source.rows[-1]
    if total.published is None:
        return []
    rows = [row for row in source.rows[:-1] if row.published is not None]
    found = []
    for index, kind in enumerate(KINDS):
        counted = float(sum(row.counted[index].at(JOINTS) for row in rows))
        gaps = sorted(rows, key=lambda row: -abs(row.counted[index].at(JOINTS) - _printed(row, index)))
        gap = gaps[0].counted[index].at(JOINTS) - _printed(gaps[0], index)
        found.append(
            Claim(
                f"{name.split()[0]}-{name[-1]}-{kind}",
                f"{source.title}: {kind} for six joints",
                f"table {name[-1]}",
                Near(total.published[index].at(JOINTS), share),
                counted,
                measure=f"counted, of the terms in the print; in all {total.counted[index]}",
                why=f"{total.reason}. Most of the difference: {gaps[0].term} ({signed(gap)}), {spelt(gaps[0].reason)}",
            )
        )
    return found


def _printed(row: OperationRow, index: int) -> int:
    return 0 if row.published is None else row.published[index].at(JOINTS)


def order(name: str, printed: int, what: str, source: str) -> Claim:
    """The highest power of n of a counted total."""
    total = table(name).rows[-1].counted
    return Claim(
        f"{name.replace(' ', '-')}-order",
        what,
        source,
        Near(printed, 0.0),
        float(max(law.order for law in total)),
        measure="highest power of n in what is counted at 2 to 6 joints",
    )


def agreement(key: str, statement: str, source: str, error: float, measure: str) -> Claim:
    """That two ways of computing the same agree to rounding."""
    return Claim(key, statement, source, Between(None, _ROUNDING), error, measure=measure)
