// Check your own table: a simple table is read as `rankadjust read` reads it, adjusted by the calculator of page.js, placed
// among the published results, and looked through for contradictions that need no linear program. What this reader does
// not understand for certain it leaves unread and names: the command reads more. Nothing leaves the browser.
// tests/data/own-tables.json and tests/browser/test_own_table.py hold it to the library.
"use strict";

const ownTable = (() => {
  const MOST_CHARACTERS = 200_000, MOST_IN_LINK = 6_000, TOLERANCE = 1e-6;
  const COMMAND = "the command rankadjust check reads more kinds of tables";
  // What a value can be a value of besides; a table that says it in a column is left to the command.
  const OTHER_ROLES = ["split", "side", "task", "protocol", "ties"];

  const refuse = (why) => {
    throw new CalculatorError(`${why}; ${COMMAND}`);
  };

  /** Map.groupBy, which Safari has only from 17.4 on. */
  const grouped = (values, keyOf) => {
    const groups = new Map();
    values.forEach((value) => groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]));
    return groups;
  };

  /** Return a text without the marks of Markdown around it, and a link's text for a link. */
  const undecorated = (text) =>
    text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/^[\s*_`†‡§¶]+|[\s*_`†‡§¶]+$/g, "");

  /** Return the cells of lines of separated values; a cell in quotes may hold anything. */
  function separated(text, separator) {
    const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^"\\n${separator}]*))(${separator}|\\n|$)`, "y");
    const rows = [[]];
    while (cell.lastIndex <= text.length) {
      const found = cell.exec(text) ?? refuse("a quotation mark stands within a cell or is not closed");
      rows.at(-1).push((found[1]?.replaceAll('""', '"') ?? found[2]).trim());
      if (found[3] === "") {
        break;
      }
      if (found[3] === "\n") {
        rows.push([]);
      }
    }
    return rows;
  }

  /** Return the rows of a simple table, the header first, as lists of texts. */
  function rowsOf(given) {
    const text = given.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n").replace(/^\s*\n|\s+$/g, "");
    if (text === "") {
      throw new CalculatorError("there is nothing in the table");
    }
    if (text.length > MOST_CHARACTERS) {
      refuse(`the table has more than ${python.grouped(String(MOST_CHARACTERS))} characters`);
    }
    if (/\\[a-zA-Z\\]|<\/?t[a-z]+\b/i.test(text)) {
      refuse("LaTeX and HTML are not read here");
    }
    const lines = text.split("\n");
    const isMarkdown = lines.length > 1 && /-/.test(lines[1]) && /^[\s|:-]+$/.test(lines[1]) && lines[0].includes("|");
    const separator = ["\t", ";", ","].find((one) => lines[0].includes(one));
    let rows;
    if (isMarkdown) {
      lines.splice(1, 1);
      rows = lines.map((line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim()));
    } else {
      rows = separated(text, separator ?? refuse("this is neither CSV nor a table of Markdown"));
    }
    const wrong = rows.findIndex((row) => row.length !== rows[0].length);
    if (wrong > 0) {
      refuse(`row ${wrong + 1} has ${rows[wrong].length} cells, the header ${rows[0].length}`);
    }
    if (rows.length < 2) {
      refuse("there is a header, and no row below it");
    }
    return rows;
  }

  /** Return what a header says: {metric, percent} or {role}, both absent where it says neither. */
  function headed(header) {
    const percent = header.includes("%");
    const text = undecorated(header.replace(/[([]?\s*%\s*[)\]]?/g, ""));
    const folded = constants.folded(text);
    const metric = constants.names.metric.find(({ words }) => words.includes(folded));
    const role = Object.entries(constants.names.roles).find(([, words]) => words.includes(folded))?.[0];
    return metric === undefined ? { role } : { metric, percent };
  }

  const isDataset = (text) => {
    try {
      return constants.resolve(text) !== "";
    } catch {
      return false;
    }
  };

  /** Return the words of a text that say a split, a side, a protocol or the like. */
  const factsIn = (text) => {
    const words = ` ${text.toLowerCase().replace(/[^\p{L}\p{N}-]+/gu, " ")} `;
    return constants.names.facts.filter((fact) => words.includes(` ${fact} `));
  };

  /** Return {values, unread, ignored}: values as {line, model, dataset, metric, percent, cell, number}. */
  function read(given) {
    const [header, ...rows] = rowsOf(given);
    const columns = header.map((text, index) => ({ ...headed(text), text, index }));
    const other = columns.find(({ role }) => OTHER_ROLES.includes(role));
    if (other !== undefined) {
      refuse(`the column '${other.text}' says what was evaluated`);
    }
    const corner = columns.find((column) => column.metric === undefined && isDataset(column.text));
    if (corner !== undefined) {
      refuse(`the header '${corner.text}' is a data set`);
    }
    const named = constants.names.metric.flatMap(({ words }) => words.filter((word) => word.length > 2));
    const doubtful = columns.find(({ metric, role, text }) => metric === undefined && role === undefined && named.some((word) => constants.folded(text).includes(word)));
    if (doubtful !== undefined) {
      refuse(`the column '${doubtful.text}' names a metric beside other words`);
    }
    const ofRole = (role) => columns.find((column) => column.role === role);
    const metricColumn = ofRole("metric");
    const isText = ({ index }) => rows.some((row) => row[index] !== "") && rows.every((row) => printed.read(row[index]) === null);
    const free = columns.filter((column) => column.metric === undefined && column.role === undefined && isText(column));
    const areDatasets = ({ index }) => rows.every((row) => row[index] === "" || isDataset(undecorated(row[index])));
    const dataset = ofRole("dataset") ?? free.find(areDatasets);
    const model = ofRole("model") ?? ofRole("name") ?? free.find((column) => column !== dataset);
    const tidy = metricColumn === undefined ? null : columns.find(({ text }) => constants.folded(text) === "value");
    const valued = tidy === null ? columns.filter(({ metric }) => metric !== undefined) : [tidy];
    if (tidy === undefined || valued.length === 0) {
      refuse("no column is headed by a metric such as MRR, MR or Hits@10");
    }
    const twice = valued.find(({ metric }, place) => metric !== undefined && valued.findIndex((one) => one.metric === metric) !== place);
    if (twice !== undefined) {
      refuse(`two columns are ${twice.metric.label}`);
    }
    const found = { values: [], unread: [], ignored: columns.filter((column) => ![...valued, metricColumn, dataset, model].includes(column)).map(({ text }) => text) };
    const above = { model: "", dataset: "" };
    rows.forEach((row, place) => {
      const line = place + 2;
      for (const [name, column] of Object.entries({ model, dataset })) {
        above[name] = (column === undefined ? "" : undecorated(row[column.index])) || above[name];
      }
      if (valued.every(({ index }) => row[index] === "")) {
        refuse(`row ${line} has no values, and may be a heading`);
      }
      const facts = factsIn(above.model);
      for (const column of valued) {
        const cell = row[column.index];
        const bare = undecorated(cell);
        const said = tidy === null ? column : headed(row[metricColumn.index]);
        const number = printed.read(bare);
        const isMissing = [cell, bare].some((text) => constants.names.missing.includes(text.toLowerCase()));
        const why = said.metric === undefined ? `'${row[metricColumn?.index]}' is no metric that is read here`
          : facts.length > 0 ? `'${facts[0]}' in '${above.model}' may say what was evaluated`
          : number === null || /^[+＋]/u.test(bare) ? `'${cell}' is no number` : null;
        if (isMissing) {
          continue;
        }
        if (why === null) {
          found.values.push({ line, ...above, column: column.index, metric: said.metric, percent: said.percent, cell: bare, number });
        } else {
          found.unread.push({ line, why });
        }
      }
    });
    tidy === null ? settle(found) : found.values.forEach((value) => { value.isPercent = value.percent; });
    return found;
  }

  /** Decide commas and units, as rankadjust.tables.units does; what is open there stays unread here. */
  function settle(found) {
    const isShare = ({ metric }) => metric.upper === 1;
    const isThousands = (text) => /^-?[1-9][0-9]{0,2}\.[0-9]{3}$/.test(text);
    const hasComma = ({ cell, number }) => cell.includes(",") && number.other === null && !/^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+/.test(cell);
    const commas = found.values.some(hasComma);
    const open = found.values.filter(({ metric, number }) => metric.upper !== 1 && commas && (number.other !== null || isThousands(number.text)));
    const openShares = found.values.filter((value) => isShare(value) && commas && !hasComma(value) && value.number.other === null && isThousands(value.number.text));
    const series = grouped(found.values, ({ column }) => column);
    const above = (values) => values.filter(({ number }) => !number.percent && Number(number.other ?? number.text) > 1);
    const units = new Map();
    for (const [column, values] of series) {
      const plain = values.filter(({ number }) => !number.percent);
      const many = above(values).length;
      units.set(column, values[0].percent || plain.length === 0 || (many > 0 && 2 * many >= plain.length) ? "percent" : many === 0 ? "fraction" : null);
    }
    const areHits = ([, [{ metric, percent }]]) => metric.key.startsWith("hits_at_") && !percent;
    const sets = (values) => new Set(values.map(({ dataset }) => dataset));
    const hits = [...series].filter(areHits);
    const sure = hits.filter(([column]) => units.get(column) === "percent");
    for (const [column, values] of hits) {
      if (sure.some(([, others]) => [...sets(others)].some((name) => sets(values).has(name)))) {
        units.set(column, "percent");
      }
    }
    const undecided = found.values.filter((value) => isShare(value) && units.get(value.column) === null);
    for (const [values, why] of [[[...open, ...openShares], "the file has decimal commas, and this may be either"], [undecided, "neither percent nor fraction is certain: write the % in the header"]]) {
      values.forEach(({ line, cell }) => found.unread.push({ line, why: `'${cell}': ${why}` }));
    }
    const left = new Set([...open, ...openShares, ...undecided]);
    found.values = found.values.filter((value) => !left.has(value));
    found.values.forEach((value) => {
      value.isPercent = isShare(value) && units.get(value.column) === "percent";
    });
  }

  /** Return the number of a value as the calculator takes it: in percent where its column is. */
  function written({ metric, number, isPercent }) {
    const digits = metric.upper === 1 ? number.other ?? number.text : number.text;
    return digits + (number.percent || isPercent ? "%" : "");
  }

  // -- Contradictions: bounds that every distribution of ranks keeps, ranks being multiples of 1/2 from 1 to the greatest N.

  /** Return why values of one model contradict each other, the fewest that do; null where they do not. */
  function contradiction(values, most) {
    const printedEnds = ({ low, high }) => [low, high];
    // Digits that were cut off, not rounded: up to one unit more than is printed.
    const cutEnds = ({ low, value, high }) => [low, value + 2 * Math.max(value - low, high - value)];
    if (clash(values, most, printedEnds) === null) {
      return null;
    }
    const fewest = values.reduce((left, value) => {
      const rest = left.filter((one) => one !== value);
      return clash(rest, most, printedEnds) === null ? left : rest;
    }, values);
    const sentence = clash(fewest, most, printedEnds);
    return clash(fewest, most, cutEnds) === null ? `${sentence} All would agree if digits had been cut off, not rounded.` : sentence;
  }

  /** Return a sentence on values that clash, of which `endsOf` says what they stand for; null where none is known to. */
  function clash(values, most, endsOf) {
    const all = values.map((value) => {
      const [low, high] = endsOf(value);
      const margin = TOLERANCE * Math.max(Math.abs(low), Math.abs(high));
      return { ...value, low: Math.max(low - margin, value.metric.lower), high: high + margin };
    });
    const hits = all.filter(({ metric }) => metric.key.startsWith("hits_at_")).map((one) => ({ ...one, k: Number(one.metric.key.slice(8)) })).sort((one, other) => one.k - other.k);
    const [mrr, mr] = ["inverse_harmonic_mean_rank", "arithmetic_mean_rank"].map((key) => all.find(({ metric }) => metric.key === key));
    const said = (parts, reason) => `${parts.map(({ metric, text }) => `${metric.label} ${text}`).join(", ")} contradict each other: ${reason}.`;
    for (const [place, later] of hits.entries()) {
      const earlier = hits.slice(0, place).find(({ low }) => low > later.high);
      if (earlier !== undefined) {
        return said([earlier, later], `${earlier.metric.label} cannot be above ${later.metric.label}`);
      }
    }
    const limits = bounds(hits, mr, most);
    const shown = (value) => calculator.number(value, 4);
    if (mr !== undefined && hits.length > 0 && mr.high < limits.leastRank) {
      return said([...hits, mr], `beside Hits MR is at least ${shown(limits.leastRank)}`);
    }
    if (mr !== undefined && hits.length > 0 && mr.low > limits.mostRank) {
      return said([...hits, mr], `beside Hits and among so few candidates MR is at most ${shown(limits.mostRank)}`);
    }
    if (mrr === undefined || all.length === 1) {
      return null;
    }
    const others = [...hits, mr].filter((one) => one !== undefined);
    if (mrr.low > limits.most) {
      return said([...others, mrr], `MRR is at most ${shown(limits.most)} beside the rest`);
    }
    return mrr.high < limits.least ? said([...others, mrr], `MRR is at least ${shown(limits.least)} beside the rest`) : null;
  }

  /**
   * Return between what MRR and MR lie by Hits@k (ascending k) and MR; most: the greatest number of candidates.
   * The share of ranks up to k is between the ends of Hits@k, and of those between two k the best rank is k + 1/2.
   */
  function bounds(hits, mr, most) {
    // What is known of a share up to k holds for the shares before and after it, which are no greater and no smaller.
    const upper = hits.map((_, place) => Math.min(1, ...hits.slice(place).map(({ high }) => high)));
    const lower = hits.map((_, place) => Math.max(0, ...hits.slice(0, place + 1).map(({ low }) => low)));
    const steps = (shares) => shares.map((share, place) => share - (place === 0 ? 0 : shares[place - 1]));
    const sum = (terms) => terms.reduce((total, term) => total + term, 0);
    const best = hits.map((_, place) => (place === 0 ? 1 : hits[place - 1].k + 0.5));
    const after = hits.length === 0 ? 1 : hits.at(-1).k + 0.5;
    const [above, below] = [1 - (upper.at(-1) ?? 0), 1 - (lower.at(-1) ?? 0)];
    const limits = {
      most: sum(steps(upper).map((share, place) => share / best[place])) + above / after,
      leastRank: sum(steps(upper).map((share, place) => share * best[place])) + above * after,
      mostRank: sum(steps(lower).map((share, place) => share * hits[place].k)) + below * Math.max(most, after),
      least: sum(steps(lower).map((share, place) => share / hits[place].k)) + below / Math.max(most, after),
    };
    if (mr !== undefined) {
      // 1/r lies below the chord from 1 to the last rank, and the mean of 1/r above 1 / mean of r.
      limits.most = Number.isFinite(most) ? Math.min(limits.most, 1 - (mr.low - 1) / most) : limits.most;
      limits.least = Math.max(limits.least, 1 / mr.high, withTail(lower, upper, hits, mr.high));
    }
    return limits;
  }

  /**
   * Return the least MRR where the ranks beyond the last k have the mean that MR leaves them. With a share h up to it they
   * are 1 - h of the tasks, their ranks add up to at most MR - h, and by Jensen they give (1 - h)² / (MR - h) at least.
   * That and the Hits are convex in h: the least is where the slope 1/k - x (2 - x), x = (1 - h) / (MR - h), is 0.
   */
  function withTail(lower, upper, hits, mean) {
    if (hits.length === 0 || mean <= 1) {
      return 0;
    }
    const last = hits.at(-1).k;
    const before = hits.length > 1 ? lower.at(-2) : 0;
    const known = hits.slice(0, -1).reduce((total, { k }, place) => total + (lower[place] - (place === 0 ? 0 : lower[place - 1])) / k, 0);
    const x = 1 - Math.sqrt(1 - 1 / last);
    const turn = x === 1 ? 0 : (1 - x * mean) / (1 - x);
    const share = Math.min(Math.max(turn, lower.at(-1)), upper.at(-1));
    return known + (share - before) / last + (1 - share) ** 2 / (mean - share);
  }

  // -- Places and words.

  let boardsOf = null;

  /** Unpack what tables are held against. */
  async function load() {
    const boards = JSON.parse(await unpackedText("places-data"));
    boardsOf = new Map(boards.map(([key, values]) => [JSON.stringify(key), values]));
    await constants.load();
  }

  /** Return the place of a value among the published ones of its evaluation: {place, models, best, worst} or null. */
  function placed(evaluation, metric, { value, low, high }) {
    const key = JSON.stringify([evaluation.dataset, evaluation.protocol, evaluation.split, evaluation.side, metric.key]);
    const others = boardsOf.get(key);
    if (others === undefined) {
      return null;
    }
    const sign = metric.increasing ? 1 : -1;
    const [worse, better] = metric.increasing ? [low, high] : [-high, -low];
    const count = (test) => others.filter(test).length + 1;
    return {
      place: count(([other]) => sign * other > sign * value),
      best: count((other) => (sign > 0 ? other[1] : -other[2]) > better),
      worst: count((other) => (sign > 0 ? other[2] : -other[1]) > worse),
      models: others.length + 1,
    };
  }

  /** Return what is said of a table: {results, findings, unread, ignored}. chosen: the evaluation of the form. */
  function check(text, chosen) {
    const { values, unread, ignored } = read(text);
    const results = [];
    for (const value of values) {
      try {
        const dataset = value.dataset === "" ? chosen.dataset : constants.resolve(value.dataset);
        const evaluation = constants.evaluations(dataset).find(({ protocol, split, side }) => protocol === chosen.protocol && split === chosen.split && side === chosen.side);
        if (evaluation === undefined) {
          throw new CalculatorError(`${dataset} has no evaluation ${chosen.protocol}, ${chosen.split}, ${chosen.side} here`);
        }
        if (!constants.metrics(evaluation).includes(value.metric)) {
          throw new CalculatorError(`nothing is known of ${value.metric.label} there`);
        }
        const shown = value.cell + (value.isPercent && !value.number.percent ? " %" : "");
        const adjusted = calculator.adjust(evaluation, value.metric, written(value), null);
        const [exact, low, high] = [adjusted.value, adjusted.value_low, adjusted.value_high];
        results.push({ ...value, evaluation, adjusted, value: exact, low, high, text: shown, place: placed(evaluation, value.metric, { value: exact, low, high }) });
      } catch (error) {
        if (!(error instanceof CalculatorError)) {
          throw error;
        }
        unread.push({ line: value.line, why: `${value.metric.label} of ${value.model || "a model"}: ${error.message}` });
      }
    }
    const models = grouped(results, ({ model, evaluation }) => JSON.stringify([model, evaluation.dataset]));
    const findings = [...models.values()].flatMap((ofModel) => {
      // Two rows of a name are two runs, which is which only their lines say.
      const runs = grouped(ofModel, ({ line }) => line);
      const repeated = new Set(ofModel.map(({ metric }) => metric)).size < ofModel.length;
      return (repeated ? [...runs.values()] : [ofModel]).flatMap((run) => {
        const { model, evaluation } = run[0];
        const why = contradiction(run, evaluation.candidates[1] ?? Infinity);
        return why === null ? [] : [{ model, dataset: evaluation.dataset, why }];
      });
    });
    return { results, findings, unread, ignored };
  }

  /** Return results as a table of LaTeX: of each value the printed number and its index, with as many digits. */
  function latex(results) {
    const escaped = (text) => text.replace(/[\\{}$&#^_~%±]/g, (sign) => ({ "\\": "\\textbackslash{}", "^": "\\^{}", "~": "\\~{}", "±": "$\\pm$" })[sign] ?? `\\${sign}`);
    const metrics = constants.names.metric.filter((metric) => results.some((one) => one.metric === metric));
    const rows = grouped(results, ({ model, evaluation }) => JSON.stringify([evaluation.dataset, model]));
    const index = ({ adjusted, isPercent, number }) => {
      const decimals = (number.text.split(".")[1] ?? "").length + (isPercent || number.percent ? 2 : 0);
      return adjusted.index === null ? "--" : python.fixed(adjusted.index, Math.max(decimals, 3));
    };
    const lines = [...rows].map(([key, values]) => [
      ...JSON.parse(key).map(escaped),
      ...metrics.flatMap((metric) => {
        const value = values.find((one) => one.metric === metric);
        return value === undefined ? ["--", "--"] : [escaped(value.text), index(value)];
      }),
    ]);
    const head = ["Data set", "Model", ...metrics.flatMap(({ label }) => [label, `adj.\\ ${label}`])];
    const { protocol, split, side } = results[0].evaluation;
    return [
      `% Adjusted for chance by rankadjust: 0 is chance, 1 is perfect. ${protocol}, ${split}, side ${side}.`,
      `\\begin{tabular}{ll${"rr".repeat(metrics.length)}}`, "\\toprule", `${head.join(" & ")} \\\\`, "\\midrule",
      ...lines.map((cells) => `${cells.join(" & ")} \\\\`), "\\bottomrule", "\\end{tabular}", "",
    ].join("\n");
  }

  /** The form: a field for the table, and what is said of it. */
  const form = {
    async start() {
      this.field = document.getElementById("own-table-text");
      if (this.field === null) {
        return;
      }
      try {
        await load();
      } catch (error) {
        this.say([element("p", {}, `This browser cannot unpack the constants (${error.message}); the command rankadjust check can.`)]);
        return;
      }
      this.field.disabled = false;
      this.field.addEventListener("input", () => this.later());
      document.getElementById("calculator-form").addEventListener("input", () => this.show());
      document.getElementById("own-table-file").addEventListener("change", ({ target }) => this.take(target.files[0]));
      this.field.addEventListener("dragover", (event) => event.preventDefault());
      this.field.addEventListener("drop", (event) => {
        if (event.dataTransfer.files.length > 0) {
          event.preventDefault();
          this.take(event.dataTransfer.files[0]);
        }
      });
      addEventListener("hashchange", () => this.follow());
      this.follow();
    },

    later() {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.show(), 200);
    },

    async take(file) {
      if (file !== undefined) {
        this.field.value = file.size > 4 * MOST_CHARACTERS ? "" : await file.text();
        file.size > 4 * MOST_CHARACTERS ? this.say([element("p", { class: "error" }, `${file.name} is too large; ${COMMAND}.`)]) : this.show();
      }
    },

    follow() {
      const { view, table, ...state } = address.read();
      if (view === "table" && table !== undefined) {
        this.field.value = table;
        calculatorForm.fields.dataset.value = state.dataset ?? calculatorForm.fields.dataset.value;
        calculatorForm.show(state);
        this.show();
      }
    },

    /** Show what is said of the table in the field, for the evaluation that the calculator has. */
    show() {
      if (this.field.value.trim() === "") {
        this.say([]);
        return;
      }
      try {
        const { dataset, protocol, split, side } = calculatorForm.state();
        const chosen = { dataset: constants.resolve(dataset), protocol, split, side };
        this.say(this.told(check(this.field.value, chosen), chosen));
      } catch (error) {
        if (!(error instanceof CalculatorError)) {
          throw error;
        }
        this.say([element("p", { class: "error" }, `${error.message}.`)]);
      }
    },

    say(nodes) {
      document.getElementById("own-table-result").replaceChildren(...nodes);
    },

    told({ results, findings, unread, ignored }, chosen) {
      const list = (rows, text) => element("ul", {}, ...rows.map((row) => element("li", {}, text(row))));
      const nodes = [element("p", {}, element("b", {}, findings.length === 0 ? "No contradiction was found" : `${findings.length} contradiction${findings.length > 1 ? "s" : ""}`), findings.length === 0 ? " by the order of Hits, the ranges, and MRR between its bounds from Hits and MR; rankadjust check looks further." : ":")];
      findings.length === 0 || nodes.push(list(findings, ({ model, dataset, why }) => `${model || "a model"} on ${dataset}: ${why}`));
      unread.length === 0 || nodes.push(element("p", {}, element("b", {}, `${unread.length} not adjusted`), ":"), list(unread, ({ line, why }) => `row ${line}: ${why}`));
      ignored.length === 0 || nodes.push(element("p", { class: "note" }, `Columns that are left alone: ${ignored.join(", ")}.`));
      results.length === 0 || nodes.push(this.table(results), ...this.files(results, chosen));
      return nodes;
    },

    table(results) {
      const titles = [["Model", ""], ["Data set", ""], ["Metric", ""], ["Printed", "n"], ["By chance", "n other"], ["Index", "n"], ["by rounding", "n other"], ["Place", ""]];
      const place = ({ place: at }) => at === null ? "nothing published" : `${at.place} of ${at.models}${at.best === at.worst ? "" : `, by rounding ${at.best} to ${at.worst}`}`;
      const rows = results.map((one) => [
        [one.model, "model"], [one.evaluation.dataset, ""], [one.metric.label, ""], [one.text, "n"], [calculator.number(one.adjusted.expectation), "n other"],
        [calculator.number(one.adjusted.index), "n"], [calculator.interval(one.adjusted.index_low, one.adjusted.index_high), "n other"], [place(one), "words"],
      ]);
      const cells = (row, name) => row.map(([text, kind]) => element(name, kind === "" ? {} : { class: kind }, text));
      return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Your table, adjusted" },
        element("table", { class: "plain board" }, element("thead", {}, element("tr", {}, ...cells(titles, "th"))), element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row, "td"))))));
    },

    files(results, chosen) {
      const link = address.write({ view: "table", ...chosen, table: this.field.value });
      const text = element("textarea", { readonly: "", rows: "4", "aria-label": "LaTeX" });
      text.value = latex(results);
      const button = (label, content) => {
        const made = element("button", { type: "button" }, label);
        made.addEventListener("click", async () => {
          await navigator.clipboard.writeText(content).then(() => made.replaceChildren("Copied"), () => { text.focus(); text.select(); });
        });
        return made;
      };
      const canLink = link.length <= MOST_IN_LINK;
      return [element("p", { class: "switches" }, button("Copy LaTeX", text.value), canLink ? button("Copy link", location.href.split("#")[0] + link) : element("span", { class: "note" }, "The table is too long for a link.")), text];
    },
  };

  addEventListener("DOMContentLoaded", () => form.start());
  return { load, check, bounds, latex };
})();
