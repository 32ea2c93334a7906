/* What the tests ask of a page: looks at what the browser has laid out, changes nothing. */
(function () {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const nameOf = (figure) => figure.dataset.srName || figure.id;
  // What an input holds is not what it is called.
  const label = (e, ...others) => [e.labels?.[0]?.textContent, e.getAttribute("aria-label"), ...(e.matches("input, select, textarea") ? [] : [e.textContent, e.value]), ...others].find(Boolean)?.trim() ?? "";

  /** Size, marks and words of every chart. */
  function charts() {
    return all(".sr-chart").map((figure) => {
      const svg = figure.querySelector("svg"), box = svg?.getBoundingClientRect();
      return {
        name: nameOf(figure),
        marks: svg ? all("[class*=role-mark] path, [class*=role-mark] text", svg).length : 0,
        width: box?.width ?? 0,
        height: box?.height ?? 0,
        column: figure.clientWidth,
        alt: figure.querySelector("[role=img]")?.getAttribute("aria-label") ?? "",
        wrong: /NaN|undefined|null|Infinity/.test(svg?.textContent ?? ""),
      };
    });
  }

  /** What a reader sees of the page's case: each chart as drawn, or its words alone, the sentences and the tables. */
  function seen(look = (svg) => svg.innerHTML) {
    const charts = all(".sr-chart").map((f) => `${nameOf(f)}: ${f.querySelector("svg") ? look(f.querySelector("svg")) : ""}`);
    return [...charts, ...all(".sr-answer, .sr-said, .sr-table").map((s) => s.textContent)].join("\n");
  }

  /** The words of what a reader sees, those of each chart in alphabetical order. */
  const words = () => seen((svg) => all("text", svg).map((text) => text.textContent).sort().join("|"));

  let last = "";
  /** Whether what a reader sees is another than when this was last asked. */
  async function changed() {
    await window.scaleright.page.settled;
    const before = last;
    last = seen();
    return last !== before;
  }

  /** The value that a control has by now, and whether what a reader sees has changed. */
  const now = async (name) => ({ value: window.scaleright.page.values[name], changed: await changed() });

  /** Sets one control to each of these values until what a reader sees changes, all others at their defaults but those that are set beside it. */
  async function silent(name, values, beside = {}) {
    const drawn = async (given) => {
      await window.scaleright.set(given);
      await settled(); // names of lines are moved apart after their chart is drawn
      return seen().replace(/clip\d+/g, ""); // counted through a page's life
    };
    window.scaleright.reset();
    const before = await drawn(beside);
    for (const value of values) if ((await drawn({ [name]: value })) !== before) return false;
    return true;
  }

  /** Sets a case, from the defaults, and waits for the sentences and tables alone: charts follow later. */
  function told(values) {
    const heard = new Promise((done) => { document.addEventListener("sr-told", done, { once: true }); });
    window.scaleright.reset();
    return Promise.race([heard, window.scaleright.set(values)]);
  }

  /** Those of these controls that change no word of the sentences and tables at any of these values, whichever of its cases each is set beside. */
  async function still(tried, besides) {
    const said = async (values) => {
      await told(values);
      return all(".sr-answer, .sr-said, .sr-table").map((part) => part.textContent).join("\n");
    };
    const known = new Map(), before = async (beside) => {
      const key = JSON.stringify(beside);
      if (!known.has(key)) known.set(key, await said(beside));
      return known.get(key);
    };
    const moves = async (name, values) => {
      for (const { [name]: own, ...beside } of besides[name]) {
        for (const value of values) if ((await said({ ...beside, [name]: value })) !== (await before(beside))) return true;
      }
      return false;
    };
    scrollTo(0, document.body.scrollHeight); // away from the charts, so that none is drawn meanwhile
    const found = [];
    for (const [name, values] of Object.entries(tried)) if (!(await moves(name, values))) found.push(name);
    await window.scaleright.reset();
    scrollTo(0, 0);
    return found;
  }

  /** The answer's sentence in each of these cases. */
  async function answers(cases) {
    const found = [];
    for (const values of cases) {
      await told(values);
      found.push(document.querySelector(".sr-answer .sr-sentence").innerText);
    }
    await window.scaleright.page.settled;
    return found;
  }

  /** Columns of rows that the page's definitions gather: their names, and whether the rows hold what was gathered. */
  async function gathered() {
    const { page } = window.scaleright;
    await page.settled;
    await page.remembered; // once it rests, the page asks which options have no answer
    await page.judged;
    return [...page.defined.values()].flatMap(({ name, expr }) => {
      const [, rows, field] = (expr ?? "").match(/^pluck\(data\('(\w+)'\),'(\w+)'\)$/) ?? [];
      if (!rows) return [];
      const held = page.hub.data(rows).map((row) => row[field]);
      return [[name, JSON.stringify(page.hub.signal(name)) === JSON.stringify(held)]];
    });
  }

  /** Sets each of these cases, from the defaults, and then the defaults. */
  async function through(cases) {
    for (const values of [...cases, {}]) {
      window.scaleright.reset();
      await window.scaleright.set(values);
    }
  }

  /** Elements that reach beyond a screen of this width. */
  function outside(width) {
    const scroll = ".sr-table, pre, div.math, mjx-container, mjx-assistive-mml, .sr-refused";
    return all("main *").filter((e) => {
      const { width: wide, left, right } = e.getBoundingClientRect();
      return wide > 0 && (right > width + 1 || left < -1) && !e.closest(scroll);
    }).map((e) => `${e.tagName}.${e.className.baseVal ?? e.className}`).slice(0, 5);
  }

  /** Words of charts that their drawing cuts off. */
  function cut() {
    return all(".sr-chart svg text").filter((text) => {
      const b = text.getBoundingClientRect(), s = text.closest("svg").getBoundingClientRect();
      return b.width && (b.left < s.left - 1 || b.right > s.right + 1 || b.top < s.top - 1 || b.bottom > s.bottom + 1);
    }).map((text) => `${nameOf(text.closest("figure"))}: ${text.textContent}`);
  }

  /** Pairs of names of lines that lie on each other. */
  function crossed() {
    const names = (figure) => all("svg .mark-text text[font-weight=bold]", figure).filter((text) => /\w/.test(text.textContent));
    return all(".sr-chart").flatMap((figure) => names(figure).flatMap((text, i, texts) => texts.slice(0, i).filter((other) => {
      const a = text.getBoundingClientRect(), b = other.getBoundingClientRect();
      return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
    }).map((other) => `${nameOf(figure)}: ${other.textContent} | ${text.textContent}`)));
  }

  /** Names of lines, and words at the foot of a rule, through which a line of their chart passes. */
  function underlined() {
    const points = (path) => {
      const long = path.getTotalLength(), to = path.getScreenCTM();
      return Array.from({ length: Math.ceil(long / 2) + 1 }, (_, i) => path.getPointAtLength(2 * i).matrixTransform(to));
    };
    return all(".sr-chart").flatMap((figure) => {
      const lines = all(".mark-line path:not([opacity='0'])", figure).flatMap(points);
      const words = all(".mark-text text", figure).filter((text) => /\w/.test(text.textContent) && (text.getAttribute("font-weight") === "bold" || (text.__data__.datum?.rule && text.getAttribute("text-anchor") !== "middle")));
      return words.filter((text) => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        return lines.some(({ x, y }) => x > left && x < right && y > top + 4 && y < bottom - 4);
      }).map((text) => `${nameOf(figure)}: ${text.textContent}`);
    });
  }

  /** Neighboring labels of an axis that run together. */
  function joined() {
    return all(".sr-chart svg .role-axis-label").flatMap((axis) => {
      const boxes = all("text:not([opacity='0'])", axis).filter((text) => text.textContent).map((text) => [text.textContent, text.getBoundingClientRect()]).sort(([, a], [, b]) => a.left - b.left);
      return boxes.slice(1).flatMap(([words, box], i) => {
        const [before, last] = boxes[i], beside = Math.abs(box.top - last.top) < 2;
        return beside && box.left - last.right < 5 ? [`${nameOf(axis.closest("figure"))}: ${before}|${words}`] : [];
      });
    });
  }

  const color = (css) => {
    const n = css.match(/[\d.]+/g).map(Number);
    return { rgb: n.slice(0, 3), alpha: n.length > 3 ? n[3] : 1 };
  };
  const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const under = (e) => {
    for (; e; e = e.parentElement) {
      const c = color(getComputedStyle(e).backgroundColor);
      if (c.alpha > 0.99) return c.rgb;
    }
    return [255, 255, 255];
  };

  /** Elements that show words, and those words. */
  function worded() {
    const unseen = "script, style, noscript, mjx-assistive-mml, .skip, select", found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode, e = node.parentElement;
      const shown = e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (/[\p{L}\d]/u.test(node.data) && shown && !e.closest(unseen)) found.push([e, node.data]);
    }
    return found;
  }

  /** Texts whose contrast with what lies under them is below 4.5, those of charts included. */
  function contrast() {
    const low = [], words = worded();
    const check = (e, css, text) => {
      const [a, b] = [light(color(css).rgb), light(under(e))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${e.tagName} ${text.trim().slice(0, 40)}`);
    };
    words.forEach(([e, text]) => check(e, e.closest("svg") ? getComputedStyle(e).fill : getComputedStyle(e).color, text));
    all("input:not([type=range], [type=checkbox]), select, button").forEach((e) => check(e, getComputedStyle(e).color, e.value || e.textContent));
    return { seen: words.length, low };
  }

  /** What has the keyboard's focus, by what name, whether that shows, and of which control it is the slider, menu or box. */
  function focus() {
    const e = document.activeElement, s = getComputedStyle(e);
    const shown = s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2;
    const control = e.id && e.closest("[data-control]")?.dataset.control;
    return { id: e.id || e.className || e.tagName, shown, name: label(e), control, value: window.scaleright?.page.values[control] };
  }

  /** What the reader moves of each control: what it is in HTML, its name, and whether the Tab key reaches it. */
  function inputs() {
    return all("[data-control]").flatMap((box) => all("input:not(.sr-field), select", box).map((e) => ({
      control: box.dataset.control, input: e.type, name: label(e), reached: !e.disabled && e.tabIndex === 0 && e.checkVisibility({ visibilityProperty: true }),
    })));
  }

  /** What can be operated and has no name. */
  function nameless() {
    return all("button, input:not([type=hidden]), select, a[href]")
      .filter((e) => !label(e, e.getAttribute("aria-labelledby"), e.title))
      .map((e) => e.outerHTML.slice(0, 120));
  }

  /** Which of these signals each view of the page holds, and their values. */
  function signals(names) {
    return Object.values(window.scaleright.views).map((view) => {
      const state = view.getState({ signals: () => true, data: () => false }).signals;
      return Object.fromEntries(names.filter((n) => n in state).map((n) => [n, state[n]]));
    });
  }

  /** When what a change of the layout or of a value set off is done: charts follow their width within a tenth of a second. */
  async function settled() {
    const frame = () => new Promise(requestAnimationFrame);
    await frame();
    await frame();
    await new Promise((done) => { setTimeout(done, 100); });
    await window.scaleright?.page?.laid;
    await Promise.all(Object.values(window.scaleright?.views ?? {}).map((view) => view.runAsync()));
    document.getAnimations().forEach((fading) => fading.finish()); // as of buttons from light to dark
    await frame();
  }

  /** Brings a page back to its top and its defaults, in this mode; whether there was anything to bring. */
  async function back(mode) {
    await window.scaleright?.page?.settled;
    const other = document.documentElement.dataset.theme !== mode, moved = document.body.classList.contains("sr-changed");
    const down = scrollY > 0;
    if (other) document.querySelector(".mode").click();
    if (moved) await window.scaleright.reset();
    if (down) scrollTo(0, 0);
    return other || moved || down;
  }

  // A chart is an image with a text alternative: nobody is told of its marks, and `contrast` sees its words.
  const DRAWN = ".sr-host svg";
  // Each of these is to have a name of its own.
  const UNIQUE = "nav, main, aside, header, footer, form, [role=region], [role=search]";
  // Attributes that say something in words or by address; which of them there are belongs to the shape.
  const WORDS = /^(id|for|name|href|src|alt|title|value|style|d|headers|data-.*|aria-(label|labelledby|describedby|controls|valuetext))$/;

  /** Leaves two of all siblings that differ in their words alone, cells of a row apart; returns what undoes it. */
  function thin() {
    const forms = new Map(), taken = [];
    const look = ({ style }) => [...(style ?? []), style?.color, style?.backgroundColor].join();
    const shape = (e) => {
      const seen = new Map(), within = [], drawn = e.matches(DRAWN);
      for (const child of [...e.children]) {
        const form = drawn ? 0 : shape(child), alike = seen.get(form) ?? 0;
        seen.set(form, alike + 1);
        if (!drawn && (alike < 2 || e.localName === "tr" || child.matches(UNIQUE) || child.querySelector(UNIQUE))) within.push(form);
        else {
          taken.push([e, child, child.nextSibling]);
          child.remove();
        }
      }
      const given = [...e.attributes].map(({ name, value }) => (WORDS.test(name) ? name : `${name}=${value}`));
      const words = [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      const form = [e.localName, given.sort().join(" "), look(e), words, ...within].join("|");
      return forms.get(form) ?? forms.set(form, forms.size).size - 1;
    };
    shape(document.body);
    return () => taken.reverse().forEach(([parent, child, next]) => parent.insertBefore(child, next));
  }

  async function broken(context, chosen) {
    const rules = axe.getRules().map(({ ruleId }) => [ruleId, { enabled: chosen(ruleId) }]);
    const { violations, passes } = await axe.run(context, { rules: Object.fromEntries(rules), resultTypes: ["violations"] });
    return {
      passed: passes.map(({ id }) => id),
      broken: violations.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(" ")}: ${html.slice(0, 120)}`)),
    };
  }

  /** One element for each look of words but these: their element, size, weight, shadow, color and what lies under them. */
  function looks(judged) {
    const found = new Map();
    for (const [e] of worded()) {
      const { color: ink, fontSize, fontWeight, opacity, textShadow, backgroundImage } = getComputedStyle(e);
      const look = [e.localName, ink, under(e), fontSize, fontWeight, opacity, textShadow, backgroundImage].join();
      if (!e.closest(DRAWN) && !judged.includes(look)) found.set(look, e);
    }
    return found;
  }

  /** What breaks a rule of axe, best practices and drafts among them, save those of color. */
  const structure = () => broken({ exclude: DRAWN }, (rule) => !rule.startsWith("color-contrast"));

  /** The same, and what breaks a rule of color in each of these modes, of looks not judged before; the stricter leaves to the other what that finds. */
  async function rules({ modes = [], judged = [] }) {
    const root = document.documentElement, before = root.dataset.theme, restore = thin();
    const found = { structure: await structure() };
    for (const mode of modes) {
      root.dataset.theme = mode;
      const others = looks(judged), none = { passed: [], broken: [] };
      const colors = others.size ? await broken({ include: [...others.values()] }, (rule) => rule.startsWith("color-contrast")) : none;
      found[mode] = { ...colors, looks: [...others.keys()] };
    }
    root.dataset.theme = before;
    restore();
    return found;
  }

  /** What comes of running text as a program, in three ways. */
  async function runText() {
    await new Promise((go) => setTimeout(go)); // out of the test's own call, which no policy binds
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.head.append(script);
    return [() => window.ran ?? "ignored", () => eval("1"), () => new Function("return 1")()].map((run) => {
      try { return run(); } catch (refused) { return refused.name; }
    });
  }

  window.probe = { settled, back, charts, seen, words, changed, now, silent, still, answers, gathered, through, outside, cut, crossed, underlined, joined, contrast, focus, inputs, nameless, signals, thin, rules, runText };
})();
