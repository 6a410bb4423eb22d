// The events of a session, one step at a time. Painted here; the server hears of it when it rests.

const EDGE_ROWS = 150;
const SMALL_PX = 800;
const NAMED_AT_ONCE = 120, NAMED_MS = 10000;
const SEQ = 0, TIME = 1, KIND = 2, AGENT = 3, WHAT = 4, DELTA = 5, HANDOFF = 6, FREE = 7, OPEN = 8,
  SPENT = 9, PROBLEM = 10;

export default function (component) {
  const { parentElement, setStateValue } = component;
  const root = parentElement.querySelector('#stepper');
  const kept = memory(root);
  const data = received(component, kept);
  const options = listeners(kept);
  const parts = {};
  for (const id of ['where', 'what', 'pool', 'log', 'rows', 'sum']) {
    parts[id] = root.querySelector(`#${id}`);
  }
  const lines = window.innerHeight < SMALL_PX ? data.lines - 2 : data.lines;
  root.style.setProperty('--lines', lines);
  root.style.setProperty('--problem', data.problem_colors[isDark(root) ? 1 : 0]);
  const other = kept.scope !== data.scope;
  const jumped = other || kept.nonce !== data.nonce;
  Object.assign(kept, {
    scope: data.scope, nonce: data.nonce, rows: data.rows, total: data.total, first: data.first,
    problems: data.problems, handoffs: data.handoffs, pool: data.pool, lines,
    missing: data.missing, asking: false, setStateValue,
  });
  backLeavesThePage();
  if (jumped) {
    kept.from = undefined;
    forget(kept);
    kept.wanted = null;
    kept.seq = data.seq;
    kept.handoff = data.handoff;
    kept.moved = !other;
    if (kept.moved) nameInAddress(kept);
    else keepPlace(kept); // not where the reader stood when this session was open before
  }
  paint(kept, parts);
  // Keys went on while events were on their way: what is wanted now may lie beyond these.
  if (kept.wanted && (rowAt(kept, kept.wanted) || kept.asked !== kept.wanted)) {
    go(kept, parts, kept.wanted);
  }

  const act = (name) => move(kept, parts, name);
  for (const button of root.querySelectorAll('button[data-move]')) {
    button.addEventListener('click', () => act(button.dataset.move), options);
  }
  parts.log.addEventListener('click', (event) => {
    const row = event.target.closest('[data-seq]');
    if (row) go(kept, parts, Number(row.dataset.seq));
  }, options);
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event) || document.querySelector('[role="dialog"]')) return;
    const inLog = event.composedPath().includes(root);
    const name = KEYS[event.key] ?? (inLog ? KEYS_IN_LOG[event.key] : undefined);
    if (!name || (!inLog && isElsewhere(event))) return;
    event.preventDefault();
    event.stopPropagation();
    act(name);
  }, options);
  onCursor(options, kept.scope, (at) => {
    if (at.from === 'stepper') return;
    if (at.from === 'chart') go(kept, parts, at.seq);
    else {
      kept.handoff = at.handoff;
      nameInAddress(kept);
      paint(kept, parts);
    }
  });
  sayBeforeOthers(kept, root, options);
  return whenGone(kept, options, () => {
    clearTimeout(kept.naming);
    clearTimeout(kept.sayingAgain);
  });
}

const KEYS = {
  ArrowRight: 'next', ArrowLeft: 'previous', n: 'next-problem', p: 'previous-problem',
  ']': 'next-handoff', '[': 'previous-handoff', Escape: 'end',
};
const KEYS_IN_LOG = {
  ArrowDown: 'next', ArrowUp: 'previous', PageDown: 'page-down', PageUp: 'page-up',
  Home: 'first', End: 'last',
};

// Tabs and radio buttons of the page have their own use for the arrow keys.
function isElsewhere(event) {
  return event.key.startsWith('Arrow')
    && event.composedPath().some((node) => node instanceof HTMLElement
      && /^(tab|tablist|radio|radiogroup|slider|listbox|combobox|menu|menuitem)$/
        .test(node.getAttribute('role') ?? ''));
}

function rowAt(kept, seq) {
  return kept.rows[seq - kept.first];
}

