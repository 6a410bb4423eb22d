// The handoff tree as an outline: only the rows in sight exist, so 5,000 handoffs cost what 20 do.

const ROW_PX = 26;
const SPARE_ROWS = 8;

export default function (component) {
  const { parentElement, setStateValue } = component;
  const root = parentElement.querySelector('#outline');
  const kept = memory(root);
  const data = received(component, kept);
  const options = listeners(kept);
  const parts = {
    scroll: root.querySelector('#scroll'),
    space: root.querySelector('#space'),
    rows: root.querySelector('#rows'),
    search: root.querySelector('#search'),
    note: root.querySelector('#note'),
  };
  root.style.setProperty('--height', data.height);
  kept.palette = data.palette;
  kept.last = data.last;
  kept.dark = isDark(root);
  kept.top ??= 0;
  if (kept.revision !== data.revision) {
    const other = !kept.rows || kept.scope !== data.scope;
    kept.revision = data.revision;
    kept.scope = data.scope;
    adopt(kept, data, other);
    parts.search.hidden = data.rows.length <= 40;
    if (other) {
      parts.search.value = '';
      kept.top = 0;
    }
  }
  if (!kept.timer) {
    kept.selected = data.selected;
    kept.seq = data.seq;
  }
  reveal(kept, kept.selected);
  list(kept, parts);
  draw(kept, parts);
  show(kept, parts, kept.selected);

  const select = (id, delayMs) => {
    if (!id || id === kept.selected) return;
    kept.selected = id;
    show(kept, parts, id);
    draw(kept, parts);
    announce({ scope: kept.scope, seq: kept.seq, handoff: id, from: 'tree' });
    sayAtRest(kept, () => setStateValue('selected', id), delayMs);
  };
  const toggle = (index) => {
    if (kept.closed.has(index)) kept.closed.delete(index);
    else kept.closed.add(index);
    list(kept, parts);
    draw(kept, parts);
  };

  parts.scroll.addEventListener('scroll', () => {
    kept.top = parts.scroll.scrollTop;
    draw(kept, parts);
  }, options);
  parts.rows.addEventListener('click', (event) => {
    const row = event.target.closest('[data-index]');
    if (!row) return;
    const index = Number(row.dataset.index);
    if (event.target.closest('.twist') && kept.rows[index].below) toggle(index);
    else select(kept.rows[index].id, 0);
  }, options);
  parts.search.addEventListener('input', () => {
    list(kept, parts);
    parts.scroll.scrollTop = kept.top = 0;
    draw(kept, parts);
  }, options);
  // After a click the arrow keys left and right belong to the stepper; after Tab, to the tree.
  parts.scroll.addEventListener('pointerdown', () => { kept.byPointer = true; }, options);
  parts.scroll.addEventListener('blur', () => { kept.byPointer = false; }, options);
  parts.scroll.addEventListener('keydown', (event) => {
    if (onKey(kept, event, select, toggle)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }, options);
  onCursor(options, kept.scope, (at) => {
    if (at.from === 'tree') return;
    kept.seq = at.seq;
    if (at.handoff && at.handoff !== kept.selected) {
      kept.selected = at.handoff;
      if (reveal(kept, at.handoff)) list(kept, parts);
      show(kept, parts, at.handoff);
    }
    draw(kept, parts);
  });
  // Asking for a height in the middle of a step would lay out the whole page at once.
  kept.resized?.disconnect();
  kept.resized = new ResizeObserver(([entry]) => {
    const known = kept.height;
    kept.height = entry.contentRect.height;
    if (!known) show(kept, parts, kept.selected);
    draw(kept, parts);
  });
  kept.resized.observe(parts.scroll);
  sayBeforeOthers(kept, parts.scroll, options);
  return whenGone(kept, options, () => kept.resized.disconnect());
}

function adopt(kept, data, other) {
  const known = new Set(other ? [] : kept.rows.map((row) => row.id));
  const folded = new Set(other ? [] : [...kept.closed].map((index) => kept.rows[index].id));
  const path = [];
  kept.rows = data.rows.map((fields, index) => {
    const [id, depth, agent, task, outcome, tokens, start, end, asked, opened, closed, waits, note,
      endNote, mark, charges, tooltip, endTooltip] = fields;
    path.length = depth;
    const parent = depth ? path[depth - 1] : -1;
    path[depth] = index;
    return { id, depth, agent, task, outcome, tokens, start, end, asked, opened, closed, waits, note,
      endNote, mark, charges, tooltip, endTooltip, parent, below: 0, place: 0, siblings: 0 };
  });
  kept.byId = new Map(kept.rows.map((row, index) => [row.id, index]));
  const children = new Map();
  for (const row of kept.rows) {
    row.place = (children.get(row.parent) ?? 0) + 1;
    children.set(row.parent, row.place);
  }
  for (let index = kept.rows.length - 1; index >= 0; index -= 1) {
    const row = kept.rows[index];
    row.siblings = children.get(row.parent);
    if (row.parent >= 0) kept.rows[row.parent].below += 1 + row.below;
  }
  kept.closed = new Set();
  kept.rows.forEach((row, index) => {
    if (!row.below) return;
    if (known.has(row.id) ? folded.has(row.id) : row.depth >= data.open_depth) {
      kept.closed.add(index);
    }
  });
}

// Opens the path to a handoff; says whether anything changed.
function reveal(kept, id) {
  let index = kept.byId.get(id);
  let changed = false;
  while (index !== undefined && index >= 0) {
    index = kept.rows[index].parent;
    if (kept.closed.delete(index)) changed = true;
  }
  return changed;
}

function list(kept, parts) {
  const wanted = parts.search.value.trim().toLowerCase();
  const shown = [];
  if (wanted) {
    const keep = new Set();
    kept.rows.forEach((row, index) => {
      if (!`${row.agent} ${row.task} ${row.id} ${row.outcome}`.toLowerCase().includes(wanted)) return;
      for (let up = index; up >= 0 && !keep.has(up); up = kept.rows[up].parent) keep.add(up);
    });
    for (let index = 0; index < kept.rows.length; index += 1) if (keep.has(index)) shown.push(index);
  } else {
    for (let index = 0; index < kept.rows.length;) {
      shown.push(index);
      index += 1 + (kept.closed.has(index) ? kept.rows[index].below : 0);
    }
  }
  kept.shown = shown;
  parts.space.style.height = `${shown.length * ROW_PX}px`;
  const rows = Math.max(shown.length, wanted ? kept.rows.length : 1);
  parts.scroll.style.height = `min(${rows * ROW_PX}px, var(--height))`;
  parts.note.textContent = wanted && !shown.length ? 'No handoff matches.' : '';
}

function show(kept, parts, id) {
  const place = kept.shown.indexOf(kept.byId.get(id));
  if (place < 0) return;
  const top = place * ROW_PX;
  const height = kept.height ?? 0;
  if (height && top < kept.top) kept.top = top;
  else if (height && top + ROW_PX > kept.top + height) kept.top = top + ROW_PX - height;
  else return;
  parts.scroll.scrollTop = kept.top;
}

// Whether the reader sees a handoff as it came out: it is over, or the record is.
function isOver(row, seq, last) {
  return seq === null || seq === undefined || seq >= (row.closed || last);
}

// What a handoff was at an event; null: it had not been asked for.
function outcomeAt(row, seq, last) {
  if (isOver(row, seq, last)) return row.outcome;
  if (seq < row.asked) return null;
  if (row.waits.some(([from, to]) => seq >= from && (!to || seq < to))) return 'waiting';
  return row.opened && seq >= row.opened ? 'running' : 'asked for';
}

function tokensAt(row, seq) {
  if (seq === null || seq === undefined) return row.tokens;
  let spent = 0;
  for (const [at, total] of row.charges) {
    if (at > seq) break;
    spent = total;
  }
  return spent;
}

function draw(kept, parts) {
  const first = Math.max(0, Math.floor(kept.top / ROW_PX) - SPARE_ROWS);
  const inSight = Math.ceil((kept.height ?? 0) / ROW_PX) + 2 * SPARE_ROWS;
  patch(parts.rows, kept.shown.slice(first, first + inSight).map((index) => {
    const row = kept.rows[index];
    const outcome = outcomeAt(row, kept.seq, kept.last);
    const tokens = tokensAt(row, kept.seq);
    const over = isOver(row, kept.seq, kept.last);
    const signature = [kept.revision, kept.dark, outcome, over, tokens, row.id === kept.selected,
      kept.closed.has(index)].join();
    return [index, signature, () => rowOf(kept, index, outcome, tokens)];
  }));
  const top = `translateY(${first * ROW_PX}px)`;
  if (parts.rows.style.transform !== top) parts.rows.style.transform = top;
  const selected = kept.byId.get(kept.selected);
  if (selected === undefined) parts.scroll.removeAttribute('aria-activedescendant');
  else parts.scroll.setAttribute('aria-activedescendant', `row-${selected}`);
}

function rowOf(kept, index, outcome, tokens) {
  const row = kept.rows[index];
  const [glyph, light, dark, meaning] = kept.palette[outcome] ?? kept.palette.unknown;
  const over = isOver(row, kept.seq, kept.last);
  const element = make('div', `row ${row.mark}${outcome === null ? ' later' : ''}`);
  const word = outcome ?? 'not yet';
  element.id = `row-${index}`;
  element.dataset.index = index;
  element.setAttribute('role', 'treeitem');
  element.setAttribute('aria-level', row.depth + 1);
  element.setAttribute('aria-posinset', row.place);
  element.setAttribute('aria-setsize', row.siblings);
  element.setAttribute('aria-selected', String(row.id === kept.selected));
  if (row.below) element.setAttribute('aria-expanded', String(!kept.closed.has(index)));
  element.setAttribute('aria-label', [row.agent, word, row.note, over ? row.endNote : '',
    `${count(tokens)} tokens`, row.task].filter(Boolean).join(', '));
  element.style.setProperty('--c', kept.dark ? dark : light);
  element.append(nameOf(kept, row, index, over));
  const status = make('span', 'status');
  status.title = outcome === null ? 'Not asked for yet at this event.' : meaning;
  status.append(make('span', 'glyph', outcome === null ? '' : glyph), make('span', '', word));
  element.append(status, make('span', 'tokens', tokens ? count(tokens) : '–'));
  const line = make('span', 'line');
  const bar = make('span', 'bar');
  bar.style.left = `${row.start * 100}%`;
  bar.style.width = `${Math.max(0, row.end - row.start) * 100}%`;
  line.append(bar);
  element.append(line);
  return element;
}

function nameOf(kept, row, index, over) {
  const name = make('span', 'name');
  name.style.paddingInlineStart = `${Math.min(row.depth, 12) * 16}px`;
  const twist = make('span', 'twist', row.below ? (kept.closed.has(index) ? '▶\uFE0E' : '▼\uFE0E') : '');
  name.append(twist, make('b', 'text', row.agent));
  const note = [row.note, over ? row.endNote : ''].filter(Boolean).join(' · ');
  if (note) name.append(make('span', 'note text', note));
  if (row.below && kept.closed.has(index)) name.append(make('span', 'below', `+${count(row.below)}`));
  name.append(make('i', 'text', row.task));
  name.title = [row.task, row.tooltip, over ? row.endTooltip : ''].filter(Boolean).join('\n');
  return name;
}

function onKey(kept, event, select, toggle) {
  const index = kept.byId.get(kept.selected);
  const place = kept.shown.indexOf(index);
  const at = (next) => kept.rows[kept.shown[Math.max(0, Math.min(kept.shown.length - 1, next))]];
  const moves = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: kept.shown.length - 1 };
  if (event.key in moves) {
    if (kept.shown.length) select(at(moves[event.key]).id, REST_MS);
    return true;
  }
  const row = kept.rows[index];
  if (!row) return false;
  if ((event.key === 'Enter' || event.key === ' ') && row.below) {
    toggle(index);
    return true;
  }
  if (kept.byPointer) return false;
  if (event.key === 'ArrowRight') {
    if (row.below && kept.closed.has(index)) toggle(index);
    else if (row.below) select(at(place + 1).id, REST_MS);
    return true;
  }
  if (event.key === 'ArrowLeft') {
    if (row.below && !kept.closed.has(index)) toggle(index);
    else if (row.parent >= 0) select(kept.rows[row.parent].id, REST_MS);
    return true;
  }
  return false;
}
