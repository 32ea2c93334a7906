/* The ledger of claims: its table filtered, searched and sorted; the address says what is asked. */
(function () {
  "use strict";
  const form = document.querySelector(".sr-filter"), table = document.querySelector(".sr-ledger table");
  if (!form || !table) return;
  const rows = [...table.tBodies[0].rows], picks = [...form.querySelectorAll("select")], words = form.elements.words, said = form.querySelector("output");
  const plain = (text) => text.toLowerCase().replace(/'/g, "").replace(/[-_\s]+/g, " ").trim();
  const texts = new Map(rows.map((row) => [row, `${row.id} ${row.cells[0].textContent} ${row.querySelector(".sr-why").textContent}`.toLowerCase()]));

  /** Show the rows that are asked for, and say in the address which. */
  function filter() {
    const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = rows.filter((row) => {
      row.hidden = !(picks.every((pick) => !pick.value || row.dataset[pick.name] === pick.value) && asked.every((word) => texts.get(row).includes(word)));
      return !row.hidden;
    }).length;
    said.textContent = shown === rows.length ? `${shown} claims` : `${shown} of ${rows.length} claims`;
    const kept = [...new FormData(form)].filter(([, value]) => value.trim());
    const query = kept.length ? `?${new URLSearchParams(kept)}` : "";
    try { history.replaceState(null, "", location.pathname + query + location.hash); } catch (refused) { /* a page read from a disk keeps its address */ }
  }

  /** Sort by a column: by text, what is recomputed by how far the claim is off, verdicts in their own order. */
  function sort(head, column) {
    const up = head.getAttribute("aria-sort") !== "ascending", order = [...form.elements.verdict.options].map((option) => option.value);
    const name = table.tHead.rows[0].cells[column].textContent;
    const key = { recomputed: (row) => Number(row.dataset.off), verdict: (row) => order.indexOf(row.dataset.verdict) }[name];
    const compare = key ? (a, b) => key(a) - key(b) : (a, b) => a.cells[column].textContent.localeCompare(b.cells[column].textContent, "en", { numeric: true });
    rows.sort((a, b) => (up ? 1 : -1) * compare(a, b));
    [...table.tHead.rows[0].cells].forEach((cell) => cell.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    table.tBodies[0].append(...rows);
  }

  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(head, column));
    head.replaceChildren(button);
  });
  const given = new URLSearchParams(location.search);
  picks.forEach((pick) => {
    const asked = plain(given.get(pick.name) || "");
    const found = [...pick.options].find((option) => asked && plain(option.value) === asked);
    if (found) pick.value = found.value;
  });
  words.value = given.get("words") || "";
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  form.hidden = false;
  filter();
})();
