// The page's own script: the address (1), boards and tables (2), the calculator (3).
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

  /** Return the address of a state; empty values are left out. */
  write(state) {
    const given = Object.entries(state).filter(([, value]) => value !== undefined && value !== null && value !== "");
    return `#${new URLSearchParams(given)}`;
  },
};

/** Return the data that the page holds under an id, null where it has none. */
function pageData(id) {
  const element = document.getElementById(id);
  return element === null ? null : JSON.parse(element.textContent);
}

// ---------------------------------------------------------------------------------------------------------------------
// (2) Boards, the search of all results, and tables.

/** Return an element with attributes and children; what is not a node is put in as text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Return what the page holds compressed under an id, as bytes. */
async function unpacked(id) {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (character) => character.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function unpackedText(id) {
  return new TextDecoder().decode(await unpacked(id));
}

/** Run something when the browser has nothing else to do; Safari cannot say when that is. */
const whenIdle = window.requestIdleCallback ?? ((run) => setTimeout(run));

/** Return DataTables, which itables has put into the page. */
let bundle = null;
function dataTables() {
  bundle ??= unpackedText("tables-library").then(async (text) => {
    const script = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const loaded = await import(script);
    URL.revokeObjectURL(script);
    document.head.append(element("style", {}, await unpackedText("tables-style")));
    loaded.set_or_remove_dark_class();
    return loaded.default;
  });
  return bundle;
}

// The same rules as in rankadjust/base/spreadsheets.py; tests/data/spreadsheets.json holds both to them.
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
const NO_FORMULA = /^-+$|^[+-]?(?:[0-9][0-9,]*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ ]?%?$/;

/** Return a text of which no spreadsheet makes a formula. */
function exportedText(value) {
  const text = String(value);
  return FORMULA.test(text) && !NO_FORMULA.test(text) ? `'${text}` : text;
}

/** Let the reader keep rows of texts as a CSV file. */
function saveCsv(name, rows) {
  const quoted = (value) => `"${exportedText(value ?? "").replaceAll('"', '""')}"`;
  save(name, `\ufeff${rows.map((row) => row.map(quoted).join(",")).join("\r\n")}\r\n`, "text/csv");
}

/** Let the reader keep a file that the page has made. */
function save(name, content, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

const EVALUATION = ["dataset", "protocol", "split", "side"];

/** The boards: one evaluation and one metric at a time, chosen from lists of what there is. */
const boards = {
  async start() {
    this.form = document.getElementById("board-switches");
    if (this.form === null) {
      return;
    }
    const { labels, open, boards: rows } = JSON.parse(await unpackedText("boards-data"));
    this.labels = labels;
    this.opened = open;
    this.all = rows.map(([dataset, protocol, split, side, metric, results, html]) => ({ dataset, protocol, split, side, metric, results, html }));
    this.form.addEventListener("change", ({ target }) => this.change(target.name, target.value));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.elements.csv.addEventListener("click", () => this.save());
    addEventListener("hashchange", () => this.follow());
    addEventListener("popstate", ({ state }) => state?.board && this.show(this.find(state.board)));
    this.follow(true);
    performance.mark("leaderboard-shown");
  },

  evaluationOf(board) {
    return JSON.stringify([board.protocol, board.split, board.side]);
  },

  /** Return the first board that agrees with the wishes, the earlier ones before the later ones. */
  find(wishes) {
    let left = this.all;
    Object.entries(wishes).forEach(([name, value]) => {
      const fits = left.filter((board) => board[name] === value);
      left = fits.length > 0 ? fits : left;
    });
    return left[0];
  },

  /** Show what the address says, or what the page opens with. */
  follow(isFirst = false) {
    const { view, ...wishes } = address.read();
    if (this.all.length === 0 || (!isFirst && view !== undefined && view !== "leaderboard")) {
      return;
    }
    const [dataset, protocol, split, side, metric] = this.opened;
    const opened = { dataset, protocol, split, side, metric };
    const asked = view === "leaderboard" && this.all.some((board) => board.dataset === wishes.dataset);
    const known = Object.fromEntries(Object.keys(opened).filter((name) => wishes[name] !== undefined).map((name) => [name, wishes[name]]));
    this.show(asked ? this.find(known) : this.find(opened));
  },

  change(name, value) {
    const { dataset, protocol, split, side, metric } = this.shown;
    // Where the address is about something else, the entry keeps the board that Back is to restore.
    history.replaceState({ board: { dataset, protocol, split, side, metric } }, "");
    const [newProtocol, newSplit, newSide] = name === "evaluation" ? JSON.parse(value) : [protocol, split, side];
    // Another data set opens with its own usual evaluation, which comes first; a metric must not choose another.
    const usual = this.find({ dataset: value });
    this.show(this.find({
      dataset: { dataset: value, protocol: usual.protocol, split: usual.split, side: usual.side, metric },
      evaluation: { dataset, protocol: newProtocol, split: newSplit, side: newSide, metric },
      metric: { dataset, protocol, split, side, metric: value },
    }[name]));
    const { html, results, ...said } = this.shown;
    // A step of the reader's, to which Back returns.
    history.pushState({ board: said }, "", address.write({ view: "leaderboard", ...said }));
  },

  show(board) {
    this.shown = board;
    const of = this.all.filter(({ dataset }) => dataset === board.dataset);
    const same = of.filter((other) => this.evaluationOf(other) === this.evaluationOf(board));
    const evaluations = new Map();
    of.forEach((other) => evaluations.set(this.evaluationOf(other), Math.max(other.results, evaluations.get(this.evaluationOf(other)) ?? 0)));
    const fill = (name, options, chosen) => {
      this.form.elements[name].replaceChildren(...options.map(([value, text]) => new Option(text, value, false, value === chosen)));
    };
    fill("dataset", [...new Set(this.all.map(({ dataset }) => dataset))].map((name) => [name, name]), board.dataset);
    fill("evaluation", [...evaluations].map(([key, results]) => [key, `${JSON.parse(key).join(", ")} (${results})`]), this.evaluationOf(board));
    fill("metric", same.map(({ metric }) => [metric, this.labels[metric]]), board.metric);
    // It comes from a template that escapes every name.
    document.getElementById("board").innerHTML = board.html;
  },

  save() {
    const table = document.querySelector("#board table.board");
    const lines = table === null ? [] : [...table.rows].map((row) => [...row.cells].filter((cell) => !cell.matches(".scale")));
    const texts = lines.map((cells) => cells.map((cell) => cell.querySelector("[data-whole]")?.dataset.whole ?? (cell.querySelector("bdi") ?? cell).textContent.trim()));
    const evaluation = EVALUATION.map((name) => this.shown[name]);
    saveCsv("board.csv", texts.map((cells, line) => [...(line === 0 ? EVALUATION : evaluation), ...cells]));
  },
};

addEventListener("DOMContentLoaded", () => boards.start());

/** Make the search of all results, of which no number can be sorted by: they are of many evaluations. */
async function makeResults(DataTable) {
  const { columns, rows } = JSON.parse(await unpackedText("results-data"));
  const place = Object.fromEntries(columns.map((name, index) => [name, index]));
  const titles = { model: "Model", dataset: "Data set", protocol: "Protocol", split: "Split", side: "Side", metric: "Metric", printed: "Printed", index: "Index", year: "Year", source: "Source", note: "Note" };
  const words = (name) => (row, type) => {
    const text = String(row[place[name]] ?? "");
    if (type !== "display") {
      return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
    }
    const url = name === "source" ? row[place.url] : null;
    return url === null ? element("bdi", {}, text) : element("a", { href: url, rel: "noopener noreferrer" }, text);
  };
  const shown = Object.keys(titles);
  const node = document.getElementById("results-table");
  node.append(element("thead", {}, element("tr", {}, ...shown.map((name) => element("th", { scope: "col" }, titles[name])))));
  const asked = address.read();
  const table = new DataTable(node, {
    ...TABLE, data: rows, order: [], deferRender: true,
    columns: shown.map((name) => ({ name, data: words(name), orderable: !["printed", "index"].includes(name), className: name === "note" ? "words" : name })),
    search: { search: asked.view === "results" ? asked.search ?? "" : "" },
    layout: { ...AROUND, topStart: ["info", { buttons: [{ text: "Download CSV", action: () => {
      const lines = table.rows({ search: "applied", order: "applied" }).data().toArray();
      saveCsv("results.csv", [shown, ...lines.map((row) => shown.map((name) => row[place[name]]))]);
    } }] }] },
  });
  addEventListener("hashchange", () => {
    const { view, search } = address.read();
    if (view === "results" && search !== undefined) {
      table.search(search).draw();
    }
  });
}

const AROUND = { topStart: "info", topEnd: "search", bottomStart: "pageLength", bottomEnd: "paging" };
const TABLE = {
  pageLength: 10, lengthMenu: [10, 25, 50, 100, { label: "all", value: -1 }], autoWidth: false, scrollX: true, layout: AROUND,
  language: { info: "_START_ to _END_ of _TOTAL_", infoFiltered: "", lengthMenu: "_MENU_ a page", search: "Search" },
};

/** Let the reader sort, search and turn the pages of a table that the page holds as a whole. */
function enhance(DataTable, node) {
  const [column, way] = node.dataset.sorted.split(" ");
  const nothing = { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null };
  return new DataTable(node, { ...TABLE, order: [[Number(column), way]], layout: node.tBodies[0].rows.length <= 10 ? nothing : AROUND });
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

/** Make the tables when the browser has nothing else to do. */
async function makeTables() {
  const tables = [...document.querySelectorAll("table.enhanced")];
  showSection();
  const makers = tables.map((node) => [node, (DataTable) => enhance(DataTable, node)]);
  const results = document.getElementById("results-table");
  if (results !== null) {
    makers.push([results, makeResults]);
  }
  const later = () => whenIdle(async () => {
    const next = makers.shift();
    if (next === undefined) {
      performance.mark("tables-shown");
      return;
    }
    await next[1](await dataTables());
    nameParts(next[0]);
    later();
  });
  later();
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
// (3) The calculator: what rankadjust.adjust computes, and what rankadjust.output.adjusted_text says of it. The constants
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
    const numbers = new Float64Array(await unpacked("calculator-numbers"));
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
        `the data set ${aliases[folded]} is registered, but the database has no rows for it`,
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
        `${metric.label} has no expectation for ${dataset} (${protocol}, ${split}): ${row.reason ?? "None"}`,
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
      throw new CalculatorError(`${metric.label} is not a share, so '${shown}' cannot be its value; leave out the %`);
    }
    const upper = metric.upper ?? Infinity;
    if (metric.lower <= value && value <= upper) {
      return { value, low, high, text: shown };
    }
    const lower = python.general(metric.lower, 6);
    const allowed = isShare ? `from ${lower} to ${python.general(upper, 6)}` : `${lower} or more`;
    const asPercent = isShare && !number.percent && metric.lower <= value / 100 && value / 100 <= upper;
    const hint = asPercent ? `; if it is a percentage, write ${shown}%` : "";
    throw new CalculatorError(`${metric.label} is ${allowed}, so ${shown} cannot be its value${hint}`);
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
      `${metric.label} of ${dataset}, ${protocol}, ${split}, side ${side}, is ${limit}, reached where every true answer ` +
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
        ? `${either}: z is for the static scorer, which varies more`
        : `${either}: z is for the scorer per time; for the static scorer z is smaller, and not known here`;
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

  /** Return the lines of `rankadjust adjust` as [name, value, interval], but what is drawn and counting. */
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
    // With a larger z nobody doubts that a value is above chance.
    if (best === null || Math.abs(best) >= 100) {
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
      ["--results", constants.names.local.includes(dataset) ? "results" : null],
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
        history.replaceState(history.state, "", address.write({ view: "calculator", ...this.state() }));
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
