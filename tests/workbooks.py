"""Workbooks for tests, made of the few parts that the formats prescribe: Office Open XML and OpenDocument."""

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OPEN = "urn:oasis:names:tc:opendocument:xmlns"
_ODS = "application/vnd.oasis.opendocument.spreadsheet"


def write_xlsx(path: Path, sheets: dict[str, list[list[object]]], merged: str = "") -> None:
    """Write sheets of rows of text, numbers and None; merged: a range such as B1:C1, merged in each sheet."""
    names = list(sheets)
    kinds = (
        'rels ContentType="application/vnd.openxmlformats-package.relationships+xml"',
        'xml ContentType="a/xml"',
    )
    types = "".join(f'<Default Extension="{kind}/>' for kind in kinds)
    listed = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in enumerate(names, 1))
    targets = "".join(
        f'<Relationship Id="r{i}" Type="{_RELATIONS}/worksheet" Target="worksheets/{i}.xml"/>'
        for i in range(1, len(names) + 1)
    )
    office = f'<Relationship Id="r1" Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{office}</Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{targets}</Relationships>',
    }
    for number, rows in enumerate(sheets.values(), start=1):
        data = "".join(
            f'<row r="{r}">{"".join(_xlsx_cell(cell, f"{chr(64 + c)}{r}") for c, cell in enumerate(row, 1))}</row>'
            for r, row in enumerate(rows, 1)
        )
        merge = f'<mergeCells count="1"><mergeCell ref="{merged}"/></mergeCells>' if merged else ""
        parts[f"xl/worksheets/{number}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{data}</sheetData>{merge}</worksheet>'
        )
    _write(path, parts)


def _xlsx_cell(cell: object, place: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    return f'<c r="{place}"><v>{cell!r}</v></c>'


def write_ods(path: Path, sheets: dict[str, list[list[object]]]) -> None:
    """Write sheets of rows of text, numbers and None."""
    tables = "".join(
        f'<t:table t:name="{name}">'
        + "".join(f"<t:table-row>{''.join(map(_ods_cell, row))}</t:table-row>" for row in rows)
        + "</t:table>"
        for name, rows in sheets.items()
    )
    spaces = f'xmlns:o="{_OPEN}:office:1.0" xmlns:t="{_OPEN}:table:1.0" xmlns:x="{_OPEN}:text:1.0"'
    # Prefixes are the usual ones, since not every reader resolves others.
    text = f"<o:document-content {spaces}><o:body><o:spreadsheet>{tables}</o:spreadsheet></o:body></o:document-content>"
    for short, usual in (("o:", "office:"), ("t:", "table:"), ("x:", "text:")):
        text = text.replace(f"<{short}", f"<{usual}").replace(f"</{short}", f"</{usual}")
        text = text.replace(f" {short}", f" {usual}").replace(f"xmlns:{short[0]}=", f"xmlns:{usual[:-1]}=")
    manifest = f'<manifest:manifest xmlns:manifest="{_OPEN}:manifest:1.0"/>'
    _write(path, {"mimetype": _ODS, "META-INF/manifest.xml": manifest, "content.xml": text})


def _ods_cell(cell: object) -> str:
    if cell is None:
        return "<t:table-cell/>"
    if isinstance(cell, str):
        return f'<t:table-cell o:value-type="string"><x:p>{escape(cell)}</x:p></t:table-cell>'
    return f'<t:table-cell o:value-type="float" o:value="{cell!r}"><x:p>{cell}</x:p></t:table-cell>'


def _write(path: Path, parts: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
