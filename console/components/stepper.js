// The events of a session, one step at a time. Painted here; the server hears of it when it rests.

const REST_MS = 120;
const EDGE_ROWS = 150;
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
  root.style.setProperty('--lines', data.lines);
  root.style.setProperty('--problem', data.problem_colors[isDark(root) ? 1 : 0]);
  const jumped = kept.scope !== data.scope || kept.nonce !== data.nonce;
  Object.assign(kept, {
    scope: data.scope, nonce: data.nonce, rows: data.rows, total: data.total, first: data.first,
    problems: data.problems, handoffs: data.handoffs, pool: data.pool, lines: data.lines,
    asking: false, setStateValue,
  });
  if (jumped) {
    kept.from = undefined;
    clearTimeout(kept.timer);
    kept.timer = null;
    kept.seq = data.seq;
    kept.handoff = data.handoff;
  }
  if (kept.wanted) {
    const { seq } = kept.wanted;
    kept.wanted = null;
    if (rowAt(kept, seq)) go(kept, parts, seq);
  }
  paint(kept, parts);

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
      paint(kept, parts);
    }
  });
  return () => kept.listening.abort();
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

function move(kept, parts, name) {
  const at = here(kept);
  const found = {
    next: kept.seq === null || kept.seq === undefined ? null : at + 1,
    previous: at - 1,
    'page-down': at + kept.lines,
    'page-up': at - kept.lines,
    first: 1,
    last: kept.total,
    'next-problem': after(kept.problems, kept.seq ?? 0),
    'previous-problem': before(kept.problems, at),
    'next-handoff': after(kept.handoffs, kept.seq ?? 0),
    'previous-handoff': before(kept.handoffs, at),
  };
  if (name === 'end') leave(kept, parts);
  else if (name === 'next' && found.next === null) go(kept, parts, 1);
  else if (found[name]) go(kept, parts, Math.max(1, Math.min(kept.total, found[name])));
}

const after = (seqs, at) => seqs.find((seq) => seq > at);
const before = (seqs, at) => seqs.findLast((seq) => seq < at);

function go(kept, parts, seq) {
  if (!kept.total || seq === kept.seq) return;
  const row = rowAt(kept, seq);
  if (!row) {
    kept.wanted = { seq };
    ask(kept, seq);
    return;
  }
  kept.seq = seq;
  if (row[HANDOFF]) kept.handoff = row[HANDOFF];
  paint(kept, parts);
  tell(kept);
  const last = kept.first + kept.rows.length - 1;
  if ((seq - kept.first < EDGE_ROWS && kept.first > 1)
    || (last - seq < EDGE_ROWS && last < kept.total)) ask(kept, seq);
}

function leave(kept, parts) {
  if (kept.seq === null) return;
  kept.seq = null;
  paint(kept, parts);
  tell(kept);
}

// The page hears at once, the server when the keys rest.
function tell(kept) {
  announce({ scope: kept.scope, seq: kept.seq, handoff: kept.handoff, from: 'stepper' });
  clearTimeout(kept.timer);
  kept.timer = setTimeout(() => {
    kept.timer = null;
    kept.setStateValue('cursor', { seq: kept.seq, handoff: kept.handoff, scope: kept.scope });
  }, REST_MS);
}

// More events around a place, once at a time.
function ask(kept, seq) {
  if (kept.asking) return;
  kept.asking = true;
  kept.setStateValue('window', { seq, scope: kept.scope });
}

function paint(kept, parts) {
  const row = rowAt(kept, here(kept));
  const atEnd = kept.seq === null || kept.seq === undefined;
  parts.where.textContent = !kept.total ? 'No event yet'
    : atEnd ? `The end · ${count(kept.total)} events`
      : `Event ${count(kept.seq)} of ${count(kept.total)}`;
  parts.what.textContent = row && !atEnd ? `${row[TIME]} s · ${row[KIND]}` : '';
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

// What the list keeps in sight: the event the reader stands at; at the end, the last of the handoff.
function focus(kept) {
  if (kept.seq) return kept.seq;
  const last = kept.handoff && kept.rows.findLast((row) => row[HANDOFF] === kept.handoff);
  return last ? last[SEQ] : kept.total;
}

function paintRows(kept, parts) {
  const at = focus(kept);
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
    const other = Boolean(kept.handoff) && row[HANDOFF] !== kept.handoff;
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