// Where the reader is; with no step taken yet, the end.
function here(kept) {
  return kept.seq ?? kept.total;
}

// A key goes on from the event that is wanted, be it still on its way: no key is lost.
function move(kept, parts, name) {
  const from = kept.wanted ?? kept.seq;
  const at = from ?? kept.total;
  const found = {
    next: from === null || from === undefined ? null : at + 1,
    previous: at - 1,
    'page-down': at + kept.lines,
    'page-up': at - kept.lines,
    first: 1,
    last: kept.total,
    'next-problem': after(kept.problems, from ?? 0),
    'previous-problem': before(kept.problems, at),
    'next-handoff': after(kept.handoffs, from ?? 0),
    'previous-handoff': before(kept.handoffs, at),
  };
  if (name === 'end') leave(kept, parts);
  else if (name === 'next' && found.next === null) go(kept, parts, 1);
  else if (found[name]) go(kept, parts, Math.max(1, Math.min(kept.total, found[name])));
}

const after = (seqs, at) => seqs.find((seq) => seq > at);
const before = (seqs, at) => seqs.findLast((seq) => seq < at);

function go(kept, parts, seq) {
  if (!kept.total || (seq === kept.seq && !kept.wanted)) return;
  const row = rowAt(kept, seq);
  if (!row) {
    kept.wanted = seq;
    ask(kept, seq);
    return;
  }
  kept.wanted = null;
  kept.seq = seq;
  kept.moved = true;
  if (row[HANDOFF]) kept.handoff = row[HANDOFF];
  paint(kept, parts);
  tell(kept);
  const last = kept.first + kept.rows.length - 1;
  if ((seq - kept.first < EDGE_ROWS && kept.first > 1)
    || (last - seq < EDGE_ROWS && last < kept.total)) ask(kept, seq);
}

function leave(kept, parts) {
  kept.wanted = null;
  if (kept.seq === null) return;
  kept.seq = null;
  kept.moved = true;
  paint(kept, parts);
  tell(kept);
}

// The page and its address hear at once, the server when the keys rest.
function tell(kept) {
  nameInAddress(kept);
  announce({ scope: kept.scope, seq: kept.seq, handoff: kept.handoff, from: 'stepper' });
  sayAtRest(kept, () => {
    kept.setStateValue('cursor', { seq: kept.seq, handoff: kept.handoff, scope: kept.scope });
  });
}

// More events around a place, once at a time.
function ask(kept, seq) {
  if (kept.asking) return;
  kept.asking = true;
  sayUntilHeard(kept, (tries) => {
    kept.asked = kept.wanted ?? seq;
    const { scope, nonce } = kept;
    kept.setStateValue('window', { seq: kept.asked, scope, nonce, tries });
  }, () => !kept.asking && !kept.wanted);
}

function paint(kept, parts) {
  const row = rowAt(kept, here(kept));
  const atEnd = kept.seq === null || kept.seq === undefined;
  parts.where.textContent = !kept.total ? 'No event yet'
    : atEnd ? `The end · ${count(kept.total)} events`
      : `Event ${count(kept.seq)} of ${count(kept.total)}`;
  parts.what.textContent = kept.missing && !kept.moved ? kept.missing
    : row && !atEnd ? `${row[TIME]} s · ${row[KIND]}` : '';
  paintPool(kept, parts, row);
  paintRows(kept, parts);
}

function paintPool(kept, parts, row) {
  if (!row || row[FREE] === null) {
    parts.pool.textContent = '';
    parts.sum.textContent = '';
    return;
  }
  const total = row[FREE] + row[OPEN] + row[SPENT];
  parts.pool.textContent = `free ${count(row[FREE])} + reserved ${count(row[OPEN])} + spent ${
    count(row[SPENT])} = ${count(total)}`;
  parts.sum.textContent = kept.pool && total !== kept.pool ? `✕ pool was ${count(kept.pool)}` : '✓';
  parts.sum.className = kept.pool && total !== kept.pool ? 'wrong' : '';
}

