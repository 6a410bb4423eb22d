// The inbox: a row a session; a click, or Enter, opens it.

const AHEAD_MS = 800;

export default function (component) {
  const { parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector('#list');
  const kept = memory(root);
  const data = received(component, kept);
  const options = listeners(kept);
  const dark = isDark(root);
  const written = JSON.stringify([data.rows, dark]);
  if (kept.written !== written) {
    kept.written = written;
    root.querySelector('tbody').replaceChildren(
      ...data.rows.map((row) => rowOf(row, data.palette, dark)),
    );
  }
  const open = (id) => {
    setTriggerValue('opened', id);
    isLeft();
  };
  root.addEventListener('click', (event) => {
    const reruns = event.target.closest('button[data-reruns]');
    if (reruns) {
      setTriggerValue('unfolded', reruns.dataset.reruns);
      return;
    }
    const row = event.target.closest('tr[data-id]');
    if (!row) return;
    const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
    if (plain) {
      event.preventDefault();
      open(row.dataset.id);
    }
  }, options);
  root.addEventListener('keydown', (event) => {
    const rows = [...root.querySelectorAll('tr[data-id]')];
    const at = rows.indexOf(event.target.closest('tr[data-id]'));
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (next === undefined || at < 0) return;
    event.preventDefault();
    rows[Math.max(0, Math.min(rows.length - 1, next))].querySelector('a').focus();
  }, options);
  if (!kept.ahead) kept.ahead = setTimeout(() => ahead(data.next), AHEAD_MS);
  return whenGone(kept, options);
}

// What the page behind a row needs comes while the reader chooses one.
function ahead(scripts) {
  for (const address of scripts) {
    const link = make('link');
    link.rel = 'preload';
    link.as = 'script';
    link.crossOrigin = 'anonymous';
    link.href = address;
    document.head.append(link);
  }
}

function rowOf(row, palette, dark) {
  const [glyph, light, darker, meaning] = palette[row.outcome] ?? palette.unknown;
  const element = make('tr', row.is_rerun ? 'rerun' : row.fault ? 'failed' : '');
  element.dataset.id = row.id;
  element.style.setProperty('--c', dark ? darker : light);
  // What came out well and is at fault all the same is marked like an error.
  const marked = /^(ok|not_found)$/.test(row.outcome) ? palette.error : palette[row.outcome];
  element.style.setProperty('--fault', (marked ?? palette.unknown)[dark ? 2 : 1]);
  const status = make('span', 'status');
  status.title = meaning;
  status.append(make('span', 'glyph', glyph), make('span', '', row.outcome));
  const link = make('a', 'text', row.verdict);
  link.href = row.link;
  link.target = '_self';
  link.setAttribute('aria-label', `${row.outcome}: ${row.verdict} Asked: ${row.asked}`);
  const said = make('div', 'said');
  said.append(link);
  if (row.asked) said.append(make('div', 'asked text', row.asked));
  if (row.reruns) {
    const reruns = make('button', 'reruns', `${row.unfolded ? '▾' : '▸'} ${row.reruns}`);
    reruns.dataset.reruns = row.id;
    reruns.setAttribute('aria-expanded', String(row.unfolded));
    reruns.title = 'Show the sessions that run a part of this one again';
    said.append(reruns);
  }
  said.title = row.asked;
  const cells = [status, said, make('span', 'text', row.agent), make('span', '', row.depth),
    make('span', '', row.tokens), make('span', '', row.age)];
  const names = ['outcome', 'said-cell', 'agent', 'number', 'number tokens', 'number age'];
  cells.forEach((content, place) => {
    const cell = make('td', names[place]);
    cell.append(content);
    element.append(cell);
  });
  cells[2].title = row.agent;
  cells[4].title = row.tokens_title;
  cells[5].title = row.at;
  return element;
}
