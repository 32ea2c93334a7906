/* What the tests ask of a page: looks at what the browser has laid out, changes nothing. */
(function () {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const nameOf = (figure) => figure.dataset.srName || figure.id;
  const label = (e, ...others) => [e.labels?.[0]?.textContent, e.getAttribute("aria-label"), e.textContent, e.value, ...others].find(Boolean)?.trim() ?? "";

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

  /** The marks and texts of each chart, as drawn. */
  function drawn() {
    return Object.fromEntries(all(".sr-chart").map((f) => [nameOf(f), f.querySelector("svg")?.innerHTML || ""]));
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

  /** Texts whose contrast with what lies under them is below 4.5, those of charts included. */
  function contrast() {
    const low = [];
    const check = (e, css, text) => {
      const [a, b] = [light(color(css).rgb), light(under(e))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${e.tagName} ${text.trim().slice(0, 40)}`);
    };
    const unseen = "script, style, noscript, mjx-assistive-mml, .skip, select";
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let seen = 0;
    while (walker.nextNode()) {
      const node = walker.currentNode, e = node.parentElement;
      const shown = e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (!/[\p{L}\d]/u.test(node.data) || !shown || e.closest(unseen)) continue;
      seen += 1;
      check(e, e.closest("svg") ? getComputedStyle(e).fill : getComputedStyle(e).color, node.data);
    }
    all("input:not([type=range], [type=checkbox]), select, button").forEach((e) => check(e, getComputedStyle(e).color, e.value || e.textContent));
    return { seen, low };
  }

  /** What has the keyboard's focus, by what name, and whether that shows. */
  function focus() {
    const e = document.activeElement, s = getComputedStyle(e);
    const shown = s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2;
    return { id: e.id || e.className || e.tagName, shown, name: label(e) };
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
    await Promise.all(Object.values(window.scaleright?.views ?? {}).map((view) => view.runAsync()));
    document.getAnimations().forEach((fading) => fading.finish()); // as of buttons from light to dark
    await frame();
  }

  const COLORS = ["color-contrast", "color-contrast-enhanced"];
  // A chart is an image with a text alternative: nobody is told of its marks, and `contrast` sees its words.
  const DRAWN = ".sr-host svg";
  // All rows of a table have the colors of its first.
  const REST = ".sr-table tbody tr:nth-child(n+4)";

  async function broken(chosen, ...exclude) {
    const rules = axe.getRules().map(({ ruleId }) => [ruleId, { enabled: chosen(ruleId) }]);
    const { violations, passes } = await axe.run({ exclude }, { rules: Object.fromEntries(rules), resultTypes: ["violations"] });
    return {
      passed: passes.map(({ id }) => id),
      broken: violations.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(" ")}: ${html.slice(0, 120)}`)),
    };
  }

  /** What breaks a rule of axe, best practices and drafts among them, save those of color. */
  const structure = () => broken((rule) => !COLORS.includes(rule), DRAWN);

  /** What breaks the stricter of axe's rules of color, light and dark. */
  async function colors() {
    const root = document.documentElement, before = root.dataset.theme, found = {};
    for (const mode of ["light", "dark"]) {
      root.dataset.theme = mode;
      found[mode] = await broken((rule) => rule === "color-contrast-enhanced", DRAWN, REST);
    }
    root.dataset.theme = before;
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

  window.probe = { settled, charts, drawn, outside, cut, contrast, focus, nameless, signals, structure, colors, runText };
})();
