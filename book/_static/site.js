/* Page furniture: the light/dark switch, the chapter menu on phones, wide tables that scroll inside themselves, old data. */
(function () {
  "use strict";
  const root = document.documentElement;

  function keep(mode) {
    root.dataset.theme = mode;
    try { localStorage.setItem("theme", mode); } catch (blocked) { /* storage refused: the choice lasts for this page */ }
  }

  function wrapTables() {
    document.querySelectorAll("article table").forEach((table) => {
      if (table.closest(".sr-table, .highlighttable")) return;
      const box = document.createElement("div");
      box.className = "sr-table";
      table.replaceWith(box);
      box.append(table);
    });
    // On a phone a row of a table of sentences stands as a card, each of its cells with its head.
    document.querySelectorAll(".sr-table table:not(.sr-keys, .dataframe)").forEach((table) => {
      const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent);
      if (heads.length < 4) return;
      table.classList.add("sr-cards");
      table.querySelectorAll("tbody tr:not(.sr-notes)").forEach((row) => [...row.cells].forEach((cell, i) => { cell.dataset.srHead = heads[i]; }));
    });
    // Only a box that scrolls needs to take the keyboard's focus, and then a name by which to tell where it is.
    const settle = () => document.querySelectorAll(".sr-table, div.highlight pre, mjx-container[display]").forEach((box, order) => {
      if (box.closest("details:not([open])")) return; // nobody can tell yet
      const scrolls = box.scrollWidth > box.clientWidth, named = box.matches(".sr-table[role], mjx-container");
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
      if (named && !box.dataset.srOrder) return;
      for (const [key, value] of [["role", "region"], ["aria-label", `${box.matches("pre") ? "Code" : "Table"} ${order + 1} of this page`], ["data-sr-order", order]]) {
        if (scrolls) box.setAttribute(key, value);
        else box.removeAttribute(key);
      }
    });
    settle();
    window.addEventListener("resize", settle);
    document.addEventListener("toggle", settle, true); // a box in what was folded had no width
  }

  /** Search results quote the text of a chapter, not its code. */
  function quoteText() {
    if (typeof Search === "undefined") return;
    const toText = Search.htmlToText;
    Search.htmlToText = (markup, anchor) => {
      const page = new DOMParser().parseFromString(markup, "text/html");
      page.querySelectorAll("details.hide, .cell_input, .sr-controls, .sr-alt, .sr-files, .sr-stale, .launch, .turn, .about, .foot").forEach((part) => part.remove());
      page.querySelector("main")?.setAttribute("role", "main"); // by which Sphinx finds the text
      return toText(page.documentElement.outerHTML, anchor);
    };
  }

  /** Warn of tables that are old on the reader's day, whenever the page was built. */
  function warnOfAge() {
    const now = new Date(), today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
    document.querySelectorAll(".sr-stale").forEach((box) => {
      const ages = JSON.parse(box.dataset.srTables).map((table) => ({ ...table, age: Math.round((today - Date.parse(table.as_of)) / 864e5) }));
      const old = ages.filter((table) => table.age > table.days), said = (days) => days.toLocaleString("en-US");
      box.hidden = !old.length;
      box.querySelector("ul").replaceChildren(...old.map((table) => {
        const line = document.createElement("li");
        line.textContent = `${table.title} (${table.as_of}): ${said(table.age)} days old, fresh for ${said(table.days)}`;
        return line;
      }));
    });
  }

  /** The sections of a page stand open beside it where there is room, and above it fold away. */
  function foldSections() {
    const fold = document.querySelector(".onpage details"), beside = matchMedia("(min-width: 85.01rem)"); // as the styles have it
    if (!fold) return;
    const settle = () => { fold.open = beside.matches; };
    settle();
    beside.addEventListener("change", settle);
    fold.addEventListener("click", (event) => { if (event.target.closest("a") && !beside.matches) fold.open = false; });
  }

  /** A report of a wrong number carries the address with the reader's case, and what its controls say. */
  function reportCase() {
    document.querySelector(".sr-report")?.addEventListener("click", ({ currentTarget: link }) => {
      const address = new URL(link.href), inputs = window.scaleright?.inputs?.() ?? [];
      if (!address.searchParams.has("template")) return;
      address.searchParams.set("case", [location.href, ...inputs.map(([label, value]) => `${label}: ${value}`)].join("\n"));
      link.href = address.href;
    });
  }

  quoteText();
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelector(".mode")?.addEventListener("click", () => keep(root.dataset.theme === "dark" ? "light" : "dark"));
    const menu = document.querySelector(".menu");
    const open = (yes) => { menu.setAttribute("aria-expanded", String(yes)); document.body.classList.toggle("menu-open", yes); };
    menu?.addEventListener("click", () => open(menu.getAttribute("aria-expanded") !== "true"));
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") open(false); });
    wrapTables();
    warnOfAge();
    foldSections();
    reportCase();
  });
})();
