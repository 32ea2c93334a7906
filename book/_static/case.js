/* The reader's case beyond the charts: the answer in sight on a phone while a control moves, the inputs beside the
 * answer of a printed page, the files of tables. `charts.js` computes it, and tells by an event that it has. */
(function () {
  "use strict";
  const changed = () => document.body.classList.contains("sr-changed");

  function make(tag, className, ...children) {
    const node = document.createElement(tag);
    node.className = className;
    node.append(...children);
    return node;
  }

  // ---- the answer ------------------------------------------------------------------------------------------

  /** An answer as running text: a full stop after each of its parts that is shown. */
  function spoken(sentence) {
    const parts = [...sentence.querySelectorAll(".sr-decision, .sr-figure, .sr-because")].filter((part) => part.getClientRects().length);
    const texts = (parts.length ? parts : [sentence]).map((part) => part.innerText.replace(/\s+/g, " ").trim()).filter(Boolean);
    return texts.map((text) => /[.!?]$/.test(text) ? text : text + ".").join(" ");
  }

  /** A line with the answer's number and sentence, shown while the answer is out of sight and a control in it. */
  function keepInSight(answer) {
    const number = make("b", ""), words = make("span", ""), line = make("div", "sr-insight", number, words);
    const seen = new Set(), phone = matchMedia("(max-width: 48rem)"); // as the styles have it
    let value = () => "";
    const settle = () => { line.hidden = seen.has(answer) || !(changed() || seen.size); };
    line.setAttribute("aria-hidden", "true"); // the answer itself is announced
    document.querySelector("main").append(line);
    const observer = new IntersectionObserver((entries) => {
      for (const { target, intersectionRatio } of entries) seen[intersectionRatio > (target === answer ? 0.5 : 0) ? "add" : "delete"](target);
      settle();
    }, { threshold: [0, 0.01, 0.5, 0.51] });
    const write = () => {
      if (!phone.matches) return;
      number.textContent = answer.dataset.srHeadline ? value(answer.dataset.srHeadline + "_text") : "";
      words.textContent = spoken(answer.querySelector(".sr-sentence"));
      settle();
    };
    phone.addEventListener("change", write);
    return (now) => {
      value = now;
      write();
      // Once told, the page has its controls; a part that is observed already is not observed twice.
      document.querySelectorAll(".sr-controls, .sr-answer").forEach((part) => observer.observe(part));
    };
  }

  /** The inputs, of which only a printed page shows a list. */
  function listInputs(answer) {
    const list = make("dl", "sr-inputs");
    answer.after(list);
    return () => list.replaceChildren(...window.scaleright.inputs().map(([label, value]) =>
      make("div", "", make("dt", "", label), make("dd", "", value))));
  }

  // ---- the files of tables ---------------------------------------------------------------------------------

  const DIGITS = 7;
  const raw = (value) => typeof value !== "number" ? value ?? null
    : Number.isNaN(value) ? null : Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : value > 0 ? "INF" : "-INF";

  /** A table's file with what the page has computed since. */
  function filled(table) {
    const hub = window.scaleright.page.hub;
    for (const { name, live } of table.schema.fields) {
      table.data.forEach((row, i) => {
        if (live?.rows) row[name] = raw(hub.data(live.rows)[live.places?.[i] ?? i][live.field]);
        else if (live?.signals[i]) row[name] = raw(hub.signal(live.signals[i]));
      });
    }
    return table;
  }

  function csv({ schema, data }) {
    const cell = (value) => (/[",\n]/.test(value ?? "") ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));
    const head = ({ name, unit }) => (unit && !name.includes("[") ? `${name} [${unit}]` : name);
    const lines = [schema.fields.map(head), ...data.map((row) => schema.fields.map(({ name }) => row[name]))];
    return lines.map((cells) => cells.map(cell).join(",") + "\n").join("");
  }

  function save(name, text) {
    const link = make("a", "");
    link.href = URL.createObjectURL(new Blob([text]));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  /** Once a control has moved, the file of a table that follows it is that of the reader's case. */
  async function follow(event) {
    const link = event.target.closest(".sr-files[data-sr-follows] a");
    if (!link || !changed()) return;
    event.preventDefault();
    const name = link.href.split("/").pop();
    const table = filled(await (await fetch(link.href.replace(/csv$/, "json"))).json());
    save(name, name.endsWith(".csv") ? csv(table) : JSON.stringify(table) + "\n");
  }

  document.addEventListener("DOMContentLoaded", () => {
    const answer = document.querySelector(".sr-answer");
    const tell = answer ? [keepInSight(answer), listInputs(answer)] : [];
    document.addEventListener("sr-told", ({ detail }) => tell.forEach((part) => part(detail)));
    document.addEventListener("click", follow);
  });
})();
