// Shared by all components: it is put in front of each of them.

const CURSOR_EVENT = 'handoff-cursor';

// Where one page is left for another, Streamlit writes two entries into the history: the other page's
// query under this page's path, then the page itself. The way back would stop at the first, which is
// the address of nothing: the second takes its place. After a link the first is not written at all (it
// can be the word of the page that is left, too), and what a page says of its own accord makes none.
const SAME_MOVE_MS = 3000;

function oneEntryForAPage() {
  if (history.handoffPush) return;
  const push = history.handoffPush = history.pushState;
  let here = '', at = -Infinity, came = -Infinity, touched = 0;
  for (const kind of ['pointerdown', 'keydown']) {
    window.addEventListener(kind, () => { touched = performance.now(); }, true);
  }
  history.pushState = function (state, title, url) {
    const to = new URL(url ?? location.href, location.href), from = new URL(location.href);
    const onlyQuery = to.pathname === from.pathname && to.search !== from.search;
    if (onlyQuery && isLeaving()) return;
    const isSecond = here === location.href && performance.now() - at < SAME_MOVE_MS
      && to.search === from.search && to.pathname !== from.pathname;
    const isOwn = onlyQuery && touched < came;
    (isSecond || isOwn ? history.replaceState : push).call(history, state, title, url);
    here = onlyQuery && !isOwn ? location.href : '';
    at = performance.now();
    if (to.pathname !== from.pathname) came = at;
  };
}
oneEntryForAPage();

// Streamlit runs the page that spoke last. Who took a link, or went back, has left: what they click
// before the other page is there would bring this one back, without the address that it needs.
// Links of the page itself are taken all the same: of two, the last one counts.
const LEAVES_MS = 5000, BACK_MS = 1000;

function nothingFromAPageThatWasLeft() {
  if (window.handoffLeft) return;
  const left = window.handoffLeft = { from: '', until: 0 };
  // Whoever reloads a page that is slow to leave wants to be heard.
  const isOfTheBrowser = (event) => event.type === 'keydown'
    && (event.ctrlKey || event.metaKey || event.altKey || /^F\d/.test(event.key));
  const hold = (event) => {
    if (!isLeaving() || isOfThePage(linkOf(event)) || isOfTheBrowser(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const kind of ['pointerdown', 'mousedown', 'click', 'keydown']) {
    window.addEventListener(kind, hold, true);
  }
  window.addEventListener('click', (event) => {
    const link = linkOf(event);
    if (!opensHere(event, link) || !isOfThePage(link)) return;
    if (link.origin === location.origin && link.pathname !== location.pathname) isLeft();
  }, true);
  window.addEventListener('popstate', () => {
    isLeft(BACK_MS);
    const app = document.querySelector('[data-testid=stApp]');
    const runs = new MutationObserver(() => {
      if (app.dataset.testScriptState !== 'running') return;
      left.until = 0;
      runs.disconnect();
    });
    if (app) runs.observe(app, { attributeFilter: ['data-test-script-state'] });
  });
}
nothingFromAPageThatWasLeft();

function linkOf(event) {
  return event.composedPath().find((node) => node instanceof HTMLAnchorElement && node.href);
}

// Links of components are not: they load a page from nothing.
function isOfThePage(link) {
  return link?.getRootNode() === document;
}

function opensHere(event, link) {
  const elsewhere = event.button || event.ctrlKey || event.metaKey || event.shiftKey;
  return link && !elsewhere && link.target !== '_blank' && !link.hasAttribute('download');
}

function isLeaving() {
  const left = window.handoffLeft;
  return performance.now() < left.until && location.pathname === left.from;
}

// The reader leaves this page for another one.
function isLeft(ms = LEAVES_MS) {
  Object.assign(window.handoffLeft, { from: location.pathname, until: performance.now() + ms });
}

// Text only: recorded text never becomes markup.
function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined && text !== null) element.textContent = text;
  return element;
}

// What Python sent: JSON as bytes (`wire`), read anew only when other bytes came.
function received(component, kept) {
  if (kept.bytes !== component.data) {
    kept.bytes = component.data;
    kept.received = JSON.parse(new TextDecoder().decode(component.data));
  }
  return kept.received;
}

// What a component keeps between two calls; the default export runs again on every change.
function memory(element) {
  if (!element.__memory) element.__memory = {};
  return element.__memory;
}

