"use strict";
(() => {
  const root = document.documentElement;

  // Storage is refused to some local files; the page then forgets the choice, no more.
  const remembered = {
    get: () => { try { return localStorage.getItem("theme"); } catch { return null; } },
    set: (value) => { try { localStorage.setItem("theme", value); } catch { /* forgotten */ } },
  };

  const themes = ["auto", "light", "dark"];
  const themeButton = document.getElementById("theme");
  const setTheme = (name) => {
    if (name === "auto") delete root.dataset.theme;
    else root.dataset.theme = name;
    themeButton.textContent = `Theme: ${name}`;
  };
  let theme = themes.includes(remembered.get()) ? remembered.get() : "auto";
  setTheme(theme);
  themeButton.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    setTheme(theme);
    remembered.set(theme);
  });

  const nav = document.querySelector("nav");
  const menu = document.getElementById("menu");
  const setMenu = (open) => {
    nav.classList.toggle("open", open);
    menu.setAttribute("aria-expanded", String(open));
  };
  menu.addEventListener("click", () => setMenu(!nav.classList.contains("open")));
  nav.addEventListener("click", (event) => { if (event.target.closest("a")) setMenu(false); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && nav.classList.contains("open")) { setMenu(false); menu.focus(); }
  });

  // The link of the section at the top of the window is the current one.
  const links = [...document.querySelectorAll("#contents a")];
  const targets = links.map((link) => document.getElementById(link.hash.slice(1)));
  const markCurrent = () => {
    const top = Math.min(160, innerHeight / 3);
    let current = 0;
    targets.forEach((target, i) => {
      if (target && target.getBoundingClientRect().top <= top) current = i;
    });
    links.forEach((link, i) => {
      if (i === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; markCurrent(); });
  }, { passive: true });
  markCurrent();

  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Where the clipboard is closed to scripts, the old way still works after a click.
      const field = document.createElement("textarea");
      field.value = text;
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      return done;
    }
  };
  document.querySelectorAll(".copy").forEach((button) => {
    button.addEventListener("click", async () => {
      button.textContent = (await copy(button.dataset.copy)) ? "Copied" : "Failed";
      button.focus();
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  });

  // A column sorts up, down, and back to the order of the page. Sorted rows leave their groups, and
  // say themselves which these are.
  const key = (row, column) => {
    const cell = row.cells[column];
    const value = cell?.dataset.value;
    const text = cell?.textContent.trim() ?? "";
    return { empty: text === "", number: value === undefined ? NaN : Number(value), text };
  };
  const compare = (a, b) => {
    const numbers = !Number.isNaN(a.number) && !Number.isNaN(b.number);
    return numbers ? a.number - b.number : a.text.localeCompare(b.text, "en");
  };
  const homes = new Map();
  const sort = (table, column, direction) => {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    rows.sort((a, b) => {
      if (!direction) return a.dataset.place - b.dataset.place;
      const [x, y] = [key(a, column), key(b, column)];
      if (x.empty || y.empty) return x.empty - y.empty;
      return direction * compare(x, y) || a.dataset.place - b.dataset.place;
    });
    table.classList.toggle("sorted", direction !== 0);
    rows.forEach((row) => {
      const stays = !direction || row.classList.contains("group");
      (stays ? homes.get(row) : table.tBodies[0]).append(row);
    });
  };
  document.querySelectorAll("table.sortable").forEach((table) => {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    rows.forEach((row, i) => { row.dataset.place = i; homes.set(row, row.parentElement); });
    [...table.tHead.rows[0].cells].forEach((head, column, heads) => {
      if (!head.textContent.trim()) return;
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Sort by this column";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const was = head.getAttribute("aria-sort");
        const now = was === null ? "ascending" : was === "ascending" ? "descending" : null;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (now) head.setAttribute("aria-sort", now);
        sort(table, column, { ascending: 1, descending: -1 }[now] ?? 0);
      });
    });
  });

  // The ledger shows the rows that contain some words, and have a tag of each group with pressed
  // buttons.
  document.querySelectorAll("table.filtered").forEach((table) => {
    const bodies = [...table.tBodies].map((body) => ({
      group: body.rows[0],
      rows: [...body.rows].slice(1),
    }));
    const bar = document.createElement("p");
    bar.className = "filter";
    const every = bodies.flatMap(({ rows }) => rows);
    const tags = new Map(every.map((row) => [row, row.dataset.tags.split("|")]));
    const words = document.createElement("input");
    words.type = "search";
    words.placeholder = "Rows with ...";
    words.setAttribute("aria-label", "Show rows that contain these words");
    const addButton = (text, action) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", action);
      return button;
    };
    const groups = table.dataset.filters.split(";").map((group) => group.split("|").map((text) => {
      const button = addButton(text, () => {
        button.ariaPressed = String(button.ariaPressed !== "true");
        apply();
      });
      button.ariaPressed = "false";
      return button;
    }));
    const reset = addButton("Show all", () => {
      words.value = "";
      groups.flat().forEach((button) => { button.ariaPressed = "false"; });
      apply();
      words.focus();
    });
    // An output is a live region: it is read out as it changes.
    const count = document.createElement("output");
    const contains = (text, word) => {
      const letters = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      return new RegExp(`(?<![\\p{L}\\p{N}])${letters}(?![\\p{L}\\p{N}])`, "iu").test(text);
    };
    const apply = () => {
      const parts = words.value.split(/\s+/).filter(Boolean);
      const on = groups
        .map((group) => group.filter((button) => button.ariaPressed === "true"))
        .filter((group) => group.length);
      bodies.forEach(({ group, rows }) => {
        rows.forEach((row) => {
          const text = `${group.textContent} ${row.textContent}`;
          row.hidden = !parts.every((part) => contains(text, part))
            || !on.every((some) => some.some((one) => tags.get(row).includes(one.textContent)));
        });
        group.hidden = rows.every((row) => row.hidden);
      });
      const seen = every.filter((row) => !row.hidden).length;
      count.textContent = `${seen} of ${every.length} rows`;
      reset.hidden = !parts.length && !on.length;
    };
    words.addEventListener("input", apply);
    bar.append(words, ...groups.flat(), reset, count);
    table.before(bar);
    apply();
  });

  // On paper evidence is open, as far as ten pages have room; afterwards it is as the reader had it.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open], .screen)")];
    folded.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((one) => { one.open = false; }));

  // What a link leads to is opened.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target?.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
