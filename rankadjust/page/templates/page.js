// The page's own script: the address (1), switches and tables (2), the calculator (3), where figures are drawn (4).
// Everything else is a library's.
// Names and texts come from other people's files: they are put into the page as text, never as HTML.
"use strict";

// ---------------------------------------------------------------------------------------------------------------------
// (1) The address: after # stands what is shown, as in a query (#view=leaderboard&dataset=FB15k-237), or a section's id.

const address = {
  /** Return what the address says, as an object of strings; a bare section's id is {view: id}. */
  read(hash = location.hash) {
    const text = hash.replace(/^#/, "");
    if (text !== "" && !text.includes("=")) {
      return { view: text };
    }
    return Object.fromEntries(new URLSearchParams(text));
  },

  /** Return all values that the address gives under a name, which may stand there several times. */
  readAll(name) {
    return new URLSearchParams(location.hash.replace(/^#/, "")).getAll(name);
  },

  /** Return the address of a state: of an array each value stands by itself, and empty values are left out. */
  write(state) {
    const all = Object.entries(state).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
    const given = all.filter(([, value]) => value !== undefined && value !== null && value !== "");
    return `#${new URLSearchParams(given)}`;
  },
};

/** Return the data that the page holds under an id, null where it has none. */
function pageData(id) {
  const element = document.getElementById(id);
  return element === null ? null : JSON.parse(element.textContent);
}

// ---------------------------------------------------------------------------------------------------------------------
// (2) Switches and tables.

/** Return an element with a class and children; what is not a node is put in as text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Return text as HTML that says it: what DataTables sorts and searches by, it takes for HTML and puts into an element. */
function escaped(text) {
  return String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Return what a cell of text gives DataTables: an element to be shown, escaped text for all else. */
function textCell(text, type) {
  return type === "display" ? element("bdi", {}, text) : escaped(text);
}

/** Return what itables has put into the page, when it is there: DataTables and jQuery. */
async function dataTables() {
  const name = Object.keys(window).find((key) => key.startsWith("_itables_") && window[key] instanceof Promise);
  const bundle = await window[name];
  bundle.set_or_remove_dark_class();
  return bundle;
}

// Results that are printed on paper at once.
const LONGEST_PRINT = 500;

/** The evaluation of a result, and what else a switch chooses. Only the first four say which results compare. */
const EVALUATION = ["dataset", "protocol", "split", "side"];
const SWITCHES = [...EVALUATION, "source", "year", "status"];

/** Return the values of a result under a switch: one, but several of its status. */
function switched(row, name) {
  return name === "status" ? row.status : [row[name]];
}

/** Return whether a result has what the switches say, each a list of which one is enough; `except` does not count. */
function isChosen(row, state, except = null) {
  const isAmong = (name) => switched(row, name).some((value) => state[name].includes(value));
  return SWITCHES.every((name) => name === except || state[name].length === 0 || isAmong(name));
}

/** Return a number as people read it. */
function numberText(value, shown) {
  if (value === undefined) {
    return "";
  }
  if (shown === "z") {
    return value.toFixed(Math.abs(value) < 100 ? 1 : 0);
  }
  return Math.abs(value) >= 10 ? String(Number(value.toPrecision(5))) : value.toFixed(4);
}

/** Return the text of a value and of its interval. */
function valueTexts(cell, shown) {
  const number = shown === "printed" ? cell.printed : numberText(cell[shown], shown);
  const [low, high] = shown === "printed" ? [cell.low, cell.high] : [cell.index_low, cell.index_high];
  const ends = shown === "z" || low === undefined ? [] : [numberText(low, shown), numberText(high, shown)];
  return [number, ends[0] === ends[1] ? "" : `${ends[0]} to ${ends[1]}`];
}

/** Return the number by which a value is sorted and filtered. */
function valueNumber(cell, shown) {
  // null and not undefined, of which DataTables complains.
  return cell === undefined ? null : (cell[shown === "printed" ? "value" : shown] ?? null);
}

/** Return the table of all that is known of a result: its notes, and each metric as printed and adjusted. */
function details(row, metrics) {
  const notes = element("ul", {}, ...row.notes.map((note) => element("li", {}, element("b", {}, note.kind), ` ${note.text}`)));
  const heads = ["Metric", "printed", "by chance", "index", "index, rounding", "z"];
  const lines = metrics.filter(({ key }) => row.values[key] !== undefined).map(({ key, label }) => {
    const cell = row.values[key];
    const texts = [cell.printed, numberText(cell.expectation), ...valueTexts(cell, "index"), numberText(cell.z, "z")];
    return element("tr", {}, element("th", { scope: "row" }, label), ...texts.map((text) => element("td", {}, text)));
  });
  const table = element(
    "table", { class: "plain" },
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
    element("tbody", {}, ...lines),
  );
  return element("div", { class: "details" }, notes, table, element("p", {}, "Source: ", sourceLink(row, row.source)));
}

/** Return a link to where a result is printed, or its text where there is no address. */
function sourceLink(row, text) {
  return row.url === null ? element("bdi", {}, text) : element("a", { href: row.url, rel: "noopener noreferrer" }, text);
}

/** Return the lines of the CSV file: every column that is shown, those that a switch holds fixed, and intervals. */
function exported(rows, metrics, shown) {
  const header = ["model", ...EVALUATION];
  metrics.forEach(({ label }) => header.push(`${label} (${shown})`, ...(shown === "z" ? [] : [`${label} low`, `${label} high`])));
  header.push("status", "notes", "year", "source", "address");
  const body = rows.map((row) => [
    row.model, ...EVALUATION.map((name) => row[name]),
    ...metrics.flatMap(({ key }) => exportedValues(row.values[key] ?? {}, shown)),
    row.status.join(", "), row.notes.map((note) => note.text).join("; "), row.year, row.source, row.url ?? "",
  ].map((value) => (value === undefined ? "" : exportedText(value))));
  return { header, body };
}

function exportedValues(cell, shown) {
  if (shown === "z") {
    return [cell.z];
  }
  return shown === "index" ? [cell.index, cell.index_low, cell.index_high] : [cell.printed, cell.low, cell.high];
}

// The same rules as in rankadjust/base/spreadsheets.py; tests/data/spreadsheets.json holds both to them.
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
const NO_FORMULA = /^-+$|^[+-]?(?:[0-9][0-9,]*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ ]?%?$/;

/** Return a text of which no spreadsheet makes a formula. */
function exportedText(value) {
  const text = String(value);
  return FORMULA.test(text) && !NO_FORMULA.test(text) ? `'${text}` : text;
}

/** Make the leaderboard: the table, its switches, and the address that says what they are. */
function makeLeaderboard({ default: DataTable, jQuery }, data) {
  const form = document.getElementById("leaderboard-switches");
  const rows = data.rows.map((row) => ({ ...row, status: [...new Set([...row.kinds, ...row.notes.map(({ kind }) => kind)])] }));
  const state = {};
  const labels = { dataset: "Data set", protocol: "Protocol", split: "Split", side: "Side" };
  let isReading = true;

  const model = {
    name: "model", title: "Model", className: "model", columnControl: [["searchText"]], orderSequence: ["asc", "desc"],
    data: (row, type) => textCell(row.model, type),
  };
  const evaluation = EVALUATION.map((name) => ({ name, title: labels[name], data: (row, type) => textCell(row[name], type), searchable: false }));
  const metrics = data.metrics.map(({ key, label, increasing }) => ({
    name: key, title: label, type: "value", className: "value", columnControl: [["searchNumber"]],
    orderSequence: increasing ? ["desc", "asc"] : ["asc", "desc"],
    data: (row, type) => valueCell(row.values[key], type),
  }));
  const others = [
    { name: "year", title: "Year", data: (row, type) => textCell(row.year, type), searchable: false },
    { name: "source", title: "Source", className: "source", searchable: false, data: (row, type) => (type === "display" ? sourceLink(row, row.source) : escaped(row.source)) },
    { name: "own", title: "Own", data: (row) => Number(row.own), visible: false, searchable: false },
    { name: "unranked", title: "Unranked", data: (row) => Number(row.unranked !== ""), visible: false, searchable: false },
  ];
  const notes = { name: "notes", title: "Notes", className: "notes", orderable: false, searchable: false, data: (row, type) => (type === "display" ? notesCell(row) : "") };
  const columns = [model, ...evaluation, ...metrics, notes, ...others];
  const place = Object.fromEntries(columns.map(({ name }, index) => [name, index]));

  function valueCell(cell, type) {
    if (type !== "display") {
      return valueNumber(cell, state.shown);
    }
    if (cell === undefined) {
      return "";
    }
    const [number, interval] = valueTexts(cell, state.shown);
    return element("span", {}, number, state.rounding && interval ? element("small", {}, interval) : null);
  }

  function notesCell(row) {
    const kinds = row.status.filter((kind) => kind !== "adjusted");
    const text = kinds.length === 0 ? "details" : kinds.join(" · ");
    const severe = kinds.includes("contradiction") || kinds.includes("not adjusted") ? " severe" : "";
    const button = element("button", { type: "button", class: `badge${kinds.length ? "" : " plain"}${severe}`, "aria-expanded": "false" }, text);
    return row.unranked === "" ? button : element("div", {}, button, element("small", {}, `not ranked: ${row.unranked}`));
  }

  // What has no number comes last, whichever way the column is sorted.
  const isMissing = (value) => value === undefined || value === null || value === "";
  const lastIfMissing = (sign) => (a, b) => (isMissing(a) || isMissing(b) ? isMissing(a) - isMissing(b) : sign * (a - b));
  DataTable.type("value", { order: { asc: lastIfMissing(1), desc: lastIfMissing(-1) }, className: "value" });

  const given = readState();
  columns.forEach((column) => {
    column.visible = isShown(column.name);
  });
  // Before the first draw, so that there is one only.
  jQuery("#leaderboard-table").on("preInit.dt", (event, settings) => {
    new DataTable.Api(settings).search.fixed("switches", (text, row) => isChosen(row, state) && isFound(row));
  });
  document.getElementById("leaderboard-table").append(
    element("thead", {}, element("tr", {}, ...columns.map(({ title }) => element("th", { scope: "col" }, title)))),
  );
  const table = new DataTable("#leaderboard-table", {
    data: rows, columns, columnControl: [], deferRender: true, autoWidth: false,
    scrollX: true, fixedColumns: { start: 1 },
    order: orderOf(given.sort) ?? usualOrder(), orderFixed: { pre: [[place.own, "desc"], [place.unranked, "asc"]] },
    pageLength: lengthOf(given), displayStart: lengthOf(given) * pageOf(given), lengthMenu: [10, 25, 50, 100, { label: "all", value: -1 }],
    layout: { topStart: "info", topEnd: { buttons: [csvButton()] }, bottomStart: "pageLength", bottomEnd: "paging" },
    language: { info: "_START_ to _END_ of _TOTAL_ results", infoEmpty: "no results", infoFiltered: "", lengthMenu: "_MENU_ a page", emptyTable: "No results.", zeroRecords: "No result has all of this. Change a switch above, or show all results." },
    createdRow: (line, row) => line.classList.toggle("own", row.own),
  });

  function csvButton() {
    return {
      extend: "csv", text: "Download CSV", filename: "leaderboard",
      exportOptions: {
        columns: [0],
        customizeData: (file) => {
          const shown = data.metrics.filter(({ key }) => table.column(place[key]).visible());
          const lines = exported(table.rows({ search: "applied", order: "applied" }).data().toArray(), shown, state.shown);
          file.headerStructure = [lines.header.map((title) => ({ title, colspan: 1, rowspan: 1 }))];
          file.body = lines.body;
        },
      },
    };
  }

  /** Fill the choices of each switch: what the other switches leave, with the number of results; one more of `more`. */
  function fillChoices(more = null) {
    SWITCHES.forEach((name) => {
      const counts = new Map();
      rows.forEach((row) => switched(row, name).forEach((value) => counts.set(value, counts.get(value) ?? 0)));
      rows.filter((row) => isChosen(row, state, name)).forEach((row) => switched(row, name).forEach((value) => counts.set(value, counts.get(value) + 1)));
      const compare = new Intl.Collator("en", { numeric: true }).compare;
      const values = [...counts.keys()].filter((value) => value !== "").sort(name === "year" ? (a, b) => compare(b, a) : compare);
      // Every evaluation can be chosen: where the other switches leave none of it, they are left open then.
      const choices = values.filter((value) => EVALUATION.includes(name) || counts.get(value) > 0 || state[name].includes(value));
      fitFields(name, Math.max(1, state[name].length + Number(name === more))).forEach((field, index) => {
        const others = state[name].filter((_, other) => other !== index);
        const left = choices.filter((value) => !others.includes(value));
        const options = left.map((value) => element("option", { value }, counts.get(value) > 0 ? `${value} (${counts.get(value)})` : value));
        field.replaceChildren(element("option", { value: "" }, index === 0 ? "all" : "none"), ...options);
        field.value = state[name][index] ?? "";
      });
      moreButton(name).hidden = name === more || state[name].length === 0 || state[name].length === choices.length;
    });
  }

  /** Return the fields of a switch: the first, and one for each value that is taken besides. */
  function fieldsOf(name) {
    return [...form.querySelectorAll(`select[name=${name}]`)];
  }

  function moreButton(name) {
    return form.querySelector(`button[data-more=${name}]`);
  }

  /** Return what is chosen under a switch; its first field says whether anything is. */
  function chosenOf(name) {
    const [first, ...others] = fieldsOf(name).map(({ value }) => value);
    return first === "" ? [] : [first, ...others.filter((value) => value !== "")];
  }

  /** Give a switch so many fields, and return them. */
  function fitFields(name, number) {
    const fields = fieldsOf(name);
    while (fields.length < number) {
      const field = element("select", { name, "aria-label": moreButton(name).title });
      moreButton(name).before(element("label", {}, "or ", field));
      fields.push(field);
    }
    fields.splice(number).forEach((field) => {
      // The keyboard stays in the switch.
      if (field === document.activeElement) {
        fields.at(-1).focus();
      }
      field.closest("label").remove();
    });
    return fields;
  }

  /** Return whether a result's model has all the words that are searched. */
  function isFound(row) {
    const name = row.model.toLowerCase();
    return state.search.toLowerCase().split(/\s+/).every((word) => name.includes(word));
  }

  /** Return whether a column says something: a metric that a chosen result has, or what no switch holds fixed. */
  function isShown(name) {
    if (EVALUATION.includes(name)) {
      return state[name].length !== 1;
    }
    const isMetric = data.metrics.some(({ key }) => key === name);
    return isMetric ? rows.some((row) => row.values[name] !== undefined && isChosen(row, state)) : !["own", "unranked"].includes(name);
  }

  function showColumns() {
    columns.forEach(({ name }, index) => {
      const column = table.column(index);
      if (column.visible() !== isShown(name)) {
        column.visible(!column.visible(), false);
      }
    });
  }

  /** Return the order that ranks models: by MRR, else by the first metric that is shown. */
  function usualOrder() {
    const shown = metrics.filter(({ name }) => isShown(name));
    const by = shown.find(({ name }) => name === "inverse_harmonic_mean_rank") ?? shown[0];
    return by === undefined ? [] : [[place[by.name], by.orderSequence[0]]];
  }

  /** Show what the state says. */
  function show() {
    fillChoices();
    showColumns();
    table.columns.adjust().draw();
  }

  function writeForm() {
    form.elements.shown.value = state.shown;
    form.elements.rounding.checked = state.rounding;
    form.elements.search.value = state.search;
  }

  /** Take the state from the address, or that with which the page opens; return all that the address says. */
  function readState() {
    const said = address.read();
    const from = said.view === "leaderboard" && Object.keys(said).length > 1 ? said : { ...data.open };
    SWITCHES.forEach((name) => {
      const given = new Set(from === said ? address.readAll(name) : [data.open[name] ?? ""]);
      given.delete("");
      const known = [...given].filter((value) => rows.some((row) => switched(row, name).includes(value)));
      state[name] = known.length > 0 ? known : [...given].slice(0, 1);
    });
    state.shown = ["printed", "index", "z"].includes(from.shown) ? from.shown : "index";
    state.rounding = from.rounding !== "off";
    state.search = from.search ?? "";
    writeForm();
    return from;
  }

  /** Show what another address says. */
  function followAddress() {
    isReading = true;
    const from = readState();
    table.order(orderOf(from.sort) ?? usualOrder());
    table.page.len(lengthOf(from));
    readColumnSearches(from.where);
    table.rows().invalidate();
    show();
    table.page(pageOf(from)).draw("page");
    isReading = false;
  }

  function lengthOf(from) {
    return Number.parseInt(from.rows, 10) || 25;
  }

  function pageOf(from) {
    return Math.max(0, (Number.parseInt(from.page, 10) || 1) - 1);
  }

  function orderOf(text) {
    const [name, way] = (text ?? "").split(" ");
    return place[name] !== undefined && ["asc", "desc"].includes(way) ? [[place[name], way]] : null;
  }

  // ColumnControl keeps its searches where DataTables keeps a table's state, under the number of the column.
  function columnSearches() {
    const kept = {};
    table.trigger("stateSaveParams", [table.settings()[0], kept]);
    const searches = Object.entries(kept.columnControl ?? {}).map(([index, { searchInput }]) => [columns[index]?.name, searchInput]);
    return searches.filter(([name, search]) => name && search && search.value !== "");
  }

  function readColumnSearches(text) {
    const searches = (text ?? "").split("; ").map((part) => part.split(" "));
    const given = Object.fromEntries(searches.filter(([name]) => place[name] !== undefined).map(([name, logic, ...value]) => [
      place[name], { searchInput: { logic, type: name === "model" ? "text" : "num", value: value.join(" ") } },
    ]));
    const none = (index) => ({ searchInput: { logic: columns[index].name === "model" ? "contains" : "equal", type: "num", value: "" } });
    const all = [place.model, ...metrics.map(({ name }) => place[name])].map((index) => [index, given[index] ?? none(index)]);
    table.trigger("stateLoaded", [table.settings()[0], { columnControl: Object.fromEntries(all) }]);
  }

  /** Say in the address what is shown. */
  function writeAddress() {
    if (isReading) {
      return;
    }
    const [index, way] = table.order().at(-1) ?? [];
    const page = table.page() + 1;
    history.replaceState(null, "", address.write({
      view: "leaderboard",
      ...Object.fromEntries(SWITCHES.map((name) => [name, state[name]])),
      shown: state.shown,
      rounding: state.rounding ? "" : "off",
      search: state.search,
      sort: index === undefined ? "" : `${columns[index].name} ${way}`,
      where: columnSearches().map(([name, { logic, value }]) => `${name} ${logic} ${value}`).join("; "),
      rows: table.page.len() === 25 ? "" : String(table.page.len()),
      page: page > 1 ? String(page) : "",
    }));
  }

  /** Open the test evaluation with most results of those that have what a switch says: no list mixes evaluations. */
  function openUsualEvaluation(name) {
    const fits = rows.filter((row) => state[name].length === 0 || switched(row, name).some((value) => state[name].includes(value)));
    const others = Object.fromEntries(EVALUATION.map((part) => [part, []]));
    const asked = fits.filter((row) => isChosen(row, { ...state, ...others }));
    // Source, year and status stay where this leaves any result.
    if (asked.length === 0) {
      SWITCHES.filter((other) => other !== name).forEach((other) => {
        state[other] = [];
      });
    }
    const left = asked.length > 0 ? asked : fits;
    const tests = left.filter(({ split }) => split.endsWith("testing"));
    const found = new Map();
    (tests.length > 0 ? tests : left).forEach((row) => {
      const key = JSON.stringify(EVALUATION.map((part) => row[part]));
      found.set(key, (found.get(key) ?? 0) + 1);
    });
    const [[usual]] = [...found].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
    JSON.parse(usual).forEach((value, index) => {
      state[EVALUATION[index]] = [value];
    });
  }

  form.addEventListener("input", ({ target }) => {
    if (target.name === "search") {
      state.search = target.value;
      table.draw();
      return;
    }
    const isSwitch = SWITCHES.includes(target.name);
    const value = target.type === "checkbox" ? target.checked : target.value;
    const before = state[target.name];
    state[target.name] = isSwitch ? chosenOf(target.name) : value;
    const isAnotherDataset = target.name === "dataset" && value !== "" && state.dataset.length === 1 && before[0] !== value;
    if (isAnotherDataset || (isSwitch && !rows.some((row) => isChosen(row, state)))) {
      openUsualEvaluation(target.name);
    }
    if (isSwitch) {
      showColumns();
      const [index] = table.order().at(-1) ?? [];
      if (index === undefined || !table.column(index).visible()) {
        table.order(usualOrder());
      }
    } else {
      table.rows().invalidate();
    }
    show();
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    SWITCHES.forEach((name) => {
      state[name] = [];
    });
    state.search = "";
    writeForm();
    readColumnSearches("");
    show();
  });
  form.addEventListener("click", ({ target: { dataset } }) => {
    if (dataset.more !== undefined) {
      fillChoices(dataset.more);
      fieldsOf(dataset.more).at(-1).focus();
    }
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  table.on("draw", writeAddress);
  table.on("click", "button.badge", ({ target }) => {
    const button = target.closest("button");
    const line = table.row(button.closest("tr"));
    const isOpen = line.child.isShown();
    if (isOpen) {
      line.child.hide();
    } else {
      line.child(details(line.data(), data.metrics)).show();
    }
    button.setAttribute("aria-expanded", String(!isOpen));
  });
  addEventListener("hashchange", () => {
    const { view } = address.read();
    if (view === "leaderboard" && location.hash.includes("=")) {
      followAddress();
    }
  });
  // On paper nobody turns a page: all that is chosen is there, unless it is a book.
  let length = 25;
  addEventListener("beforeprint", () => {
    isReading = true;
    length = table.page.len();
    if (table.rows({ search: "applied" }).count() <= LONGEST_PRINT) {
      table.page.len(-1).draw();
    }
  });
  addEventListener("afterprint", () => {
    table.page.len(length).draw();
    isReading = false;
  });
  fillChoices();
  if (given.where !== undefined) {
    readColumnSearches(given.where);
    table.page(pageOf(given)).draw("page");
  }
  isReading = false;
  performance.mark("leaderboard-shown");
}

/** Let the reader sort, search and turn the pages of a table that the page holds as a whole. */
function enhance({ default: DataTable }, node) {
  const [column, way] = node.dataset.sorted.split(" ");
  const fits = node.tBodies[0].rows.length <= 10;
  const around = { topStart: "info", topEnd: "search", bottomStart: "pageLength", bottomEnd: "paging" };
  const nothing = { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null };
  return new DataTable(node, {
    order: [[Number(column), way]], pageLength: 10, lengthMenu: [10, 25, 50, 100, { label: "all", value: -1 }],
    autoWidth: false, scrollX: true, layout: fits ? nothing : around,
    language: { info: "_START_ to _END_ of _TOTAL_", infoFiltered: "", lengthMenu: "_MENU_ a page", search: "Search" },
  });
}

/** Let what scrolls in a table be reached with the keyboard, and tell the parts of several tables apart by name. */
function nameParts(table) {
  const container = table.closest(".dt-container");
  const headings = [...document.querySelectorAll("h2, h3")].filter(
    (heading) => heading.compareDocumentPosition(container) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  const name = headings.at(-1).textContent.trim();
  for (const body of container.querySelectorAll(".dt-scroll-body")) {
    body.tabIndex = 0;
    body.setAttribute("role", "group");
    body.setAttribute("aria-label", name);
  }
  for (const pages of container.querySelectorAll("nav")) {
    pages.setAttribute("aria-label", `pages of ${name}`);
  }
}

/** Make all tables: the leaderboard at once, the others when the browser has nothing else to do. */
async function makeTables() {
  const tables = [...document.querySelectorAll("table.enhanced")];
  const data = pageData("leaderboard-data");
  if (data === null && tables.length === 0) {
    return;
  }
  const bundle = await dataTables();
  if (data !== null) {
    makeLeaderboard(bundle, data);
    nameParts(document.getElementById("leaderboard-table"));
  }
  showSection();
  const later = (next) => requestIdleCallback(() => {
    if (next < tables.length) {
      enhance(bundle, tables[next]);
      nameParts(tables[next]);
      later(next + 1);
    } else {
      performance.mark("tables-shown");
    }
  });
  later(0);
}

/** Scroll to the section that the address names, where the browser cannot: an id with a state behind it. */
function showSection() {
  const { view } = address.read();
  const section = view === undefined ? null : document.getElementById(view);
  if (section !== null && location.hash.includes("=")) {
    section.scrollIntoView();
  }
}

addEventListener("hashchange", showSection);
addEventListener("DOMContentLoaded", makeTables);

// ---------------------------------------------------------------------------------------------------------------------
// (3) The calculator: what rankadjust.adjust computes, and what rankadjust.output.terminal says of it. The constants
// come with the page; tests/browser/test_calculator.py compares numbers and words with the library's.

/** Numbers as Python writes them. */
const python = {
  /** Return a value that browsers, which round halves away from zero, round to the even digit as Python does. */
  halvesToEven(value, significant) {
    const digits = `0${value.toExponential(100).replace(/[-.]|e.*/g, "")}`;
    return /^[02468]50*$/.test(digits.slice(significant)) ? value * (1 - Number.EPSILON) : value;
  },

  /** f"{value:.{decimals}f}" */
  fixed(value, decimals) {
    const exponent = Number(value.toExponential(20).split("e")[1]);
    return python.halvesToEven(value, exponent + 1 + decimals).toFixed(decimals);
  },

  /** f"{value:.{significant}g}" */
  general(value, significant) {
    const even = python.halvesToEven(value, significant);
    const [digits, power] = even.toExponential(significant - 1).split("e");
    const short = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
    if (Object.is(value, -0)) {
      return "-0";
    }
    if (power < -4 || power >= significant) {
      return `${short(digits)}e${power[0]}${power.slice(1).padStart(2, "0")}`;
    }
    return short(even.toFixed(significant - 1 - power));
  },

  /** Put commas between thousands. */
  grouped(text) {
    const [whole, ...rest] = text.split(".");
    return [whole.replace(/\B(?=([0-9]{3})+$)/g, ","), ...rest].join(".");
  },

  strip(text) {
    return text.replace(new RegExp(`^${python.blank}+|${python.blank}+$`, "gu"), "");
  },

  blank: "[ \\t\\n\\r\\f\\v\\x1c-\\x1f\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]",
};

/** A mistake in what was typed: the message is for people. */
class CalculatorError extends Error {}

/** Printed numbers: the grammar of rankadjust.base.printed. */
const printed = (() => {
  const grouped = "[0-9]{1,3}(?:,[0-9]{3})+(?:\\.[0-9]+)?|[0-9]{1,3}(?:[ '’][0-9]{3})+(?:\\.[0-9]+)?";
  const plain = "(?:[0-9]+\\.[0-9]*|\\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]{1,3})?";
  const number = `[+-]?(?:${grouped}|${plain}|[0-9]*,[0-9]+)`;
  const spread = `(?:[ \\n]*[_({]?[ \\n]*(?:±|\\+/-|\\+-|∓)[ \\n]*${number}[ \\n]?%?[ \\n]*[)}]?)?`;
  const whole = new RegExp(`^(?<number>${number})[ \\n]?(?<percent>%?)${spread}$`, "u");
  const wholeGrouped = new RegExp(`^(?:${grouped})$`, "u");
  const signs = { "−": "-", "﹣": "-", "－": "-", "＋": "+" };

  /** Return a decimal digit of any script as 0 to 9: they stand ten in a row. */
  const asciiDigit = (character) => {
    const code = character.codePointAt(0);
    let first = code;
    while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) {
      first -= 1;
    }
    return String((code - first) % 10);
  };

  const plainText = (text) =>
    python.strip(
      text
        .replace(/[−﹣－＋]/gu, (sign) => signs[sign])
        .replace(/(?![0-9])\p{Nd}/gu, asciiDigit)
        .replace(new RegExp(`(?:(?!\\n)${python.blank})+`, "gu"), " "),
    );

  const normalised = (given) => {
    const sign = given.startsWith("-") ? "-" : "";
    let text = given.replace(/^[+-]+/, "");
    const other = /^[1-9][0-9]{0,2},[0-9]{3}$/.test(text) ? sign + text.replace(",", ".") : null;
    if (text.includes(",") && (!wholeGrouped.test(text) || text.startsWith("0"))) {
      text = text.replaceAll(",", ".");
    }
    text = text.replace(/[, '’]/g, "");
    const point = text.indexOf(".");
    const [before, rest] = point < 0 ? [text, ""] : [text.slice(0, point), text.slice(point + 1)];
    return [sign + (before || "0") + (/^[0-9]/.test(rest) ? `.${rest}` : rest), other];
  };

  return {
    /** Return {text, percent, other} of a printed number, null where the text is anything else. */
    read(given) {
      const match = whole.exec(plainText(given));
      if (match === null) {
        return null;
      }
      const [text, other] = normalised(match.groups.number);
      return Number.isFinite(Number(text)) ? { text, other, percent: match.groups.percent !== "" } : null;
    },

    /** Return [value, low, high]: each the float nearest to the exact decimal number, as a fraction if in percent. */
    interval(text, percent) {
      const [, sign, before, after = "", power = "0"] = /^(-?)([0-9]*)(?:\.([0-9]*))?(?:[eE](.*))?$/.exec(text);
      const exponent = Number(power) - after.length - (percent ? 2 : 0);
      const tenfold = BigInt(`${sign}${before}${after}0`);
      const end = (half) => Number(`${tenfold + half}e${exponent - 1}`);
      return [Number(`${sign}${before}${after}e${exponent}`), end(-5n), end(5n)];
    },
  };
})();

/** The constants of the page: names, columns of numbers, and rows found in them. */
const constants = {
  names: null,
  columns: {},

  /** Unpack the numbers of the page; they are columns of floats, one after the other. */
  async load() {
    const names = pageData("calculator-names");
    const text = atob(document.getElementById("calculator-numbers").textContent);
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) {
      packed[i] = text.charCodeAt(i);
    }
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const numbers = new Float64Array(await new Response(unpacked).arrayBuffer());
    let start = 0;
    for (const table of ["evaluations", "rows"]) {
      this.columns[table] = {};
      for (const column of names.columns[table]) {
        this.columns[table][column] = numbers.subarray(start, start + names.heights[table]);
        start += names.heights[table];
      }
    }
    this.names = names;
  },

  /** Return the evaluations of a data set as objects, the words of their columns in place of numbers. */
  evaluations(dataset) {
    const columns = this.columns.evaluations;
    const code = this.names.dataset.indexOf(dataset);
    const found = [];
    for (let i = 0; i < columns.dataset.length; i += 1) {
      if (columns.dataset[i] === code) {
        found.push({
          dataset,
          protocol: this.names.protocol[columns.protocol[i]],
          split: this.names.split[columns.split[i]],
          side: this.names.side[columns.side[i]],
          tasks: known(columns.tasks[i]),
          candidates: [known(columns.least_candidates[i]), known(columns.most_candidates[i])],
          first: columns.first[i],
          rows: columns.rows[i],
        });
      }
    }
    return found;
  },

  /** Return the metrics of an evaluation, in the order of the registry. */
  metrics(evaluation) {
    const codes = this.columns.rows.metric.subarray(evaluation.first, evaluation.first + evaluation.rows);
    return Array.from(codes)
      .sort((one, other) => one - other)
      .map((code) => this.names.metric[code]);
  },

  /** Return the constants of a metric of an evaluation, null for what is not known. */
  row(evaluation, metric) {
    const columns = this.columns.rows;
    const code = this.names.metric.indexOf(metric);
    let place = evaluation.first;
    while (columns.metric[place] !== code) {
      place += 1;
    }
    const row = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, known(column[place])]));
    for (const name of ["reason", "reason_random_scorer", "reason_static_scorer"]) {
      row[name] = row[name] === null ? null : this.names.reason[row[name]];
    }
    if (row.variance_static_scorer === -1) {
      row.variance_static_scorer = row.variance_random_scorer;
    }
    return row;
  },

  /** Return a name without case and punctuation, as rankadjust.base.words does. */
  folded(name) {
    return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  },

  /** Return the data set that a name or an alias means, as rankadjust.database.names does. */
  resolve(name) {
    const { dataset, aliases, ambiguous } = this.names;
    const folded = this.folded(name);
    const here = dataset.find((one) => one === name) ?? dataset.find((one) => folded !== "" && this.folded(one) === folded);
    if (here !== undefined) {
      return here;
    }
    if (Object.hasOwn(aliases, folded)) {
      if (dataset.includes(aliases[folded])) {
        return aliases[folded];
      }
      throw new CalculatorError(
        `the data set ${aliases[folded]} is registered, but the database has nothing on it`,
      );
    }
    if (Object.hasOwn(ambiguous, folded)) {
      throw new CalculatorError(
        `'${name}' does not say which data set is meant; write ${ambiguous[folded].join(" or ")}`,
      );
    }
    throw new CalculatorError(`unknown data set '${name}'; the field lists those that the page has`);
  },
};

function known(number) {
  return Number.isNaN(number) ? null : number;
}

const calculator = {
  /**
   * Return what rankadjust.adjust returns, as an object. evaluation: of constants.evaluations; metric: of
   * constants.metrics; scores: per_time, static or null. Throws CalculatorError with the library's message.
   */
  adjust(evaluation, metric, text, scores) {
    const given = calculator.value(text, metric);
    const row = constants.row(evaluation, metric);
    calculator.checkAttainable(given, metric, evaluation, row);
    const bounded = row.expectation === null && row.expectation_low !== null;
    if (row.expectation === null && !bounded) {
      const { dataset, protocol, split } = evaluation;
      throw new CalculatorError(
        `${metric.key} has no expectation for ${dataset} (${protocol}, ${split}): ${row.reason ?? "None"}`,
      );
    }
    const adjusted = {
      ...evaluation,
      metric,
      text: python.strip(text),
      status: bounded ? "bounded" : "ok",
      value: given.value,
      value_low: Math.max(given.low, metric.lower),
      value_high: Math.min(given.high, metric.upper ?? Infinity),
      expectation_low: row.expectation_low,
      expectation_high: row.expectation_high,
      z_low: null,
      z_high: null,
      reason: row.reason,
      ...(bounded ? calculator.withinBounds(given, metric, row) : calculator.exactly(given, metric, row)),
    };
    return { ...adjusted, ...calculator.zOfScorers(adjusted, metric, row, scores) };
  },

  /** Return {value, low, high, percent, text} of what was typed. */
  value(text, metric) {
    const number = printed.read(text);
    if (number === null) {
      throw new CalculatorError(`'${text}' is not a value; write a number such as 0.338 or 33.8%`);
    }
    const isShare = metric.upper !== null;
    const digits = isShare && metric.upper <= 1 && number.other !== null ? number.other : number.text;
    const [value, low, high] = printed.interval(digits, number.percent);
    const shown = python.strip(text);
    if (number.percent && !isShare) {
      throw new CalculatorError(`${metric.key} is not a share, so '${shown}' cannot be its value; leave out the %`);
    }
    const upper = metric.upper ?? Infinity;
    if (metric.lower <= value && value <= upper) {
      return { value, low, high, text: shown };
    }
    const lower = python.general(metric.lower, 6);
    const allowed = isShare ? `from ${lower} to ${python.general(upper, 6)}` : `${lower} or more`;
    const asPercent = isShare && !number.percent && metric.lower <= value / 100 && value / 100 <= upper;
    const hint = asPercent ? `; if it is a percentage, write ${shown}%` : "";
    throw new CalculatorError(`${metric.key} is ${allowed}, so ${shown} cannot be its value${hint}`);
  },

  /** Refuse values that no ranking of the evaluation has. */
  checkAttainable(given, metric, evaluation, { least, greatest }) {
    const tooSmall = least !== null && given.high < least - 1e-6 * Math.abs(least);
    const tooGreat = greatest !== null && given.low > greatest + 1e-6 * Math.abs(greatest);
    if (!tooSmall && !tooGreat) {
      return;
    }
    const limit = tooSmall ? `at least ${python.general(least, 6)}` : `at most ${python.general(greatest, 6)}`;
    const place = tooSmall === metric.increasing ? "last" : "first";
    const candidates = [...new Set(evaluation.candidates)].map((count) => python.grouped(count.toFixed(0)));
    const { dataset, protocol, split, side } = evaluation;
    throw new CalculatorError(
      `${metric.key} of ${dataset}, ${protocol}, ${split}, side ${side}, is ${limit}, reached where every true answer ` +
        `ranks ${place} among its candidates (${candidates.join(" to ")}), so ${given.text} cannot be its value`,
    );
  },

  exactly(given, metric, row) {
    const room = metric.optimum - row.expectation;
    const hasIndex = row.variance !== 0 && Math.abs(room) > constants.names.least_room * metric.optimum;
    const index = (value) => (value - row.expectation) / room;
    const ends = [given.low, given.high].map((end) =>
      index(Math.min(Math.max(end, metric.lower), metric.upper ?? Infinity)),
    );
    return {
      expectation: row.expectation,
      ratio: metric.ratio ? given.value * (1 / row.expectation) : null,
      index: hasIndex ? index(given.value) : null,
      index_low: hasIndex ? Math.min(...ends) : null,
      index_high: hasIndex ? Math.max(...ends) : null,
      z: calculator.z(given.value, metric, row.expectation, row.variance),
    };
  },

  /** Index and z go one way in the value and in each constant, so that their extremes are at the ends. */
  withinBounds(given, metric, row) {
    const values = [Math.max(given.low, metric.lower), Math.min(given.high, metric.upper ?? Infinity)];
    const expectations = [row.expectation_low, row.expectation_high];
    const middle = (row.expectation_low + row.expectation_high) / 2;
    const leastRoom = constants.names.least_room * metric.optimum;
    const hasIndex = expectations.every((end) => Math.abs(metric.optimum - end) > leastRoom);
    const index = (value, expectation) => (value - expectation) / (metric.optimum - expectation);
    const indices = values.flatMap((value) => expectations.map((expectation) => index(value, expectation)));
    const sign = metric.optimum > middle ? 1 : -1;
    const zs = values.flatMap((value) =>
      expectations.flatMap((expectation) =>
        [row.variance_low, row.variance_high].map(
          (variance) => (sign * (value - expectation)) / Math.sqrt(variance),
        ),
      ),
    );
    return {
      expectation: middle,
      ratio: null,
      index: hasIndex ? index(given.value, middle) : null,
      index_low: hasIndex ? Math.min(...indices) : null,
      index_high: hasIndex ? Math.max(...indices) : null,
      z: null,
      z_low: row.variance_low > 0 ? Math.min(...zs) : null,
      z_high: row.variance_low > 0 ? Math.max(...zs) : null,
    };
  },

  /** What z is in proportion to, null where there is no z. */
  scale(metric, variance) {
    return variance > 0 ? (metric.increasing ? 1 : -1) / Math.sqrt(variance) : null;
  },

  z(value, metric, expectation, variance) {
    const scale = calculator.scale(metric, variance);
    return scale === null ? null : value * scale + -expectation * scale;
  },

  /** Return the scales of z of the scorers per time and static; they differ where the data have times. */
  scales(metric, row) {
    return [row.variance_random_scorer, row.variance_static_scorer].map((one) => calculator.scale(metric, one));
  },

  /** Return z under the random scorer that scores as the model does, and under the other one where that differs. */
  zOfScorers(adjusted, metric, row, scores) {
    const perTime = calculator.z(adjusted.value, metric, row.expectation, row.variance_random_scorer);
    const once = calculator.z(adjusted.value, metric, row.expectation, row.variance_static_scorer);
    const [scalePerTime, scaleOnce] = calculator.scales(metric, row);
    if (scalePerTime === scaleOnce) {
      const reason = row.reason_random_scorer;
      return { z_random_scorer: perTime, scores_used: null, z_other_scorer: null, reason_random_scorer: reason };
    }
    const variesMore =
      scalePerTime !== null && scaleOnce !== null && Math.abs(scaleOnce) < Math.abs(scalePerTime);
    const used = scores ?? (variesMore ? "static" : "per_time");
    const either =
      "the data have times, and it is not said whether the model scores a triple anew at each (scores: per_time) or " +
      "once for all (static)";
    const unsaid =
      used === "static"
        ? `${either}: z is that of the static scorer, which varies more`
        : `${either}: z is that of the scorer per time; that of the static one is not known here, and smaller`;
    const said = used === "static" ? row.reason_static_scorer : row.reason_random_scorer;
    return {
      z_random_scorer: used === "static" ? once : perTime,
      z_other_scorer: used === "static" ? perTime : once,
      scores_used: used,
      reason_random_scorer: scores === null ? unsaid : said,
    };
  },

  number(value, digits = 4) {
    if (value === null) {
      return "–";
    }
    const text = Math.abs(value) >= 10 ** digits ? python.fixed(value, 0) : python.general(value, digits);
    return python.grouped(text);
  },

  interval(low, high) {
    return low === null || high === null ? "" : `[${calculator.number(low, 5)}, ${calculator.number(high, 5)}]`;
  },

  title({ dataset, protocol, split, side, tasks }) {
    const count = tasks === null ? "unknown number of" : python.grouped(tasks.toFixed(0));
    return `${dataset}, ${protocol}, ${split}, side ${side}: ${count} tasks`;
  },

  /** Return the lines of `rankadjust adjust` as [name, value, interval], but p, which needs every histogram. */
  lines(adjusted) {
    const { number, interval } = calculator;
    const scorers = { null: "z, random scorer", per_time: "z, random scorer", static: "z, static scorer" };
    const lines = [
      [adjusted.metric.label, adjusted.text, interval(adjusted.value_low, adjusted.value_high)],
      [
        "expectation",
        number(adjusted.expectation),
        interval(adjusted.expectation_low, adjusted.expectation_high),
      ],
      ["index", number(adjusted.index), interval(adjusted.index_low, adjusted.index_high)],
      ["z, independent ranks", number(adjusted.z), interval(adjusted.z_low, adjusted.z_high)],
      [scorers[adjusted.scores_used], number(adjusted.z_random_scorer), ""],
    ];
    if (adjusted.ratio !== null) {
      lines.splice(2, 0, ["ratio", number(adjusted.ratio), ""]);
    }
    return lines;
  },

  notes(adjusted) {
    const notes = adjusted.z === null ? [adjusted.reason] : [adjusted.reason, adjusted.reason_random_scorer];
    return notes.filter((note) => note !== null).map((note) => `Note: ${note}.`);
  },

  sentence(adjusted) {
    const { number } = calculator;
    if (adjusted.index === null) {
      return "There is no index: chance already gives a perfect value.";
    }
    const value = `${adjusted.metric.label} ${python.general(adjusted.value, 6)}`;
    const chance = `chance (${number(adjusted.expectation)})`;
    const perfect = `perfect (${python.general(adjusted.metric.optimum, 6)})`;
    const percent = (share) => python.fixed(100 * share, 1);
    let comparison = `${value} is ${percent(adjusted.index)} % of the way from ${chance} to ${perfect}`;
    if (adjusted.index < 0) {
      comparison = `${value} is worse than ${chance}`;
    } else if (adjusted.status === "bounded") {
      const [low, high] = [percent(adjusted.index_low), percent(adjusted.index_high)];
      comparison = `${value} is ${low} to ${high} % of the way from chance to ${perfect}`;
    }
    return `${comparison}${calculator.evidence(adjusted)}.`;
  },

  evidence({ z, z_random_scorer: zOfScorer }) {
    const [best, nullModel] = zOfScorer === null ? [z, "independent random ranks"] : [zOfScorer, "a random scorer"];
    if (best === null) {
      return "";
    }
    if (Math.abs(best) < 2) {
      return `, no further from it than luck takes ${nullModel} (z = ${calculator.number(best, 2)})`;
    }
    const side = best > 0 ? "above" : "below";
    return `, ${calculator.number(Math.abs(best), 3)} standard deviations ${side} ${nullModel}`;
  },

  /** Return what to type for the same result. */
  command({ dataset, protocol, split, side }, metric, text, scores) {
    const quoted = (word) => (/^[\w.,%@+=:/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
    const options = [
      ["--dataset", dataset],
      ["--protocol", protocol === "filtered" ? null : protocol],
      ["--split", split === "testing" ? null : split],
      ["--side", side === "both" ? null : side],
      ["--scores", scores],
      ["--metric", metric.name],
      ["--results", constants.names.own.includes(dataset) ? "results" : null],
    ];
    const given = options.filter(([, word]) => word !== null).flatMap(([option, word]) => [option, quoted(word)]);
    return ["rankadjust adjust", ...given, quoted(text)].join(" ");
  },
};

/** The form of the calculator: fields that fit each other, and the result of what stands in them. */
const calculatorForm = {
  // What is shown first where the data set has it.
  preferred: {
    dataset: ["FB15k-237"],
    protocol: ["filtered"],
    split: ["testing", "inference_testing"],
    side: ["both"],
    metric: ["inverse_harmonic_mean_rank"],
  },
  choices: ["protocol", "split", "side", "metric"],
  // What is shown, as calculator.adjust returns it; null where nothing is.
  adjusted: null,

  async start() {
    const form = document.getElementById("calculator-form");
    if (form === null) {
      return;
    }
    this.fields = Object.fromEntries(
      ["dataset", ...this.choices, "scores", "value"].map((name) => [name, form.elements.namedItem(name)]),
    );
    try {
      await constants.load();
    } catch (error) {
      this.say(`This browser cannot unpack the constants (${error.message}); the command rankadjust adjust can.`, true);
      return;
    }
    const { own, dataset } = constants.names;
    document.getElementById("calculator-datasets").replaceChildren(...dataset.map((name) => new Option("", name)));
    this.fields.dataset.value = dataset.find((name) => this.preferred.dataset.includes(name)) ?? own[0] ?? dataset[0];
    document.getElementById("calculator-fields").disabled = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => {
      this.show();
      // Browsers refuse an address that changes with every key.
      clearTimeout(this.writing);
      this.writing = setTimeout(() => {
        history.replaceState(null, "", address.write({ view: "calculator", ...this.state() }));
      }, 300);
    });
    this.fields.dataset.addEventListener("focus", () => this.fields.dataset.select());
    addEventListener("hashchange", () => this.follow());
    this.show();
    this.follow();
  },

  /** Take what the address says, if it is about the calculator. */
  follow() {
    const { view, ...state } = address.read();
    if (view !== "calculator" || Object.keys(state).length === 0) {
      return;
    }
    this.fields.value.value = state.value ?? "";
    this.fields.scores.value = state.scores ?? "";
    this.fields.dataset.value = state.dataset ?? this.fields.dataset.value;
    this.show(state);
  },

  state() {
    return Object.fromEntries(Object.entries(this.fields).map(([name, field]) => [name, field.value]));
  },

  /** Fill the fields for the data set, and show the result; wanted: what to choose in them, if it is there. */
  show(wanted = this.state()) {
    this.clear();
    try {
      const dataset = constants.resolve(this.fields.dataset.value);
      const evaluation = this.fill(constants.evaluations(dataset), wanted);
      const metric = constants.names.metric.find(({ key }) => key === this.fields.metric.value);
      const [scalePerTime, scaleOnce] = calculator.scales(metric, constants.row(evaluation, metric));
      const timesMatter = scalePerTime !== scaleOnce;
      document.getElementById("calculator-times").hidden = !timesMatter;
      const text = this.fields.value.value;
      if (python.strip(text) !== "") {
        const scores = timesMatter ? this.fields.scores.value || null : null;
        this.result(calculator.adjust(evaluation, metric, text, scores));
        const command = document.getElementById("calculator-command");
        command.querySelector("code").textContent = calculator.command(evaluation, metric, python.strip(text), scores);
        command.hidden = false;
      }
    } catch (error) {
      if (!(error instanceof CalculatorError)) {
        throw error;
      }
      this.say(error.message, true);
    }
  },

  /** Offer in each field what there is for the choices before it, and return the evaluation that is chosen. */
  fill(evaluations, wanted) {
    let left = evaluations;
    for (const name of ["protocol", "split", "side"]) {
      const words = [...new Set(left.map((evaluation) => evaluation[name]))];
      const chosen = this.offer(name, words.map((word) => [word, word]), wanted[name]);
      left = left.filter((evaluation) => evaluation[name] === chosen);
    }
    const metrics = constants.metrics(left[0]).map(({ key, label }) => [label, key]);
    this.offer("metric", metrics, wanted.metric);
    return left[0];
  },

  /** Put options [text, value] into a field and return the value that is chosen. */
  offer(name, options, wanted) {
    const field = this.fields[name];
    const values = options.map(([, value]) => value);
    const chosen = [wanted, ...this.preferred[name]].find((value) => values.includes(value)) ?? values[0];
    field.replaceChildren(...options.map(([text, value]) => new Option(text, value)));
    field.value = chosen;
    return chosen;
  },

  clear() {
    this.adjusted = null;
    this.say("", false);
    document.getElementById("calculator-result").hidden = true;
    document.getElementById("calculator-notes").replaceChildren();
    document.getElementById("calculator-command").hidden = true;
  },

  say(text, isError) {
    const sentence = document.getElementById("calculator-sentence");
    sentence.textContent = text;
    sentence.classList.toggle("error", isError);
  },

  result(adjusted) {
    this.adjusted = adjusted;
    this.say(calculator.sentence(adjusted), false);
    const table = document.createElement("table");
    table.createCaption().textContent = calculator.title(adjusted);
    const body = table.createTBody();
    const lines = calculator.lines(adjusted);
    if (adjusted.z_other_scorer !== null) {
      const name = adjusted.scores_used === "static" ? "z, scorer per time" : "z, static scorer";
      lines.push([name, calculator.number(adjusted.z_other_scorer), ""]);
    }
    for (const [name, value, interval] of lines) {
      const row = body.insertRow();
      const header = document.createElement("th");
      header.scope = "row";
      header.textContent = name;
      row.append(header);
      row.insertCell().textContent = value;
      row.insertCell().textContent = interval;
    }
    const result = document.getElementById("calculator-result");
    result.replaceChildren(table);
    result.hidden = false;
    const notes = calculator.notes(adjusted).map((note) => {
      const paragraph = document.createElement("p");
      paragraph.className = "note";
      paragraph.textContent = note;
      return paragraph;
    });
    document.getElementById("calculator-notes").replaceChildren(...notes);
  },
};

addEventListener("DOMContentLoaded", () => calculatorForm.start());

// ---------------------------------------------------------------------------------------------------------------------
// (4) Figures, drawn by Vega-Lite: each when it comes near the window, as wide as there is room, in the colours of the
// reader's scheme, and again when either changes. The specification of a figure names no colours and no width.

(() => {
  // Pixels beyond the window in which figures are drawn ahead; by which a width may be missed; below which a legend has
  // two columns; of a sheet of paper; how long a window has to keep its width.
  const AHEAD = 400, NEAR = 14, NARROW = 560, PAPER = 680, PAUSE = 200;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const drawings = [...document.querySelectorAll(".drawing[data-figure]")];
  const inView = new Set();
  // What each figure looks like, or will in a moment: its scheme, its width, and the view that draws it.
  const states = new Map();
  let themes = null;
  let isPrinting = false;

  /** Run the library that the page holds as text, the first time. */
  function prepare() {
    if (themes === null) {
      const script = document.createElement("script");
      script.textContent = document.getElementById("figure-library").textContent;
      document.head.append(script);
      themes = JSON.parse(document.getElementById("figure-themes").textContent);
    }
  }

  /** Return the specification of a figure in as many columns as can be read in a width, and how many these are. */
  function fitted(element, width) {
    const data = document.getElementById(`figure-${element.dataset.figure}-data`).textContent;
    // Vega writes into what it is given, so that it is read anew every time.
    const { least, specification } = JSON.parse(data);
    const panels = specification.concat ?? [specification];
    const columns = Math.max(1, Math.min(specification.columns ?? panels.length, Math.floor(width / least)));
    if (specification.concat !== undefined) {
      specification.columns = columns;
    }
    for (const panel of panels) {
      panel.width = Math.floor(width / columns) - 70;
    }
    return { specification, columns };
  }

  /** Make the panels of a view so wide that the whole fits a width: labels and legends take some of it. */
  async function stretch(view, place, columns, width) {
    const names = Object.keys(view.getState({ signals: () => true }).signals);
    const ofPanels = names.filter((name) => name === "childWidth" || /^concat_\d+_width$/.test(name));
    const widths = ofPanels.length > 0 ? ofPanels : ["width"];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const missed = place.querySelector("svg").width.baseVal.value - width;
      if (missed <= 0 && missed > -NEAR) {
        break;
      }
      for (const name of widths) {
        view.signal(name, Math.max(80, view.signal(name) - Math.ceil(missed / columns)));
      }
      await view.resize().runAsync();
    }
  }

  /** Draw a figure in the colours of a scheme and as wide as given. */
  async function draw(element, scheme, width) {
    prepare();
    const state = { scheme, width };
    const before = states.get(element);
    states.set(element, state);
    const { specification, columns } = fitted(element, width);
    const legend = { ...themes[scheme].legend, columns: width < NARROW ? 2 : 0 };
    const config = { ...themes[scheme], legend, background: "transparent", padding: 2 };
    const options = { config, renderer: "svg", actions: false, defaultStyle: false, tooltip: { theme: scheme } };
    // The element around it says in words what is drawn; its parts have none.
    const place = document.createElement("div");
    place.setAttribute("aria-hidden", "true");
    const { view } = await vegaEmbed(place, specification, options);
    if (states.get(element) !== state) {
      view.finalize();
      return;
    }
    state.view = view;
    before?.view?.finalize();
    element.replaceChildren(place);
    await stretch(view, place, columns, width);
    // A later drawing may have taken this one's place meanwhile.
    if (states.get(element) === state) {
      element.dataset.drawn = scheme;
    }
  }

  /** Draw the figures near the window that do not look as they should; not on paper, where all are as they should be. */
  function refresh() {
    if (isPrinting) {
      return;
    }
    const scheme = dark.matches ? "dark" : "light";
    for (const element of inView) {
      const state = states.get(element);
      const width = element.clientWidth;
      if (width > 0 && (state?.scheme !== scheme || state?.width !== width)) {
        draw(element, scheme, width);
      }
    }
  }

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        isIntersecting ? inView.add(target) : inView.delete(target);
      }
      refresh();
    },
    { rootMargin: `${AHEAD}px` },
  );

  // What the reader looks for first, the tables, is not kept waiting.
  addEventListener("load", () => setTimeout(() => drawings.forEach((element) => observer.observe(element))));
  dark.addEventListener("change", refresh);
  let pause = null;
  addEventListener("resize", () => {
    clearTimeout(pause);
    pause = setTimeout(refresh, PAUSE);
  });
  // On paper all figures are there, dark on white.
  addEventListener("beforeprint", () => {
    isPrinting = true;
    drawings.forEach((element) => draw(element, "light", PAPER));
  });
  addEventListener("afterprint", () => {
    isPrinting = false;
    refresh();
  });
})();
