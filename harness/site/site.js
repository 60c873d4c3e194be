// Names what the theme's script adds without a name, lets the keyboard reach tables that scroll, and searches the first page.
"use strict";

// The theme fetches the index of its search, 1.4 MB, with every page; here it waits until somebody searches.
{
  const { open, send } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function openLater(method, address, ...more) {
    this.isIndex = String(address).endsWith("search/search_index.json");
    open.call(this, method, address, ...more);
  };
  XMLHttpRequest.prototype.send = function sendLater(...body) {
    if (!this.isIndex) {
      send.apply(this, body);
      return;
    }
    const begin = ({ target }) => {
      if (target.matches(".md-search__input")) {
        removeEventListener("focusin", begin);
        send.apply(this, body);
      }
    };
    addEventListener("focusin", begin);
  };
}

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
