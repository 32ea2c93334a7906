/* What a word of the glossary means and which source a citation names: shown where it stands, under the pointer, at the
 * keyboard's focus, or at a tap, of which a second one follows the link. Escape and a tap elsewhere put it away. */
(function () {
  "use strict";
  const HINTED = "a.sr-term, a.sr-cited";
  let box, of = null, later = 0;

  function place() {
    const word = of.getClientRects()[0] ?? of.getBoundingClientRect();
    const room = document.documentElement.clientWidth - 16, width = Math.min(box.offsetWidth, room);
    const below = word.bottom + 8 + box.offsetHeight < innerHeight || word.top < box.offsetHeight + 70;
    box.style.left = `${scrollX + Math.max(8, Math.min(word.left, room + 8 - width))}px`;
    box.style.top = `${scrollY + (below ? word.bottom + 6 : word.top - box.offsetHeight - 6)}px`;
  }

  function hide() {
    clearTimeout(later);
    of?.removeAttribute("aria-describedby");
    of = null;
    if (box) box.hidden = true;
  }

  function show(link) {
    clearTimeout(later);
    if (of === link) return;
    hide();
    if (!box) {
      box = document.createElement("div");
      Object.assign(box, { id: "sr-hint", className: "sr-hint" });
      box.setAttribute("role", "tooltip");
      box.addEventListener("pointerenter", () => clearTimeout(later));
      box.addEventListener("pointerleave", leave);
      document.querySelector("main").append(box);
    }
    of = link;
    box.textContent = link.dataset.srHint;
    box.hidden = false;
    link.setAttribute("aria-describedby", box.id);
    place();
  }

  function leave() {
    clearTimeout(later);
    later = setTimeout(hide, 250); // time to reach the box itself
  }

  const hinted = (event) => (event.target instanceof Element ? event.target.closest(HINTED) : null);

  document.addEventListener("DOMContentLoaded", () => {
    // Without scripts the browser shows titles itself; with them it would show both.
    document.querySelectorAll(HINTED).forEach((link) => {
      link.dataset.srHint = link.title;
      link.removeAttribute("title");
    });
    document.addEventListener("pointerover", (event) => {
      const link = hinted(event);
      if (link && event.pointerType === "mouse") show(link);
    });
    document.addEventListener("pointerout", (event) => { if (event.pointerType === "mouse" && hinted(event)) leave(); });
    document.addEventListener("focusin", (event) => {
      const link = hinted(event);
      if (link?.matches(":focus-visible")) show(link);
      else if (of) leave();
    });
    document.addEventListener("click", (event) => {
      const link = hinted(event);
      if (link && event.pointerType !== "mouse" && event.pointerType !== "" && of !== link) {
        event.preventDefault();
        show(link);
      } else if (!link && !box?.contains(event.target)) hide();
    });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
    addEventListener("resize", hide);
    // A chart that is drawn above moves the word: what it means moves along.
    new ResizeObserver(() => { if (of) place(); }).observe(document.querySelector("main"));
  });
})();
