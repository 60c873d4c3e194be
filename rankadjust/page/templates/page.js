// The script of the report and of the site: the question of the first screen (1), and boards that are sorted and filtered (2).
// Names and texts come from other people's files: they are put into the page as text, never as HTML.
"use strict";

/** Return an element with attributes and children; what is not a node is put in as text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...children);
  return made;
}

/** Return what the page holds compressed under an id, null where it has none. */
async function unpacked(id) {
  const holder = document.getElementById(id);
  if (holder === null) {
    return null;
  }
  const packed = Uint8Array.from(atob(holder.textContent), (character) => character.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/** Return a number with four significant digits, thousands apart. */
function number(value) {
  const text = Math.abs(value) >= 1e4 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
  return text.replace(/^-?\d{4,}/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
}

// ---------------------------------------------------------------------------------------------------------------------
// (1) The question: a value goes in; its place between chance, counting, the published models and perfect comes out.

/** A mistake in what was typed: the message is for people. */
class Mistake extends Error {}

const question = {
  form: null,
  metrics: {},
  // The evaluations by data set, as far as they are loaded.
  loaded: {},
  // What is shown: null without a value.
  shown: null,

  async start() {
    // Its field named dataset hides the property of that name.
    this.form = document.getElementById("question");
    if (this.form === null) {
      return;
    }
    this.metrics = JSON.parse(this.form.getAttribute("data-metrics"));
    this.loaded = (await unpacked("answers-data")) ?? {};
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", () => this.show());
    document.querySelector(".copies").addEventListener("click", ({ target }) => this.copy(target.name));
    addEventListener("hashchange", () => this.follow());
    this.form.setAttribute("data-ready", "");
    await this.follow();
  },

  /** Take what the address says: #dataset=…&metric=…&value=…&evaluation=… */
  async follow() {
    const asked = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    const { dataset, value } = this.form.elements;
    if (asked.value !== undefined) {
      value.value = asked.value;
      dataset.value = asked.dataset ?? dataset.value;
    }
    await this.show(asked);
  },

  /** Return the data set that a name or an alias means, written in whatever case and punctuation. */
  named(text) {
    const folded = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
    const options = [...(document.getElementById("datasets")?.options ?? [])];
    const meant = (option) => [option.value, ...option.label.split(", ")].map(folded);
    return options.length === 0 ? text : options.find((option) => meant(option).includes(folded(text)))?.value;
  },

  async evaluations(dataset) {
    if (!Object.hasOwn(this.loaded, dataset) && !document.getElementById("answers-data")) {
      const answer = await fetch(`${this.form.getAttribute("data-root")}d/${encodeURIComponent(dataset)}/data.json`);
      this.loaded[dataset] = (await answer.json()).evaluations;
    }
    return Object.hasOwn(this.loaded, dataset) ? this.loaded[dataset] : [];
  },

  /** Show the answer to what stands in the form; wanted: the metric and the evaluation to choose, if they are there. */
  async show(wanted = {}) {
    const fields = this.form.elements;
    try {
      const dataset = this.named(fields.dataset.value);
      if (dataset === undefined) {
        throw new Mistake(`There is no data set '${fields.dataset.value}'; the list has those that are known.`);
      }
      const evaluations = await this.evaluations(dataset);
      if (evaluations.length === 0) {
        throw new Mistake(`What chance reaches on ${dataset} is not known.`);
      }
      const key = ({ protocol, split, side }) => [protocol, split, side].join(",");
      const same = fields.evaluation.dataset.of === dataset ? fields.evaluation.value : null;
      this.offer(fields.evaluation, evaluations.map((one) => [key(one), one.words]), wanted.evaluation ?? same);
      fields.evaluation.dataset.of = dataset;
      const evaluation = evaluations.find((one) => key(one) === fields.evaluation.value);
      const names = Object.keys(this.metrics).filter((name) => Object.hasOwn(evaluation.metrics, name));
      const metric = wanted.metric ?? (fields.metric.value || evaluation.metric);
      this.offer(fields.metric, names.map((name) => [name, this.metrics[name].label]), metric);
      this.answer(dataset, evaluation, fields.metric.value, fields.value.value.trim());
    } catch (error) {
      if (!(error instanceof Mistake)) {
        throw error;
      }
      this.say(null, [error.message]);
    }
  },

  /** Put options [value, text] into a field; choose the wanted one if it is there, else the first. */
  offer(field, options, wanted) {
    field.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
    field.value = options.some(([value]) => value === wanted) ? wanted : options[0][0];
  },

  /** Return the number that was typed, null for nothing. */
  value(text, { label, optimum, increasing }) {
    if (text === "") {
      return null;
    }
    const [, digits, percent] = /^([0-9]*\.?[0-9]+|[0-9]+\.)\s*(%?)$/.exec(text) ?? [];
    if (digits === undefined) {
      throw new Mistake(`'${text}' is not a value; write a number such as 0.338 or 33.8%.`);
    }
    const value = Number(percent ? `${digits}e-2` : digits);
    if (increasing && value > optimum) {
      const hint = !percent && value <= 100 ? `; if it is a percentage, write ${text}%` : "";
      throw new Mistake(`${label} is from 0 to ${optimum}, so ${text} cannot be its value${hint}.`);
    }
    if (!increasing && (value < optimum || percent)) {
      throw new Mistake(`${label} is ${optimum} or more, so ${text} cannot be its value.`);
    }
    return value;
  },

  answer(dataset, evaluation, name, text) {
    const reached = evaluation.metrics[name];
    const metric = { ...this.metrics[name], optimum: reached.optimum ?? this.metrics[name].optimum };
    const value = this.value(text, metric);
    const chance = reached.chance ?? (reached.low + reached.high) / 2;
    const models = evaluation.metric === name ? evaluation.values : [];
    const middle = (models[Math.floor((models.length - 1) / 2)] + models[Math.floor(models.length / 2)]) / 2;
    const marks = [
      ["chance", chance, reached.chance === undefined ? `${number(reached.low)} to ${number(reached.high)}` : number(chance)],
      reached.counting === undefined ? null : ["counting", reached.counting, number(reached.counting)],
      models.length < 3 ? null : ["median", middle, number(middle)],
      models.length === 0 ? null : ["best", models[0], `${number(models[0])}, ${evaluation.best}${evaluation.year ? `, ${evaluation.year}` : ""}`],
      value === null ? null : ["you", value, number(value)],
    ].filter((mark) => mark !== null);
    const room = metric.optimum - chance;
    const at = marks.map(([kind, number_, words]) => [kind, Math.min(Math.max((number_ - chance) / room, 0), 1), words]);
    const said = value === null ? this.standing(metric, reached, models, evaluation) : this.sentences(value, chance, metric, reached, models);
    this.shown = value === null ? null : { dataset, evaluation, name, text, value, chance, reached, said };
    this.say(at, said);
  },

  /** Return a sentence on what is known without a value. */
  standing({ label }, { counting, baseline }, models, { best, year }) {
    const counted = counting === undefined ? [] : [`Counting training triples alone reaches ${label} ${number(counting)} (${baseline}).`];
    const best_ = `${best}${year ? `, ${year}` : ""}`;
    const led = models.length === 0 ? [] : [`The best of ${models.length} published models has ${number(models[0])} (${best_}).`];
    return [...counted, ...led];
  },

  /** Return the sentences of `rankadjust adjust`, and the place among the published models. */
  sentences(value, chance, metric, reached, models) {
    const named = `${metric.label} ${Number(value.toPrecision(6))}`;
    const better = (one, other) => (metric.increasing ? one > other : one < other);
    const sentences = [];
    if (reached.counting !== undefined && reached.counting !== metric.optimum) {
      const gain = (value - reached.counting) / (metric.optimum - reached.counting);
      const way = `takes ${(100 * gain).toFixed(1)} % of the headroom`;
      const below = metric.increasing ? "is below that" : "is worse";
      const verdict = gain === 0 ? "is the same" : gain < 0 ? below : way;
      sentences.push(`Counting training triples alone reaches ${number(reached.counting)} (${reached.baseline}): ${named} ${verdict}.`);
    }
    const isSmall = metric.increasing && value > 0 && chance < 0.01 * value;
    if (!isSmall || sentences.length === 0) {
      const ends = [reached.chance ?? reached.high, reached.chance ?? reached.low];
      const [low, high] = ends.map((end) => (100 * (value - end) / (metric.optimum - end)).toFixed(1));
      const share = low === high ? low : `${low} to ${high}`;
      const way = `${share} % of the way from chance (${number(chance)}) to perfect (${metric.optimum})`;
      const isBelow = metric.increasing ? value < chance : value > chance;
      sentences.push(isBelow ? `${named} is worse than chance (${number(chance)}).` : `${named} is ${way}.`);
    }
    if (models.length > 0) {
      const place = models.filter((one) => better(one, value)).length + 1;
      sentences.push(`Among ${models.length} published model${models.length > 1 ? "s" : ""} it would have place ${place}.`);
    }
    return sentences;
  },

  /** Show marks [kind, position, words] on the strip, and sentences below it. */
  say(marks, sentences) {
    const track = element("div", { class: "track" });
    const legend = element("div", { class: "legend" });
    for (const [kind, at, words] of marks ?? []) {
      track.append(element("i", { class: kind, style: `left:${(100 * at).toFixed(2)}%` }));
      legend.append(element("span", {}, element("i", { class: kind }), `${kind} ${words}`));
    }
    document.getElementById("strip").replaceChildren(...(marks === null ? [] : [track, legend]));
    document.getElementById("sentence").textContent = sentences.join(" ");
    document.querySelector(".copies").hidden = marks === null || this.shown === null;
    document.getElementById("copied")?.remove();
  },

  /** Copy one of the four forms of the answer, and show what was copied. */
  async copy(form) {
    const { dataset, evaluation, name, text, value, chance, reached, said } = this.shown ?? {};
    if (said === undefined || !form) {
      return;
    }
    const { protocol, split, side, words } = evaluation;
    const quoted = /^[\w.,+@:-]+$/.test(dataset) ? dataset : `'${dataset.replaceAll("'", `'\\''`)}'`;
    const address = new URLSearchParams({ dataset, metric: name, value: text, evaluation: [protocol, split, side].join(",") });
    const texts = {
      latex: `On ${dataset} (${words}): ${said.join(" ")} `.replace(/[&%$#_{}]/g, "\\$&") + "\\cite{rankadjust}",
      link: `${location.href.split("#")[0]}#${address}`,
      json: JSON.stringify({ dataset, protocol, split, side, metric: name, value, chance, ...reached, said }, null, 1),
      command: `rankadjust adjust --dataset ${quoted} --protocol ${protocol} --split ${split} --side ${side} ${name}=${text.replace(/\s/g, "")}`,
    };
    document.getElementById("copied")?.remove();
    document.getElementById("answer").append(element("pre", { id: "copied", tabindex: "0" }, texts[form]));
    // Without the reader's leave it cannot be copied; it stands there all the same.
    await navigator.clipboard?.writeText(texts[form]).catch(() => null);
  },
};

// ---------------------------------------------------------------------------------------------------------------------
// (2) Boards.

const LEAST_TO_FILTER = 8;

/** Let the reader sort a board by its columns, filter it, and open what is folded in it. */
function enhance(table) {
  const [body] = table.tBodies;
  // A model and its variants stay together.
  const groups = () => [...body.rows].reduce((found, row) => {
    row.matches(".variant") ? found.at(-1).push(row) : found.push([row]);
    return found;
  }, []);
  const shown = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const sort = (header, column) => {
    const way = header.ariaSort === "descending" || (header.ariaSort === null && !header.matches(".n")) ? 1 : -1;
    [...table.tHead.rows[0].cells].forEach((cell) => { cell.ariaSort = null; });
    header.ariaSort = way === 1 ? "ascending" : "descending";
    const read = (text) => (header.matches(".n") ? Number.parseFloat(text.replaceAll(",", "")) : text);
    const compare = (one, other) => {
      const [first, second] = [one, other].map(([row]) => read(shown(row, column)));
      const empty = [first, second].map((value) => value === "" || Number.isNaN(value));
      return empty[0] - empty[1] || way * (typeof first === "number" ? first - second : first.localeCompare(second)) || 0;
    };
    body.append(...groups().sort(compare).flat());
  };
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = element("button", { type: "button", class: "sort" }, ...header.childNodes);
    header.replaceChildren(button);
    button.addEventListener("click", () => sort(header, column));
  });
  body.addEventListener("click", ({ target }) => {
    if (target.matches("button.more")) {
      const open = target.ariaExpanded !== "true";
      target.ariaExpanded = String(open);
      groups().find(([row]) => row.contains(target)).slice(1).forEach((row) => { row.hidden = !open; });
    }
  });
  const bar = element("div", { class: "bar-of-board" });
  if (body.rows.length >= LEAST_TO_FILTER) {
    const filter = element("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the board" });
    filter.addEventListener("input", () => groups().forEach(([row, ...variants]) => {
      const wanted = filter.value.toLowerCase();
      const fits = (one) => one.textContent.toLowerCase().includes(wanted);
      // What is looked for is seen: a variant that fits unfolds below its model.
      row.hidden = ![row, ...variants].some(fits);
      variants.forEach((one) => { one.hidden = row.hidden || !(row.querySelector(".more").ariaExpanded === "true" || (wanted && fits(one))); });
    }));
    bar.append(filter);
  }
  if (table.querySelector(".other") !== null) {
    const all = element("button", { type: "button", class: "all-columns", "aria-pressed": "false" }, "All columns");
    all.addEventListener("click", () => { all.ariaPressed = String(table.classList.toggle("whole")); });
    bar.append(all);
  }
  table.closest(".scroll").before(bar);
}

