/* Charts to take along: each as it stands on the page, as SVG and PNG, and a line by which another page shows it. */
(function () {
  "use strict";
  const INK = "#1b2026", PAPER = "#ffffff", SHARPER = 2; // pixels of a PNG for each of the page

  /** The drawn chart as a picture of its own: its ink told, on white. */
  function picture(figure) {
    const drawn = figure.querySelector(".sr-host svg"), copy = drawn.cloneNode(true), { width, height } = drawn.getBoundingClientRect();
    const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [key, value] of Object.entries({ width: "100%", height: "100%", fill: PAPER })) ground.setAttribute(key, value);
    copy.prepend(ground);
    copy.setAttribute("color", INK);
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    return { text: new XMLSerializer().serializeToString(copy), width, height };
  }

  const asData = (text) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;

  async function png({ text, width, height }) {
    const image = new Image(), canvas = document.createElement("canvas");
    image.src = asData(text);
    await image.decode();
    Object.assign(canvas, { width: width * SHARPER, height: height * SHARPER });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => { canvas.toBlob(done, "image/png"); });
  }

  function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

  /** A line that shows the chart on another page, with its words and the way here. */
  function line(figure) {
    const root = new URL(document.documentElement.dataset.content_root, location.href);
    const still = new URL(`charts/${figure.id.replace(/^sr-/, "")}.svg`, root), alt = figure.querySelector(".sr-view").getAttribute("aria-label");
    return `<a href="${escaped(location.href.split("#")[0])}#${figure.id}"><img src="${still.href}" alt="${escaped(alt ?? "")}"></a>`;
  }

  function offer(figure, number) {
    const bar = document.createElement("div"), page = location.pathname.split("/").pop().replace(/\.html$/, "");
    const name = `${page}-figure-${number}`;
    bar.className = "sr-files sr-take";
    const button = (words, label, act) => {
      const made = Object.assign(document.createElement("button"), { type: "button", textContent: words });
      made.setAttribute("aria-label", label);
      made.addEventListener("click", act);
      return made;
    };
    const code = Object.assign(document.createElement("code"), { hidden: true });
    const embed = button("Embed", `Embed figure ${number}`, () => {
      code.hidden = !code.hidden;
      code.textContent = code.hidden ? "" : line(figure);
      embed.setAttribute("aria-expanded", String(!code.hidden));
      if (!code.hidden) getSelection().selectAllChildren(code);
    });
    embed.setAttribute("aria-expanded", "false");
    bar.append(
      button("SVG", `Figure ${number} as SVG`, () => save(new Blob([picture(figure).text], { type: "image/svg+xml" }), `${name}.svg`)), " · ",
      button("PNG", `Figure ${number} as PNG`, async () => save(await png(picture(figure)), `${name}.png`)), " · ",
      embed, code,
    );
    figure.append(bar);
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("figure.sr-chart").forEach((figure, i) => offer(figure, i + 1)));
})();