// What a component says can be overtaken by a run of the page and get lost: it is said again, each
// time as something new (`tries`), for the server hears of changes only.
const SAY_AGAIN_MS = 1500, SAID_AT_MOST = 20;

function sayUntilHeard(kept, say, isHeard, left = SAID_AT_MOST) {
  clearTimeout(kept.sayingAgain);
  kept.tries = (kept.tries ?? 0) + 1;
  say(kept.tries);
  kept.sayingAgain = setTimeout(() => {
    if (left > 1 && !isHeard()) sayUntilHeard(kept, say, isHeard, left - 1);
  }, SAY_AGAIN_MS);
}

// What is said when the reader rests is not said after they took a link: Streamlit runs the page that
// spoke last, and a word of the page they leave would bring them back, or leave nothing at all. It is
// said before they do anything else.
const REST_MS = 120, LINK_MS = 1500;

function sayAtRest(kept, say, ms = REST_MS) {
  clearTimeout(kept.timer);
  kept.unsaid = say;
  kept.timer = setTimeout(() => sayNow(kept), ms);
}

function sayNow(kept) {
  const say = kept.unsaid;
  forget(kept);
  say?.();
}

function forget(kept) {
  clearTimeout(kept.timer);
  kept.timer = kept.unsaid = null;
}

function sayBeforeOthers(kept, root, options) {
  const first = { capture: true, ...options };
  const leaves = (event) => opensHere(event, linkOf(event));
  document.addEventListener('pointerdown', (event) => {
    if (!kept.unsaid || event.composedPath().includes(root)) return;
    if (leaves(event)) sayAtRest(kept, kept.unsaid, LINK_MS);
    else sayNow(kept);
  }, first);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !leaves(event)) sayNow(kept);
  }, first);
  document.addEventListener('click', (event) => {
    if (leaves(event)) forget(kept);
  }, first);
  window.addEventListener('popstate', () => forget(kept), options);
}

// One set of listeners per component, replaced on every call.
function listeners(kept) {
  kept.listening?.abort();
  kept.listening = new AbortController();
  return { signal: kept.listening.signal };
}

// What a component returns: it is called when the page has no place for it any more. Of two calls that
// waited for the script together, the first one's is called at once, when the second has begun already:
// it leaves the second one's listeners alone.
function whenGone(kept, options, clean) {
  return () => {
    if (kept.listening.signal !== options.signal) return;
    kept.listening.abort();
    forget(kept);
    clean?.();
  };
}

function isDark(element) {
  const color = getComputedStyle(element).getPropertyValue('--st-background-color').trim();
  const hex = /^#([0-9a-f]{6})/i.exec(color);
  if (!hex) return document.documentElement.style.colorScheme === 'dark';
  const value = parseInt(hex[1], 16);
  return 0.299 * (value >> 16) + 0.587 * ((value >> 8) & 255) + 0.114 * (value & 255) < 128;
}

// Where everybody on the page looks: {scope, seq (null: the end), handoff, from}.
function announce(detail) {
  document.dispatchEvent(new CustomEvent(CURSOR_EVENT, { detail }));
}

function onCursor(options, scope, react) {
  document.addEventListener(CURSOR_EVENT, (event) => {
    if (event.detail.scope === scope) react(event.detail);
  }, options);
}

function isTyping(event) {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement
    && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

// One formatter for all: making one anew costs more than a whole row.
const NUMBERS = new Intl.NumberFormat('en-US');
const count = (number) => NUMBERS.format(number);

// Puts elements in place of those that are there, touching only what differs: `wanted` is a list of
// [key, signature, make].
function patch(parent, wanted) {
  const there = new Map([...parent.children].map((child) => [child.__key, child]));
  const elements = wanted.map(([key, signature, build]) => {
    const old = there.get(key);
    if (old && old.__signature === signature) return old;
    const element = build();
    element.__key = key;
    element.__signature = signature;
    return element;
  });
  const same = elements.length === parent.children.length
    && elements.every((element, place) => element.__key === parent.children[place].__key);
  if (!same) {
    parent.replaceChildren(...elements);
    return;
  }
  elements.forEach((element, place) => {
    if (parent.children[place] !== element) parent.children[place].replaceWith(element);
  });
}