/** The boards of the report: one at a time, chosen by data set and evaluation. */
const picker = {
  async start() {
    this.form = document.getElementById("board-pick");
    if (this.form === null) {
      return;
    }
    this.all = await unpacked("boards-data");
    const names = [...new Set(this.all.map(([dataset]) => dataset))].sort((one, other) => one.localeCompare(other));
    this.form.elements.dataset.replaceChildren(...names.map((name) => new Option(name, name)));
    this.form.addEventListener("change", ({ target }) => {
      const { dataset, evaluation } = this.form.elements;
      const fits = this.all.filter(([name]) => name === dataset.value);
      this.show(fits.find(([, words]) => target === evaluation && words === evaluation.value) ?? fits[0]);
    });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.show(this.all[0]);
    this.form.setAttribute("data-ready", "");
  },

  show(board) {
    const { dataset, evaluation } = this.form.elements;
    const [name, words, , html] = board;
    dataset.value = name;
    const others = this.all.filter(([other]) => other === name);
    evaluation.replaceChildren(...others.map(([, one, results]) => new Option(`${one} (${results})`, one, false, one === words)));
    const shown = document.getElementById("board");
    // It comes from a template that escapes every name.
    shown.innerHTML = html;
    shown.prepend(element("h3", {}, `${name}: ${words}`));
    shown.querySelectorAll("table.board").forEach(enhance);
  },
};

addEventListener("DOMContentLoaded", async () => {
  document.querySelectorAll("table.board").forEach((table) => document.getElementById("board-pick")?.parentNode.contains(table) || enhance(table));
  await picker.start();
  await question.start();
});
