"""Tables of texts."""

from pyqtgraph.Qt import QtCore, QtWidgets


def plain_table(name: str) -> QtWidgets.QTableWidget:
    """An empty table that nobody edits, by its accessible name."""
    table = QtWidgets.QTableWidget(0, 0)
    table.setAccessibleName(name)
    table.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setAlternatingRowColors(True)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(24)
    return table


def fill_table(table: QtWidgets.QTableWidget, header: list[str], rows: list[list[str]], to_the_right: range) -> None:
    """Show a header and rows of texts; the columns `to_the_right` are numbers."""
    table.setColumnCount(len(header))
    table.setHorizontalHeaderLabels(header)
    table.setRowCount(len(rows))
    right = QtCore.Qt.AlignmentFlag.AlignRight | QtCore.Qt.AlignmentFlag.AlignVCenter
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            item = QtWidgets.QTableWidgetItem(text)
            if column in to_the_right:
                item.setTextAlignment(right)
            table.setItem(row, column, item)
    table.resizeColumnsToContents()