function paintRows(kept, parts) {
  const at = here(kept);
  const highest = Math.max(kept.first, kept.total - kept.lines + 1);
  // The list stays where it is until the reader leaves it.
  if (kept.from === undefined || at < kept.from || at >= kept.from + kept.lines) {
    const jump = kept.from === undefined || Math.abs(at - kept.from) > 2 * kept.lines;
    if (jump) kept.from = at - (kept.lines >> 1);
    else kept.from = at < kept.from ? at - 1 : at - kept.lines + 2;
  }
  kept.from = Math.max(kept.first, Math.min(kept.from, highest));
  const wanted = [];
  for (let seq = kept.from; seq < kept.from + kept.lines; seq += 1) {
    const row = rowAt(kept, seq);
    if (!row) continue;
    const current = seq === kept.seq;
    const later = Boolean(kept.seq) && seq > kept.seq;
    const other = Boolean(kept.seq && kept.handoff) && row[HANDOFF] !== kept.handoff;
    const signature = [kept.scope, kept.total, current, later, other, row[WHAT]].join();
    wanted.push([seq, signature, () => line(kept, row, { current, later, other })]);
  }
  patch(parts.rows, wanted);
  if (kept.seq) parts.log.setAttribute('aria-activedescendant', `event-${kept.seq}`);
  else parts.log.removeAttribute('aria-activedescendant');
}

function line(kept, row, { current, later, other }) {
  const element = make('div', `event${row[PROBLEM] ? ' problem' : ''}${later ? ' later' : ''}${
    other ? ' other' : ''}`);
  element.id = `event-${row[SEQ]}`;
  element.dataset.seq = row[SEQ];
  element.setAttribute('role', 'option');
  element.setAttribute('aria-selected', String(current));
  element.setAttribute('aria-posinset', row[SEQ]);
  element.setAttribute('aria-setsize', kept.total);
  const what = make('span', 'what');
  what.append(make('span', 'kind', row[KIND]), make('span', 'text', row[WHAT]));
  element.append(make('span', 'number', count(row[SEQ])), make('span', 'number', row[TIME]),
    make('span', 'agent text', row[AGENT]), what, make('span', 'number', row[DELTA]));
  element.title = `${row[KIND]}: ${row[WHAT]}`;
  element.setAttribute('aria-label', [`Event ${row[SEQ]}`, row[AGENT], element.title, row[DELTA],
    row[PROBLEM] ? 'problem' : ''].filter(Boolean).join(', '));
  return element;
}

// The place stands in the address as soon as it is shown, in the entry of the history that is there.
// Browsers stop listening (Chromium after 200 in ten seconds): while a key is held down, the address
// waits until it rests.
function nameInAddress(kept) {
  keepPlace(kept);
  const now = performance.now();
  kept.named = (kept.named ?? []).filter((at) => now - at < NAMED_MS);
  clearTimeout(kept.naming);
  if (kept.named.length < NAMED_AT_ONCE) {
    kept.named.push(now);
    writeAddress();
  } else kept.naming = setTimeout(writeAddress, REST_MS);
}

function keepPlace(kept) {
  window.handoffPlace = { session: kept.scope, seq: kept.seq, handoff: kept.handoff };
}

function writeAddress() {
  const url = placed(new URL(document.location.href));
  if (url.href === document.location.href) return;
  try {
    window.history.replaceState(window.history.state, '', url);
  } catch {
    // Safari refuses with an error; the next step writes it.
  }
}

function placed(url) {
  const place = window.handoffPlace;
  if (!place || url.searchParams.get('session') !== place.session) return url;
  if (place.seq) url.searchParams.set('seq', place.seq);
  else url.searchParams.delete('seq');
  if (place.handoff) url.searchParams.set('handoff', place.handoff);
  return url;
}

// Streamlit makes an entry in the browser's history for every change of the address, and hears of
// a step later than the page: within one session its entries become the one that is there.
function backLeavesThePage() {
  if (window.handoffPush) return;
  const push = window.handoffPush = window.history.pushState.bind(window.history);
  const session = (url) => url.searchParams.get('session');
  window.history.pushState = (state, title, address) => {
    const here = new URL(document.location.href);
    const next = new URL(address ?? here.href, here);
    if (next.pathname === here.pathname && session(next) && session(next) === session(here)) {
      window.history.replaceState(state, title, placed(next));
    } else push(state, title, address);
  };
}
