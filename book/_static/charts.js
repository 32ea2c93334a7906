/* Draws the charts of a page and runs its live controls.
 *
 * A chart is a <figure class="sr-chart"> with its Vega-Lite specification as JSON; what a chart, the answer
 * card or a strip needs to know of controls travels in `usermeta.scaleright` or a `.sr-model` script. All views
 * of the page, and one hidden view (the hub) that computes the numbers in sentences, share the same values.
 */
(function () {
  "use strict";
  const base = new URL(".", document.currentScript.src);
  const page = { controls: new Map(), defined: new Map(), rows: new Map(), follow: {}, values: {}, defaults: {}, views: {}, hub: null, judge: null, laid: Promise.resolve() };
  const STEPS = 200;
  const layouts = new Map();
  /* `ast`: Vega interprets its expressions, so that the page's policy can forbid to run text as a program. */
  const EMBED = { actions: false, ast: true };

  // ---- words and steps -------------------------------------------------------------------------------------

  const tidy = (x, digits = 4) => Number(x.toPrecision(digits));
  const plain = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });
  const LARGE = { quadrillion: 1e15, trillion: 1e12, billion: 1e9, million: 1e6 };

  /** A control's value, with the minus sign of the sentences. */
  function written(control, value) {
    const size = Math.abs(value), sign = value < 0 ? "−" : "";
    if (control.percent) return sign + tidy(size * 100, 3);
    if (size >= 1e18) return sign + tidy(size, 4).toExponential().replace("+", "");
    if (size >= 1e9) {
      const [word, scale] = Object.entries(LARGE).find((entry) => size >= entry[1]);
      return `${sign}${plain.format(tidy(size / scale))} ${word}`;
    }
    return sign + plain.format(tidy(size, size >= 1e4 ? 7 : 4));
  }

  function units(control) {
    if (control.percent) return ["", "%"];
    if (/^USD\b/.test(control.unit)) return ["$", control.unit.slice(3).trim()];
    return ["", control.unit];
  }

  const spoken = (control, value) => {
    const [before, after] = units(control);
    return before + written(control, value) + (after === "%" ? " %" : after ? " " + after : "");
  };

  /** The values a slider stops at: even ratios or even steps, round numbers, both ends and the default. */
  function stops(control) {
    const { low, high, whole } = control;
    const values = new Set([low, high, control.value]);
    if (control.log && whole && high <= 1e6) {
      // Sizes that machines and batches come in: 1, 2, 3, 4, 6, 8, 12, 16 ...
      for (let x = 1; x <= high; x *= 2) for (const size of [x, x * 1.5]) if (Number.isInteger(size)) values.add(size);
    } else if (control.log) {
      for (let i = 0; i <= STEPS; i++) {
        const x = tidy(low * Math.pow(high / low, i / STEPS), 2);
        values.add(whole ? Math.round(x) : x);
      }
    } else {
      const raw = (high - low) / STEPS, power = Math.pow(10, Math.floor(Math.log10(raw)));
      let step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
      if (whole) step = Math.max(1, Math.round(step));
      for (let k = Math.ceil(low / step); k * step <= high; k++) values.add(tidy(k * step, 10));
    }
    return [...values].filter((x) => (x >= low && x <= high) || x === control.value).sort((a, b) => a - b);
  }

  // ---- the page's model ------------------------------------------------------------------------------------

  /** Make the texts of the page's scripts whole, which `press/pages.py` has compressed. */
  const unpack = () => Promise.all([...document.querySelectorAll('script[type^="application/gzip"]')].map(async (script) => {
    const packed = new Blob([Uint8Array.from(atob(script.textContent), (sign) => sign.charCodeAt(0))]);
    script.textContent = await new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).text();
    script.type = "application/json";
  }));

  /** What a script says, with the parts that the page tells once; each use gets its own copy, since Vega marks the rows it draws. */
  const told = (script, shared) => JSON.parse(script.textContent, (key, value) => (value && value["sr-shared"] ? structuredClone(shared[value["sr-shared"]]) : value));

  /** A specification with the definitions that the page has told elsewhere and it names. */
  function whole(spec) {
    if (spec.params) spec.params = spec.params.map((param) => (typeof param === "string" ? { ...page.defined.get(param) } : param));
    return spec;
  }

  function learn(model, params = []) {
    const defined = (model.defined || []).map((entry) => (entry.name ? entry : params.find((param) => param.name === entry)));
    for (const control of model.controls || []) if (!page.controls.has(control.name)) page.controls.set(control.name, control);
    for (const entry of defined) page.defined.set(entry.name, entry);
    for (const entry of model.rows || []) page.rows.set(entry.name, entry);
    Object.assign(page.follow, model.follow || {});
    page.judge = model.judge || page.judge;
  }

  function settle() {
    for (const [name, control] of page.controls) page.values[name] = page.defaults[name] = control.value;
    const asked = new URLSearchParams(location.search), given = {};
    for (const [name, control] of page.controls) {
      const value = asked.has(name) ? read(control, asked.get(name)) : undefined;
      if (value !== undefined) given[name] = value;
    }
    // An address may name a choice alone: what follows it comes first, then what is given.
    Object.assign(page.values, followed(given));
    Object.assign(page.values, given);
    for (const control of page.controls.values()) if (control.kind === "number") control.stops = stops(control);
  }

  /** The values that follow the choices among these. */
  const followed = (values) => Object.assign({}, ...Object.keys(values).map((name) => (page.follow[name] || {})[values[name]]));

  /** A control's value from text, or undefined if the control does not allow it. */
  function read(control, text) {
    if (control.kind === "flag") return text === "true" ? true : text === "false" ? false : undefined;
    if (control.kind === "choice") return control.choices.find((choice) => String(choice) === text);
    const [, plain, word] = String(text).trim().match(/^(.*?)(?:\s*(quadrillion|trillion|billion|million))?$/i);
    const figure = Number(/^\d{1,3}(,\d{3})+(\.\d*)?$/.test(plain) ? plain.replace(/,/g, "") : plain), value = word ? tidy(figure * LARGE[word.toLowerCase()], 12) : figure;
    const fits = plain !== "" && value >= control.low && value <= control.high && (!control.whole || Number.isInteger(value));
    return fits ? value : undefined;
  }

  function set(changes) {
    const all = { ...changes };
    for (const name of Object.keys(changes)) Object.assign(all, (page.follow[name] || {})[changes[name]] || {}, { [name]: changes[name] });
    Object.assign(page.values, all);
    refreshControls();
    schedule();
    return page.settled;
  }

  function reset() {
    Object.assign(page.values, page.defaults);
    refreshControls();
    schedule();
    return page.settled;
  }

  /** Tell the page that a control has moved, and what stays at the defaults that it depends on it. */
  function markMoved() {
    const moved = (name) => page.values[name] !== page.defaults[name];
    document.body.classList.toggle("sr-changed", Object.keys(page.defaults).some(moved));
    document.querySelectorAll("[data-sr-of]").forEach((part) => part.classList.toggle("sr-behind", part.dataset.srOf.split(" ").some(moved)));
  }

  let waiting = null, resting = null;
  /** Update every view once a frame, however fast a slider moves. */
  function schedule() {
    takeTurn();
    if (waiting) return;
    page.settled = waiting = new Promise((done, fail) => requestAnimationFrame(() => update().then(done, fail)));
  }

  /** First what the reader sees: sentences, tables and the charts in sight; then the others one by one, while the reader goes on. */
  async function update() {
    waiting = null;
    markMoved();
    rest();
    if (page.hub) await feed(page.hub);
    tell();
    const drawn = [...document.querySelectorAll("figure.sr-drawn")], seen = drawn.filter(inSight);
    await Promise.all(seen.map(follow));
    spread(seen);
    for (const figure of drawn.filter((figure) => !seen.includes(figure))) {
      await new Promise((done) => setTimeout(done));
      if (waiting) return waiting; // a control has moved again: all will be drawn then
      await follow(figure);
      spread([figure]);
    }
  }

  function inSight(figure) {
    const { top, bottom } = figure.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }

  /** Let the chart of a figure follow the controls. */
  async function follow(figure) {
    const view = page.views[figure.dataset.srName || figure.id];
    if (view) await feed(view);
  }

  /** Give a view the values of the controls, and what the hub has computed of them. */
  async function feed(view) {
    const known = view.getState({ signals: () => true, data: () => false }).signals;
    const give = (name, value) => { if (!Object.is(known[name], value)) view.signal(name, value); };
    for (const name of Object.keys(known)) {
      if (name in page.values) give(name, page.values[name]);
      else if (view !== page.hub && page.defined.has(name)) give(name, page.hub.signal(name));
    }
    await view.runAsync();
  }

  /** What a chart reads of the page's definitions, as values from the hub: it computes them once for all views. */
  function fromHub(spec) {
    const { params = [], ...rest } = spec, names = new Set(JSON.stringify([rest, params.filter((p) => !page.defined.has(p.name))]).match(/\b[A-Za-z_]\w*/g));
    spec.params = params.filter(({ name }) => !page.defined.has(name) || names.has(name))
      .map((param) => (page.defined.has(param.name) ? { name: param.name, value: page.hub.signal(param.name) } : param));
  }

  /** Write the case into the address once the reader rests: browsers refuse one that is written with each frame. */
  function rest() {
    clearTimeout(resting);
    page.remembered = new Promise((done) => { resting = setTimeout(() => { done(remember()); grayOut(); }, 200); });
  }

  function remember() {
    const address = new URL(location.href), moved = (name) => page.values[name] !== page.defaults[name];
    const others = followed(Object.fromEntries(Object.entries(page.values).filter(([name]) => moved(name))));
    for (const name of page.controls.keys()) {
      // A value moved back to its default is named too where a choice would else bring another.
      if (moved(name) || (name in others && others[name] !== page.values[name])) address.searchParams.set(name, page.values[name]);
      else address.searchParams.delete(name);
    }
    if (address.href !== location.href) history.replaceState(null, "", address);
  }

  /** Rank what hangs on an operator after all that it reads, each once: Vega's own way follows every path through the formulas, and these are too many to count. */
  function rerank(operator) {
    const later = [], state = new Map(), stack = [[operator, 0]];
    while (stack.length) {
      const top = stack[stack.length - 1], [node] = top, targets = node._targets || [];
      state.set(node, "open");
      if (top[1] < targets.length) {
        const next = targets[top[1]++];
        if (state.get(next) === "open") throw new Error("Cycle detected in dataflow graph.");
        if (!state.has(next)) stack.push([next, 0]);
      } else {
        state.set(node, "done");
        later.push(node);
        stack.pop();
      }
    }
    later.reverse().forEach((node) => this.rank(node));
  }

  /** A view that draws nothing: it computes the page's definitions and rows, of which only some may be kept, and more signals after them. */
  async function computing(kept = () => true, more = {}) {
    const signals = Object.entries(page.values).filter(([name]) => kept(name)).map(([name, value]) => ({ name, value }));
    const defined = [...page.defined.values()].filter(({ name }) => kept(name)).map(({ name, expr }) => ({ name, update: expr }));
    for (const [name, update] of Object.entries(more)) defined.push({ name, update });
    const rows = [...page.rows.values()].filter(({ name }) => kept(name));
    // Each view writes its numbers into its rows: two that share them would overwrite each other's.
    const asked = (when) => (when ? [{ type: "filter", expr: when }] : []);
    const data = rows.map(({ name, values, formulas, when }) => ({ name, values: structuredClone(values), transform: [...asked(when), ...formulas.map((formula) => ({ type: "formula", ...formula }))] }));
    const nowhere = document.createElement("div");
    const result = await window.vegaEmbed(nowhere, { signals: [...signals, ...defined], data }, { ...EMBED, mode: "vega", renderer: "none" });
    return result.view;
  }

  // ---- options that the rest of the case rules out ---------------------------------------------------------

  /** The view that is asked what the answer would be with each option, while the hub keeps the reader's case. */
  async function startJudge() {
    const { there, why } = page.judge, names = new Set(), texts = [there, why];
    while (texts.length) {
      for (const name of texts.pop().match(/\b[A-Za-z_]\w*/g) || []) {
        if (names.has(name)) continue;
        names.add(name);
        if (page.defined.has(name)) texts.push(page.defined.get(name).expr);
        if (page.rows.has(name)) texts.push(page.rows.get(name).when || "", ...page.rows.get(name).formulas.map(({ expr }) => expr));
      }
    }
    page.judge.view = await computing((name) => names.has(name), { sr_there: there, sr_why: why });
    page.judge.inputs = [...page.controls.keys()].filter((name) => names.has(name));
    return grayOut();
  }

  /** Why there would be no answer if a control had another value; empty where there is one. */
  async function against(name, value) {
    const { view, inputs } = page.judge, there = { ...page.values, ...(page.follow[name] || {})[value], [name]: value };
    for (const input of inputs) if (!Object.is(view.signal(input), there[input])) view.signal(input, there[input]);
    await view.runAsync();
    return view.signal("sr_there") ? "" : String(view.signal("sr_why"));
  }

  /** Gray out the options with which there is no answer, once all else follows the controls; one that moves meanwhile ends this, since all is asked anew then. */
  function grayOut() {
    if (!page.judge || !page.judge.view) return page.judged;
    const turn = takeTurn();
    const asking = async () => {
      await Promise.allSettled([page.settled]);
      let since = performance.now();
      for (const name of page.judge.inputs) {
        const control = page.controls.get(name), reasons = [];
        if (control.kind !== "choice" || !matters(control)) continue;
        for (const choice of control.choices) {
          if (turn !== page.judge.turn) return;
          reasons.push(await against(name, choice));
          if (performance.now() - since < 40) continue;
          await new Promise((done) => setTimeout(done)); // a reader may wish to scroll
          since = performance.now();
        }
        document.querySelectorAll(`[data-control="${name}"]`).forEach((box) => rule(box, control, reasons));
      }
    };
    // One after the other: two would set the same view.
    page.judge.last = (page.judge.last || Promise.resolve()).then(asking);
    return (page.judged = page.judge.last);
  }

  /** End the graying out that goes on; the number of the next. */
  const takeTurn = () => page.judge && (page.judge.turn = (page.judge.turn || 0) + 1);

  const RULED_OUT = " (n/a)";

  /** Tell of a menu which options are ruled out, and why; they stay to be picked, and the card then says what would help. Where all are, it is not this menu that can help: none is grayed out. */
  function rule(box, control, reasons) {
    if (reasons.every(Boolean)) reasons = reasons.map(() => "");
    const menu = box.querySelector("select"), note = box.querySelector(".sr-ruled");
    reasons.forEach((reason, at) => {
      const option = menu.options[at];
      option.className = reason ? "sr-out" : "";
      option.textContent = `${control.choices[at]}${reason ? RULED_OUT : ""}`;
      option.title = reason;
    });
    const out = reasons.filter(Boolean).length;
    note.textContent = out ? `${out} of ${reasons.length} ${out === 1 ? "has" : "have"} no answer in your case; pick one to see why.` : "";
  }

  const startHub = async () => { page.hub = await computing(); };

  /** Write the live numbers of the page's sentences and tables. */
  function tell() {
    document.querySelectorAll("[data-sr-when]").forEach((part) => {
      const [, not, name] = part.dataset.srWhen.match(/^(!?)(.*)$/);
      part.hidden = Boolean(page.hub.signal(name + "_text")) === Boolean(not);
    });
    document.body.classList.toggle("sr-none", Boolean(document.querySelector(".sr-beneath[hidden]")));
    document.querySelectorAll("[data-sr-label]").forEach((view) => {
      const text = String(page.hub.signal(view.dataset.srLabel + "_text"));
      if (view.getAttribute("aria-label") !== text) view.setAttribute("aria-label", text);
    });
    document.querySelectorAll("[data-sr-cell]").forEach((span) => {
      const [rows, index, field] = span.dataset.srCell.split(" "), text = String(page.hub.data(rows)[index][field]);
      if (span.textContent === text) return;
      span.textContent = text;
      const row = span.parentElement.tagName === "TH" && span.closest("tr"), notes = row && row.nextElementSibling;
      if (row) row.hidden = !text;
      if (notes && notes.className === "sr-notes") notes.hidden = !text;
    });
    document.querySelectorAll("[data-sr-signal]").forEach((span) => {
      const name = span.dataset.srSignal;
      if (!page.defined.has(name + "_text")) return;
      const text = String(page.hub.signal(name + "_text"));
      if (span.textContent !== text) span.textContent = text;
    });
    const said = (name) => (page.defined.has(name) ? String(page.hub.signal(name)) : "");
    document.dispatchEvent(new CustomEvent("sr-told", { detail: said }));
  }

  // ---- the strip of controls -------------------------------------------------------------------------------

  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
    node.append(...children);
    return node;
  };

  let strips = 0;
  const grids = [];
  /** So many controls stand open before the others fold away. */
  const OPEN = 6, FOLDED_FROM = 9;

  /** Whether a control matters at what is chosen now. */
  const matters = (control) => Object.entries(control.only || {}).every(([name, of]) => of.includes(page.values[name]));

  /** Show the controls that matter, the first of them open. */
  function arrange({ grid, more, details, boxes }) {
    const there = boxes.filter((box) => {
      box.hidden = !matters(page.controls.get(box.dataset.control));
      return !box.hidden;
    });
    const open = there.length < FOLDED_FROM ? there.length : OPEN;
    there.forEach((box, index) => {
      const home = index < open ? grid : more;
      // A control that is moved within the page loses the focus: only those move that have to.
      if (box.parentElement !== home) home.insertBefore(box, boxes.slice(boxes.indexOf(box) + 1).find((of) => of.parentElement === home) || null);
    });
    details.hidden = there.length <= open;
    details.querySelector("summary").textContent = `${there.length - open} more inputs`;
  }

  function drawControl(control, prefix) {
    const id = `${prefix}-${control.name}`, value = page.values[control.name];
    const change = (next) => set({ [control.name]: next });
    const label = make("label", { for: id, title: control.help }, control.label);
    if (control.kind === "flag") {
      const box = make("input", { type: "checkbox", id, checked: value });
      box.addEventListener("input", () => change(box.checked));
      return make("div", { class: "sr-control sr-flag", "data-control": control.name }, box, label);
    }
    if (control.kind === "choice") {
      const menu = make("select", { id, "aria-describedby": `${id}-ruled` }, ...control.choices.map((c) => make("option", { value: String(c), selected: c === value }, String(c))));
      menu.addEventListener("input", () => change(control.choices[menu.selectedIndex]));
      const box = make("div", { class: "sr-control", "data-control": control.name }, label, menu, make("p", { class: "sr-ruled", id: `${id}-ruled` }));
      // What was computed beforehand knows the models of the menu alone.
      const chapter = (location.pathname.match(/\/notebooks\/([^/.]+)/) || [])[1];
      if (control.own && chapter && prefix === "sr1") box.append(make("p", { class: "sr-own" }, "One of your own: ", make("code", {}, `scaleright run ${chapter} -p ${control.name}=config.json`)));
      return box;
    }
    const [before, after] = units(control);
    const field = make("input", { type: "text", inputmode: "decimal", class: "sr-field", size: 6, "aria-label": `${control.label}, exact value` });
    const range = make("input", { type: "range", id, min: 0, max: control.stops.length - 1, step: 1 });
    range.addEventListener("input", () => change(control.stops[Number(range.value)]));
    const box = make("div", { class: "sr-control", "data-control": control.name },
      make("div", { class: "sr-top" }, label, make("span", { class: "sr-value" }, before, field, after ? " " + after : "")), range, make("p", { class: "sr-refused", role: "alert" }));
    field.addEventListener("change", () => {
      const given = field.value.trim().replace("−", "-").replace(before === "$" ? /^\$\s*/ : "", "");
      const typed = read(control, control.percent && given ? String(Number(given.replace(/\s*%$/, "")) / 100) : given);
      const note = box.querySelector(".sr-refused");
      field.setAttribute("aria-invalid", String(typed === undefined));
      note.textContent = typed === undefined ? `${spoken(control, control.low)} to ${spoken(control, control.high)}${control.whole ? ", whole" : ""}` : "";
      if (typed !== undefined) change(typed);
    });
    return box;
  }

  function drawStrip(box, names) {
    const prefix = `sr${++strips}`, shown = names.map((name) => page.controls.get(name)).filter(Boolean);
    if (!shown.length) return;
    const grid = make("div", { class: "sr-grid" }), more = make("div", { class: "sr-grid" });
    const details = make("details", {}, make("summary"), more);
    grids.push({ grid, more, details, boxes: shown.map((control) => drawControl(control, prefix)) });
    const button = make("button", { type: "button", class: "sr-reset" }, "Back to the defaults");
    button.addEventListener("click", reset);
    box.prepend(make("div", { class: "sr-head" }, make("strong", {}, "Your case"), button), grid);
    box.append(details);
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Your case: controls of the charts and numbers on this page");
  }

  function refreshControls() {
    grids.forEach(arrange);
    document.querySelectorAll("[data-control]").forEach((box) => {
      const control = page.controls.get(box.dataset.control), value = page.values[control.name];
      const input = box.querySelector("input[type=range], select, input[type=checkbox]");
      if (control.kind === "flag") input.checked = value;
      else if (control.kind === "choice") input.selectedIndex = control.choices.indexOf(value);
      else {
        if (!control.stops.includes(value)) {
          control.stops = [...control.stops, value].sort((a, b) => a - b);
        }
        input.max = control.stops.length - 1;
        input.value = control.stops.indexOf(value);
        input.style.setProperty("--filled", `${(100 * input.value) / input.max}%`);
        input.setAttribute("aria-valuetext", spoken(control, value));
        const field = box.querySelector(".sr-field");
        field.value = written(control, value);
        field.removeAttribute("aria-invalid");
        if (!CSS.supports("field-sizing", "content")) field.style.width = `${field.value.length + 1}ch`;
        box.querySelector(".sr-refused").textContent = "";
      }
      box.classList.toggle("sr-moved", value !== page.defaults[control.name]);
    });
  }

  // ---- charts ----------------------------------------------------------------------------------------------

  /** Break axis titles that are wider than the chart into lines; returns the lines. */
  function wrapTitles(spec, most) {
    if (Array.isArray(spec)) return spec.flatMap((item) => wrapTitles(item, most));
    return Object.entries(spec).flatMap(([key, item]) => {
      if ((key === "x" || key === "y") && item && typeof item.title === "string" && item.title.length > most) {
        item.title = item.title.split(" ").reduce((lines, word) => {
          const last = lines[lines.length - 1];
          return last && (last + " " + word).length <= most ? [...lines.slice(0, -1), last + " " + word] : [...lines, word];
        }, []);
        return item.title;
      }
      return ["layer", "encoding"].includes(key) ? wrapTitles(item, most) : [];
    });
  }

  /** Below this width [px] a chart is laid out as on a phone. */
  const SLIM = 480;
  /** So many names of lines fit into a key: colors repeat after eight. */
  const MOST_KEYS = 6;

  const styleOf = (spec) => (spec.mark || {}).style;
  const layersOf = (spec) => [spec, ...(spec.layer || []).flatMap(layersOf)];

  /** The names of lines as a key above the plot instead of beside their ends: a phone has no margin for them, and inside the plot they would lie on the lines. Where a color stands for several lines their names go inside. Returns how many stand in a row. */
  function keyLines(spec, width) {
    const layers = layersOf(spec), dot = layers.find((layer) => styleOf(layer) === "line-dot");
    if (!dot) return 0;
    const text = layers.find((layer) => styleOf(layer) === "line-name").encoding.text, { color } = dot.encoding, { domain } = color.scale || {};
    if (text.field !== color.field || !Array.isArray(domain) || domain.length > MOST_KEYS) {
      const { style } = spec.config;
      Object.assign(style["line-name"], { align: "right", dx: -16, dy: -11 });
      Object.assign(style["line-dot"], { align: "right", dx: -2, dy: -11 });
      return 0;
    }
    const columns = Math.max(1, Math.min(4, domain.length, Math.floor(width / (7.5 * Math.max(...domain.map((name) => name.length)) + 34))));
    // All layers of a color share its key, drawn as the first of them is.
    const inked = layers.filter(({ encoding }) => encoding?.color?.field === color.field), { mark } = inked[0];
    const key = { columns, offset: 26, symbolOpacity: 1, symbolStrokeWidth: 4, symbolType: (mark.type || mark) === "line" ? "stroke" : "square", title: null };
    inked.forEach(({ encoding }) => { encoding.color.legend = key; });
    const prune = (part) => { if (part.layer) part.layer = part.layer.filter((layer) => !/^line-(name|dot)$/.test(styleOf(layer) || "")).map((layer) => (prune(layer), layer)); };
    prune(spec);
    return columns;
  }

  /** Few enough ticks for their labels to stand apart; those of a logarithmic axis are few already. */
  function fewTicks(spec) {
    for (const { encoding } of layersOf(spec)) {
      const x = encoding?.x;
      if (x?.axis && x.type === "quantitative" && x.scale?.type !== "log") x.axis = { ...x.axis, tickCount: 3 };
    }
  }

  const isRowValue = (spec) => styleOf(spec) === "row-value";
  const holdsRows = (spec) => isRowValue(spec) || (spec.layer || []).some(holdsRows);

  /** The name and the value of a row above its bar instead of beside it, so that bars and words have the whole width. */
  function stackRows(spec) {
    const y = (spec.encoding || {}).y;
    if (y && y.type === "nominal") {
      y.axis = { ...y.axis, labels: false };
      if (isRowValue(spec)) {
        const { x, text, ...others } = spec.encoding, read = (field) => `datum[${JSON.stringify(field)}]`;
        Object.assign(spec.mark, { align: "left", dx: 0, dy: -10, fontSize: 12 });
        spec.encoding = { ...others, x: { value: 0 }, text: { value: { expr: `${read(y.field)} + ': ' + ${read(text.field)}` } } };
      } else {
        spec.mark.yOffset = 9;
        if (spec.mark.height) spec.mark.height = { band: 0.34 };
      }
    }
    (spec.layer || []).forEach(stackRows);
  }

  /** The rows of a table that is written as CSV, in lines. */
  function rowsOf(csv) {
    const cell = /,(?:"((?:[^"]|"")*)"|([^,]*))/g;
    const split = (line) => [...("," + line).matchAll(cell)].map(([, quoted, plain]) => (quoted === undefined ? plain : quoted.replaceAll('""', '"')));
    const [head, ...rows] = csv.trim().split("\n").map(split);
    return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
  }

  /** Tables as rows: Vega would read CSV by a program that it makes of the header, which the page's policy forbids. */
  function readTables(part, sets) {
    if (!part || typeof part !== "object") return;
    if ((part.format || {}).type === "csv") {
      part.format.type = "json";
      for (const [home, key] of [[part, "values"], [sets, part.name]]) if (typeof home[key] === "string") home[key] = rowsOf(home[key]);
    }
    for (const [key, item] of Object.entries(part)) if (key !== "datasets" && key !== "values") readTables(item, sets);
  }

  /** The room for a chart; one in a folded block has none yet. */
  const room = (figure) => figure.querySelector(".sr-view").clientWidth || 640;

  /** Lay a chart out for its room; returns in words what of its layout hangs on that. */
  function lay(spec, width) {
    const slim = width < SLIM, rows = slim && holdsRows(spec);
    const columns = slim ? keyLines(spec, width) : 0;
    if (slim) fewTicks(spec);
    if (rows) {
      stackRows(spec);
      if (spec.height.step) spec.height.step *= 44 / 30;
      else spec.height *= 44 / 30;
    }
    return [slim, columns, ...wrapTitles(spec, Math.max(18, Math.floor(width / 8) - 12))].join("\n");
  }

  /** Of a chart as tall as it has rows, what sets its height: with a step Vega-Lite cannot fit the width to the page. */
  function tall(spec) {
    const step = (spec.height || {}).step;
    if (!step) return undefined;
    spec.height = step;
    return ({ height, signals = [], scales, ...drawn }) => ({
      ...drawn,
      signals: [...signals, { name: "height", update: `${step} * max(1, length(domain("y")))` }],
      scales: scales.map((scale) => (scale.name === "y" ? { ...scale, range: { step } } : scale)),
    });
  }

  async function draw(figure, spec) {
    const target = figure.querySelector(".sr-view"), key = figure.dataset.srName || figure.id;
    const host = make("div", { class: "sr-host" });
    layouts.set(figure, lay(spec, room(figure)));
    figure.classList.toggle("sr-stacked", room(figure) < SLIM && holdsRows(spec));
    if ((spec.autosize || {}).resize) spec.width = "container";
    target.prepend(host);
    // The page's own strip sets these; drop the inputs that other viewers show.
    for (const param of spec.params || []) {
      delete param.bind;
      if (param.name in page.values) param.value = page.values[param.name];
    }
    readTables(spec, spec.datasets || {});
    fromHub(spec);
    const patch = tall(spec);
    try {
      const result = await window.vegaEmbed(host, spec, { ...EMBED, patch, mode: "vega-lite", renderer: "svg", tooltip: { theme: "custom" } });
      page.views[key] = result.view;
      await steady(result.view);
      target.querySelector(".sr-alt")?.remove();
      target.style.minHeight = "";
      figure.classList.add("sr-drawn");
      spread([figure]);
      result.view.addResizeListener(() => requestAnimationFrame(() => spread([figure])));
    } catch (error) {
      host.remove();
      console.error(`chart ${key}: ${error.message}`);
    }
  }

  /** Lay a chart out until its width stays: words that reach beyond the plot reach further in a narrower one. */
  async function steady(view) {
    for (let passes = 0, before = NaN; passes < 4 && view.width() !== before; passes++) {
      before = view.width();
      await view.resize().runAsync();
    }
  }

  /** Draw a chart anew whose room asks for another layout. */
  async function drawAnew(figure, shared) {
    const spec = whole(told(figure.querySelector(".sr-spec"), shared)), key = figure.dataset.srName || figure.id;
    const { datasets, ...form } = spec;
    if (lay(structuredClone(form), room(figure)) === layouts.get(figure)) return;
    const target = figure.querySelector(".sr-view"), before = target.querySelector(".sr-host");
    target.style.minHeight = `${before?.clientHeight ?? 0}px`;
    page.views[key]?.finalize();
    delete page.views[key];
    before?.remove();
    await draw(figure, spec);
    schedule(); // a control may have moved meanwhile
  }

  /** The names at the ends of lines with their dots and how far they reach across, and down to where there is room for them. */
  function ends(figure) {
    const names = [], dots = [];
    for (const text of figure.querySelectorAll(".mark-text text[font-weight=bold]:not([text-anchor=middle])")) {
      const [, x, y] = ((text.getAttribute("transform") || "").match(/\(([-\d.]+)[ ,]+([-\d.]+)/) || []).map(Number);
      if (y !== undefined && text.textContent) (text.textContent === "●" ? dots : names).push({ text, x, y });
    }
    const floor = names.length ? (figure.querySelector(".background")?.getBBox().height || Infinity) - 2 : 0;
    const rows = names.map(({ text, x, y }) => {
      // Lines that end at one place have a dot each.
      const near = dots.findIndex((dot) => Math.abs(dot.y - y) < 1 && Math.abs(dot.x - x) < 24), box = text.getBBox();
      return { y, left: x + box.x - 16, right: x + box.x + box.width + 4, texts: [text, ...(near < 0 ? [] : dots.splice(near, 1)).map((dot) => dot.text)] };
    });
    return { rows: rows.sort((a, b) => a.y - b.y), floor };
  }

  /** Move those of these names apart that would lie on each other; `translate` leaves the positions that Vega sets untouched. */
  function part({ rows, floor }) {
    const gap = 16, meet = (a, b) => a.left < b.right && b.left < a.right;
    rows.forEach((row, i) => { row.to = Math.max(row.y, ...rows.slice(0, i).filter((other) => meet(row, other)).map((other) => other.to + gap)); });
    for (let i = rows.length - 1; i >= 0; i--) {
      const row = rows[i], below = rows.slice(i + 1).filter((other) => meet(row, other));
      row.to = Math.min(row.to, Math.max(floor, row.y), ...below.map((other) => other.to - gap));
    }
    for (const row of rows) row.texts.forEach((text) => { text.style.translate = row.to === row.y ? "" : `0 ${(row.to - row.y).toFixed(1)}px`; });
  }

  /** The words of a figure that stand at a dot or at the foot of a rule, and what they are to stay clear of: lines, dots and other words, all in one system of coordinates. */
  function words(figure) {
    const lines = [], boxes = [], found = [], place = (mark) => ((mark.getAttribute("transform") || "").match(/\(([-\d.]+)[ ,]+([-\d.]+)/) || []).slice(1).map(Number);
    for (const path of figure.querySelectorAll(".mark-line path:not([opacity='0'])")) {
      let last = null;
      for (const [, kind, x, y] of (path.getAttribute("d") || "").matchAll(/([ML])\s*(-?[\d.]+)[ ,](-?[\d.]+)/g)) {
        const at = [Number(x), Number(y)];
        if (kind === "L" && last) lines.push([last, at]);
        last = at;
      }
    }
    if (!lines.length) return { lines, boxes, found };
    for (const dot of figure.querySelectorAll(".mark-symbol path:not([opacity='0'])")) {
      const [x, y] = place(dot);
      if (y !== undefined) boxes.push({ left: x - 4, right: x + 4, top: y - 4, bottom: y + 4 });
    }
    const floor = figure.querySelector(".background")?.getBBox().height || 0;
    for (const text of figure.querySelectorAll(".mark-text text:not([font-weight=bold])")) {
      const [x, y] = place(text), datum = text.__data__?.datum || {}, box = text.textContent && y !== undefined ? text.getBBox() : null;
      if (!box) continue;
      const foot = "rule" in datum && y > floor - 60 && text.getAttribute("text-anchor") !== "middle", high = y + box.y;
      const moves = foot ? Array.from({ length: Math.max(1, Math.floor(high / 8)) }, (_, i) => -8 * i) : "_wide" in datum || "worst" in datum ? [0, -11, 11, -16, 16] : [0];
      found.push({ text, moves, box: { left: x + box.x, right: x + box.x + box.width, top: high + 2, bottom: high + box.height - 2 } });
    }
    return { lines, boxes, found };
  }

  /** Whether a piece of a line passes through a box. */
  function passes([[x, y], [x2, y2]], { left, right, top, bottom }) {
    let from = 0, to = 1;
    for (const [start, step, low, high] of [[x, x2 - x, left, right], [y, y2 - y, top, bottom]]) {
      if (!step) { if (start < low || start > high) return false; continue; }
      const ends = [(low - start) / step, (high - start) / step];
      from = Math.max(from, Math.min(...ends)); to = Math.min(to, Math.max(...ends));
    }
    return from < to;
  }

  /** Move each of these words to where it meets least, or leave it where all places are alike. */
  function clear({ lines, boxes, found }) {
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    for (const { text, moves, box } of found) {
      let best = 0, least = Infinity;
      for (const move of moves) {
        const there = { ...box, top: box.top + move, bottom: box.bottom + move };
        const met = lines.filter((line) => passes(line, there)).length + boxes.filter((other) => meet(other, there)).length;
        if (met < least) [best, least] = [move, met];
        if (!met) break;
      }
      boxes.push({ ...box, top: box.top + best, bottom: box.bottom + best });
      text.style.translate = best ? `0 ${best}px` : "";
    }
  }

  /** All figures are measured before one is moved: else each would be laid out anew. */
  function spread(figures) {
    const names = [...figures].map(ends), others = [...figures].map(words);
    names.forEach(part);
    others.forEach(clear);
  }

  /** Charts follow the width of the window; those in a folded block get theirs when it opens. */
  function followWidths(shared) {
    let pending = null;
    const widths = new Map();
    const observer = new ResizeObserver((entries) => {
      const moved = entries.some(({ target, contentRect }) => {
        const before = widths.get(target);
        widths.set(target, Math.round(contentRect.width));
        return before !== undefined && before !== Math.round(contentRect.width) && contentRect.width > 0;
      });
      if (moved) { clearTimeout(pending); pending = setTimeout(() => { page.laid = page.laid.then(follow); }, 60); }
    });
    const follow = async () => {
      window.dispatchEvent(new Event("resize"));
      await Promise.all(Object.values(page.views).map(steady));
      for (const figure of layouts.keys()) await drawAnew(figure, shared);
    };
    document.querySelectorAll(".sr-view").forEach((view) => observer.observe(view));
  }

  const load = (address) => new Promise((done, fail) => {
    const script = make("script", { src: address });
    script.addEventListener("load", done);
    script.addEventListener("error", () => fail(new Error(`cannot load ${address}`)));
    document.head.append(script);
  });

  async function start() {
    await unpack();
    const figures = [...document.querySelectorAll("figure.sr-chart")];
    const shared = Object.assign({}, ...[...document.querySelectorAll("script.sr-shared")].map((script) => told(script, {})));
    const specs = figures.map((figure) => told(figure.querySelector(".sr-spec"), shared));
    document.querySelectorAll("script.sr-model").forEach((script) => learn(told(script, shared)));
    specs.map(whole).forEach((spec) => learn((spec.usermeta || {}).scaleright || {}, spec.params));
    if (!figures.length && !page.controls.size) return;
    settle();
    const names = [...page.controls.keys()];
    const boxes = [...document.querySelectorAll("div.sr-controls")];
    if (!boxes.length && names.length) {
      const box = make("div", { class: "sr-controls" });
      const live = specs.findIndex((spec) => ((spec.usermeta || {}).scaleright || { controls: [] }).controls.length);
      const place = live >= 0 ? figures[live] : document.querySelector(".sr-answer");
      if (live >= 0) place.before(box); else place.after(box);
      boxes.push(box);
    }
    boxes.forEach((box) => drawStrip(box, box.dataset.srNames ? box.dataset.srNames.split(" ") : names));
    refreshControls();
    await load(new URL("vendor/vega.js", base));
    const empty = await window.vegaEmbed(document.createElement("div"), {}, { ...EMBED, mode: "vega", renderer: "none" });
    let flow = empty.view;
    while (!Object.hasOwn(flow, "rerank")) flow = Object.getPrototypeOf(flow); // the bundle names its classes to nobody
    flow.rerank = rerank;
    await startHub();
    tell();
    for (let i = 0; i < figures.length; i++) await draw(figures[i], specs[i]);
    followWidths(shared);
    markMoved();
    if (page.judge) page.judged = startJudge();
  }

  window.scaleright = {
    page, set, reset,
    /** Each control's label and its value, in words. */
    inputs: () => [...page.controls.values()].filter(matters).map((control) => [control.label, control.kind === "number" ? spoken(control, page.values[control.name]) : control.kind === "flag" ? (page.values[control.name] ? "yes" : "no") : String(page.values[control.name])]),
    get views() { return page.views; },
    ready: new Promise((done, fail) => document.addEventListener("DOMContentLoaded", () => start().then(done, (error) => { console.error(error.message); fail(error); }))),
  };
  window.scaleright.ready.catch(() => {});
})();
