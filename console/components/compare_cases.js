// The cases of a comparison: a row a case; a click, Enter or an arrow key chooses one.

export default function (component) {
  const { parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector('#cases');
  const kept = memory(root);
  const data = received(component, kept);
  const options = listeners(kept);
  const dark = isDark(root);
  const heads = root.querySelectorAll('th .name');
  data.names.forEach((name, place) => { heads[place].textContent = name; });
  const written = JSON.stringify([data.rows, dark]);
  if (kept.written !== written) {
    kept.written = written;
    root.querySelector('tbody').replaceChildren(
      ...data.rows.map((row) => rowOf(row, data.palette, dark)),
    );
  }
  if (kept.told !== data.selected) kept.chosen = kept.told = data.selected;
  mark(root, kept.chosen);
  const choose = (id) => {
    kept.chosen = id;
    mark(root, id);
    setTriggerValue('chosen', id);
  };
  root.addEventListener('click', (event) => {
    const row = event.target.closest('tr[data-id]');
    if (row) choose(row.dataset.id);
  }, options);
  root.addEventListener('keydown', (event) => {
    const rows = [...root.querySelectorAll('tr[data-id]')];
    const at = rows.indexOf(event.target.closest('tr[data-id]'));
    if (at < 0) return;
    const places = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 };
    const next = event.key === 'Enter' || event.key === ' ' ? at : places[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const row = rows[Math.max(0, Math.min(rows.length - 1, next))];
    row.focus();
    choose(row.dataset.id);
  }, options);
  return whenGone(kept, options);
}

// One row can be reached with Tab; arrows go on from there.
function mark(root, chosen) {
  const rows = [...root.querySelectorAll('tr[data-id]')];
  const there = rows.find((row) => row.dataset.id === chosen) ?? rows[0];
  for (const row of rows) {
    row.setAttribute('aria-selected', String(row.dataset.id === chosen));
    row.tabIndex = row === there ? 0 : -1;
  }
}

function rowOf(row, palette, dark) {
  const colorOf = (word) => (palette[word] ?? palette.unknown)[dark ? 2 : 1];
  const element = make('tr');
  element.dataset.id = row.id;
  const change = make('span', 'status');
  change.style.setProperty('--c', colorOf(row.tone));
  change.append(make('span', 'glyph', row.sign), make('span', '', row.change));
  const asked = make('div', 'asked text', row.input);
  asked.title = row.input_full;
  const said = make('div', 'said');
  said.append(asked);
  if (row.note) said.append(make('div', 'note text', row.note));
  const cells = [change, said, named(row.expected),
    went(row.a, colorOf), went(row.b, colorOf)];
  const names = ['change', 'said-cell', 'place', 'place', 'place'];
  cells.forEach((content, place) => {
    const cell = make('td', names[place]);
    cell.append(content);
    element.append(cell);
  });
  cells[2].title = row.expected;
  return element;
}

// Where a version sent it: sign, name and colour say whether that was right.
function went(place, colorOf) {
  const element = make('span', 'status went');
  element.style.setProperty('--c', colorOf(place.tone));
  element.title = place.title;
  element.append(make('span', 'glyph', place.sign), named(place.name));
  return element;
}

// A name of several words may go on in the next line between them, not within one.
function named(name) {
  const element = make('span', 'text');
  for (const part of name.split(/(?<=[_.-])/)) element.append(part, document.createElement('wbr'));
  return element;
}
