/* Search that ranks titles and headings before text and knows other words for the same (book/search.yml). It replaces the
 * judgment of Sphinx's search, whose index and list of results it uses. */
(function () {
  "use strict";
  if (typeof Search === "undefined") return;
  const known = JSON.parse(document.getElementById("sr-search").textContent);
  const stemmer = new Stemmer(), cut = /[^\p{Letter}\p{Number}]+/u;
  const stem = (word) => stemmer.stemWord(word);
  const stems = (text) => String(text).toLowerCase().replace(/<[^>]*>/g, " ").split(cut).filter(Boolean).map(stem);
  const WORTH = { title: 20, word: 22, heading: 10, text: 2 }, PART = 0.4, ALIKE = 0.6, TERM = 40;

  /** What was asked: for each word its stem, and those of words that mean the same. */
  function asked(query) {
    const words = query.toLowerCase().split(cut).filter(Boolean), told = words.filter((word) => !stopwords.includes(word));
    const same = known.same.map((group) => group.flatMap(stems));
    return (told.length ? told : words).map(stem).map((word) => ({
      word, alike: [...new Set(same.filter((group) => group.includes(word)).flat())].filter((other) => other !== word),
    }));
  }

  /** How well a set of words holds one that was asked for: as it is, in another word for it, as the beginning of one. */
  function holds(set, { word, alike }) {
    if (set.has(word)) return 1;
    if (alike.some((other) => set.has(other))) return ALIKE;
    return word.length > 2 && [...set].some((other) => other.startsWith(word)) ? PART : 0;
  }

  function found(query) {
    const { titles, alltitles, docnames, filenames, terms, indexentries } = Search._index, words = asked(query);
    if (!words.length) return [];
    const phrase = words.map(({ word }) => word).join(" ");
    const pages = docnames.map((name, at) => ({
      at, title: new Set(stems(titles[at] ?? "")), words: new Set((known.pages[name] ?? []).flatMap(stems)), headings: [],
    }));
    for (const [heading, places] of Object.entries(alltitles)) {
      for (const [at, id] of places) if (id && titles[at]) pages[at].headings.push({ heading, id, set: new Set(stems(heading)) });
    }
    const all = Object.keys(terms), within = ({ word, alike }) => {
      const pagesOf = (term) => (Object.hasOwn(terms, term) ? [].concat(terms[term]) : []), at = new Map();
      if (word.length > 2) all.filter((term) => term.startsWith(word)).flatMap(pagesOf).forEach((page) => at.set(page, PART));
      alike.flatMap(pagesOf).forEach((page) => at.set(page, ALIKE));
      pagesOf(word).forEach((page) => at.set(page, 1));
      return at;
    };
    const texts = words.map(within), results = [];
    for (const page of pages) {
      if (!titles[page.at]) continue; // a scenario, which repeats its chapter
      let score = 0, missing = 0;
      words.forEach((one, i) => {
        const head = Math.max(0, ...page.headings.map(({ set }) => holds(set, one)));
        const best = Math.max(WORTH.title * holds(page.title, one), WORTH.word * holds(page.words, one), WORTH.heading * head);
        const text = texts[i].get(page.at) ?? 0;
        if (!best && !text) missing += 1;
        score += best + WORTH.text * text;
      });
      if (missing) continue;
      const inHeading = ({ set }) => words.reduce((sum, one) => sum + holds(set, one), 0);
      const [place] = [...page.headings].sort((a, b) => inHeading(b) - inHeading(a));
      const deeper = place && inHeading(place) > inHeading({ set: new Set([...page.title, ...page.words]) }) && inHeading(place) >= 1;
      if (stems(titles[page.at]).join(" ").includes(phrase)) score += WORTH.title;
      results.push([docnames[page.at], deeper ? `${titles[page.at]} › ${place.heading}` : titles[page.at], deeper ? `#${place.id}` : "", null, score, filenames[page.at]]);
    }
    const told = new Set();
    for (const [term, places] of Object.entries(indexentries)) {
      const set = new Set(stems(term)), key = [...set].join(" "), score = words.reduce((sum, { word }) => sum + set.has(word), 0);
      if (score === words.length && !told.has(key)) {
        told.add(key);
        for (const [at, id] of places) results.push([docnames[at], `${titles[at]} › ${term}`, `#${id}`, null, (TERM * score) / set.size, filenames[at]]);
      }
    }
    return results.sort((a, b) => a[4] - b[4] || (a[1] < b[1] ? 1 : -1)); // the last one is shown first
  }

  const toText = Search.htmlToText;
  Search.htmlToText = (markup, anchor) => {
    if (!anchor?.startsWith("#term-")) return toText(markup, anchor);
    let part = new DOMParser().parseFromString(markup, "text/html").getElementById(anchor.slice(1));
    while (part && part.tagName !== "DD") part = part.nextElementSibling; // past other names of the same
    return part?.textContent ?? "";
  };

  Search.query = (query) => {
    const words = asked(query).map(({ word }) => word), results = found(query);
    _displayNextItem(results, results.length, new Set(words), new Set(words));
  };
  window.scaleright = Object.assign(window.scaleright ?? {}, { found: (query) => found(query).reverse() });
})();
