// Names what the theme's script adds without a name, lets the keyboard reach tables that scroll, and searches the first page.
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
  addEventListener("DOMContentLoaded", () => {
    mend();
    const filter = document.getElementById("names-filter");
    filter?.addEventListener("input", () => {
      document.querySelectorAll(".names a").forEach((link) => {
        link.hidden = !link.textContent.toLowerCase().includes(filter.value.toLowerCase());
      });
    });
  });
  new MutationObserver(mend).observe(document.documentElement, { childList: true, subtree: true });
})();
