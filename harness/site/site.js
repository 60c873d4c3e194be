// Names what the theme's script adds without a name, and lets the keyboard reach tables that scroll.
"use strict";

(() => {
  const mend = () => {
    document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav, place) => {
      nav.setAttribute("aria-label", `Copy code ${place + 1}`);
    });
    document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((table) => {
      table.tabIndex = 0;
      table.setAttribute("role", "group");
      table.setAttribute("aria-label", "Table");
    });
    document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  };
  addEventListener("DOMContentLoaded", mend);
  new MutationObserver(mend).observe(document.documentElement, { childList: true, subtree: true });
})();
